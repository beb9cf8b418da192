require("one_statement")

one_statement(
   function() return "SELECT COUNT(*), SUM(k), MIN(id), MAX(id), AVG(k) FROM sbtest1 WHERE id BETWEEN ? AND ?" end, 2,
   function()
      local first = sysbench.rand.uniform(1, sysbench.opt.table_size - 1000)
      return first, first + 999
   end)
