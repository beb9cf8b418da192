-- `oltp_common prepare` as one event: sysbench 1.0.20 heeds --rand-seed in `run` only.
require("oltp_common")
function thread_init() end
function event() cmd_prepare() end
function thread_done() end
