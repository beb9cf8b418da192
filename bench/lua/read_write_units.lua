-- read_write by clients that shard by themselves: half of the tables on either of two servers, a connection to both, and a transaction that is begun on a
-- server by the first statement that goes there. A range goes to both, as a union of the server's five tables, one after the other; nobody merges the answers.
require("oltp_read_write")

local units, open, wide

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

local function begin_on(unit)
   if not open[unit] then
      open[unit] = true
      units[unit].begin:execute()
   end
end

function Statement:execute()
   begin_on(self.unit)
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

-- What a range asks of five tables; `%s` is all their rows.
local RANGES = {
   simple_ranges = "SELECT c FROM %s WHERE id BETWEEN ? AND ?",
   sum_ranges = "SELECT SUM(k) FROM %s WHERE id BETWEEN ? AND ?",
   order_ranges = "SELECT c FROM %s WHERE id BETWEEN ? AND ? ORDER BY c",
   distinct_ranges = "SELECT DISTINCT c FROM %s WHERE id BETWEEN ? AND ? ORDER BY c",
}

local function all_rows()
   local each = {}
   for n = 1, sysbench.opt.tables / 2 do
      each[n] = "SELECT id, k, c FROM sbtest" .. n
   end
   return "(" .. table.concat(each, " UNION ALL ") .. ") AS sbtest"
end

local function prepare_wide(key)
   wide[key] = {}
   for at, unit in ipairs(units) do
      local own = unit.con:prepare(RANGES[key]:format(all_rows()))
      local bounds = {own:bind_create(sysbench.sql.type.INT), own:bind_create(sysbench.sql.type.INT)}
      own:bind_param(unpack(bounds))
      wide[key][at] = {own = own, bounds = bounds}
   end
end

-- The ids of a range are spread over all ten tables, of which each has its tenth.
local function execute_wide(key)
   for _ = 1, sysbench.opt[key] do
      local first = sysbench.rand.default(1, sysbench.opt.table_size)
      local count = sysbench.opt.range_size / sysbench.opt.tables
      for at, statement in ipairs(wide[key]) do
         statement.bounds[1]:set(first)
         statement.bounds[2]:set(first + count - 1)
         begin_on(at)
         statement.own:execute()
      end
   end
end

for key in pairs(RANGES) do
   _G["prepare_" .. key] = function() prepare_wide(key) end
   _G["execute_" .. key] = function() execute_wide(key) end
end

function thread_init()
   units, open, wide, stmt, param = {}, {}, {}, {}, {}
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
   for _, statements in pairs(wide) do
      for _, statement in ipairs(statements) do
         statement.own:close()
      end
   end
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
