-- A transaction on one key, and so on one shard.
require("oltp_common")

function prepare_statements()
   prepare_begin()
   prepare_commit()
   prepare_point_selects()
   prepare_index_updates()
end

function event()
   local id = sysbench.rand.default(1, sysbench.opt.table_size)
   begin()
   param[1].point_selects[1]:set(id)
   stmt[1].point_selects:execute()
   param[1].index_updates[1]:set(id)
   stmt[1].index_updates:execute()
   commit()
end
