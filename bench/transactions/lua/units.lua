-- A transaction that changes, or only reads, one row on each of `touched` of five units, ids being dealt out by `id % 5`, and may then wait for `hold` milliseconds.
local ffi = require("ffi")
ffi.cdef("int usleep(unsigned int);")

sysbench.cmdline.options = {
   table_size = {"rows on each unit", 10000},
   tables = {"not used", 1},
   auto_inc = {"not used", false},
   touched = {"units that a transaction touches", 2},
   reads = {"read instead of changing", false},
   hold = {"milliseconds between the changes and the commit", 0},
}

local UNITS = 5

function thread_init()
   con = sysbench.sql.driver():connect()
end

function thread_done()
   con:disconnect()
end

function event()
   local first = sysbench.rand.uniform(0, UNITS - 1)
   local units = {}
   for at = 0, sysbench.opt.touched - 1 do
      units[at + 1] = (first + at) % UNITS
   end
   -- In one order: nobody waits for somebody who waits for him.
   table.sort(units)
   con:query("BEGIN")
   for _, unit in ipairs(units) do
      local id = UNITS * sysbench.rand.uniform(1, sysbench.opt.table_size - 1) + unit
      if sysbench.opt.reads then
         con:query(string.format("SELECT k FROM spread WHERE id = %d", id))
      else
         con:query(string.format("UPDATE spread SET k = k + 1 WHERE id = %d", id))
      end
   end
   if sysbench.opt.hold > 0 then
      ffi.C.usleep(1000 * sysbench.opt.hold)
   end
   con:query("COMMIT")
end
