require("one_statement")

sysbench.cmdline.options.kind = {"Which pair of tables: bound or loose", "bound"}

-- Ten orders in a row lie on all ten data nodes.
one_statement(
   function()
      return string.format("SELECT o.order_id, o.note, i.item_id, i.quantity FROM %s_order o JOIN %s_item i ON o.order_id = i.order_id " ..
                              "WHERE o.order_id IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", sysbench.opt.kind, sysbench.opt.kind)
   end, 10,
   function()
      local first = sysbench.rand.uniform(1, 9990)
      return first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6, first + 7, first + 8, first + 9
   end)
