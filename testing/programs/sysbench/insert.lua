-- `oltp_insert` with ids that a second run repeats: sysbench.rand.unique() heeds no seed. They take turns below and above zero.
require("oltp_insert")
local count = 0
function sysbench.rand.unique()
   count = count + 1
   return (count * 2654435761) % 4294967296
end
