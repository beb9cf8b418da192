-- One statement of whole numbers per event: a script gives its text and a function that returns the numbers.
require("oltp_common")

local numbers

function one_statement(text, parameters, values)
   numbers = values
   function prepare_statements()
      stmt[1].only = con:prepare(text())
      param[1].only = {}
      for at = 1, parameters do
         param[1].only[at] = stmt[1].only:bind_create(sysbench.sql.type.INT)
      end
      stmt[1].only:bind_param(unpack(param[1].only))
   end
end

function event()
   for at, value in ipairs({numbers()}) do
      param[1].only[at]:set(value)
   end
   stmt[1].only:execute()
end
