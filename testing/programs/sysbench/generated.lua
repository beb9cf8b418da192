-- Inserts that leave the id to Pando's key generator.
require("oltp_insert")
function event()
   con:query(string.format("INSERT INTO sbtest7 (k, c, pad) VALUES (%d, '%s', '%s')",
                           sysbench.rand.default(1, sysbench.opt.table_size), get_c_value(), get_pad_value()))
end
