require("one_statement")

one_statement(
   function() return "SELECT id, k, c FROM sbtest1 WHERE k >= ? ORDER BY k, id LIMIT 10" end, 1,
   function() return sysbench.rand.uniform(1, sysbench.opt.table_size - 1000) end)
