-- Rows of which every fifth carries the mark: written as text, changed by a prepared statement, read back. What is not there where it was written, as
-- changed, ends the run.
function thread_init()
   connection = sysbench.sql.driver():connect()
   count = 0
   change = connection:prepare("UPDATE t SET v = v + 1 WHERE id = ? AND user_id = ?")
   id, user = change:bind_create(sysbench.sql.type.INT), change:bind_create(sysbench.sql.type.INT)
   change:bind_param(id, user)
end

function event()
   count = count + 1
   local number, by = sysbench.tid * 1000000 + count, 1 + count % 12
   if count % 5 == 0 then by = 13 end
   connection:query(string.format("INSERT INTO t (id, user_id, v) VALUES (%d, %d, %d)", number, by, count))
   id:set(number)
   user:set(by)
   change:execute()
   local v = connection:query_row(string.format("SELECT v FROM t WHERE id = %d AND user_id = %d", number, by))
   if tonumber(v) ~= count + 1 then error(string.format("row %d of user %d has v = %s", number, by, tostring(v))) end
end

function thread_done()
   connection:disconnect()
end
