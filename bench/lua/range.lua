require("one_statement")

one_statement(
   function() return "SELECT id, c FROM sbtest1 WHERE id BETWEEN ? AND ?" end, 2,
   function()
      local first = sysbench.rand.uniform(1, sysbench.opt.table_size - 100)
      return first, first + 99
   end)
