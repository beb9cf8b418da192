-- read_write by clients that shard by themselves: half of the tables on either of two servers, a connection to both, and a transaction that is begun on a
-- server by the first statement that goes there.
require("oltp_read_write")

local units, open

-- Whoever stands in front gives its connections to the two servers in turn, to all clients together.
local function connect_to_both(drv)
   local port = drv:name() == "mysql" and "SELECT @@port" or "SELECT inet_server_port()"
   local first = {drv:connect()}
   local at = first[1]:query_row(port)
   while true do
      local other = drv:connect()
      if other:query_row(port) ~= at then
         return {first[1], other}
      end
      other:disconnect()
   end
end

local Statement = {}
Statement.__index = Statement

function Statement:execute()
   if not open[self.unit] then
      open[self.unit] = true
      units[self.unit].begin:execute()
   end
   self.own:execute()
end

function Statement:bind_create(...) return self.own:bind_create(...) end
function Statement:bind_param(...) return self.own:bind_param(...) end
function Statement:close() self.own:close() end

local function nothing() end
local begun = {execute = nothing, close = nothing}
local committed = {close = nothing}

function committed.execute()
   for at, unit in ipairs(units) do
      if open[at] then
         unit.commit:execute()
      end
   end
   open = {}
end

-- Table 6 of ten is the first of the second unit's five.
local function prepare(_, text)
   if text == "BEGIN" then return begun end
   if text == "COMMIT" then return committed end
   local each = sysbench.opt.tables / 2
   local number = tonumber(text:match("sbtest(%d+)"))
   local unit = number > each and 2 or 1
   text = text:gsub("sbtest%d+", "sbtest" .. (number - (unit - 1) * each))
   return setmetatable({unit = unit, own = units[unit].con:prepare(text)}, Statement)
end

function thread_init()
   units, open, stmt, param = {}, {}, {}, {}
   for at, own in ipairs(connect_to_both(sysbench.sql.driver())) do
      units[at] = {con = own, begin = own:prepare("BEGIN"), commit = own:prepare("COMMIT")}
   end
   con = {prepare = prepare}
   for t = 1, sysbench.opt.tables do
      stmt[t], param[t] = {}, {}
   end
   prepare_statements()
end

function thread_done()
   close_statements()
   for _, unit in ipairs(units) do
      unit.begin:close()
      unit.commit:close()
      unit.con:disconnect()
   end
end

-- Each row lies anywhere, as with the tables that others shard; the stock script asks one table for all ten.
function execute_point_selects()
   for _ = 1, sysbench.opt.point_selects do
      local t = sysbench.rand.uniform(1, sysbench.opt.tables)
      param[t].point_selects[1]:set(sysbench.rand.default(1, sysbench.opt.table_size))
      stmt[t].point_selects:execute()
   end
end

-- A transaction that one server has given up is repeated from its beginning, on both.
function sysbench.hooks.before_restart_event()
   for _, unit in ipairs(units) do
      unit.con:query("ROLLBACK")
   end
   open = {}
end
