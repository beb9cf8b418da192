require("one_statement")

-- Ten ids out of every ten thousand, as harness/tables.py has made them.
one_statement(
   function() return "SELECT c FROM sparse WHERE id = ?" end, 1,
   function() return 10000 * sysbench.rand.uniform(0, sysbench.opt.table_size / 10 - 1) + sysbench.rand.uniform(0, 9) end)
