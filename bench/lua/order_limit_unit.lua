-- order_limit for one storage unit: the least rows of its five tables.
require("one_statement")

-- PostgreSQL reads a union like a table; MariaDB and MySQL would make one first, so each table gives its own least rows there.
local function text()
   local postgres = sysbench.sql.driver():name() == "pgsql"
   local each = {}
   for n = 0, 4 do
      local part = "SELECT id, k, c FROM sbtest1_" .. n
      each[n + 1] = postgres and part or "(" .. part .. " WHERE k >= ? ORDER BY k, id LIMIT 10)"
   end
   local union = table.concat(each, " UNION ALL ")
   return postgres and "SELECT id, k, c FROM (" .. union .. ") AS sbtest1 WHERE k >= ? ORDER BY k, id LIMIT 10"
      or union .. " ORDER BY k, id LIMIT 10"
end

local count = sysbench.sql.driver():name() == "pgsql" and 1 or 5

one_statement(text, count,
   function()
      local value = sysbench.rand.uniform(1, sysbench.opt.table_size - 1000)
      local values = {}
      for at = 1, count do
         values[at] = value
      end
      return unpack(values)
   end)
