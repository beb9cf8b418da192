-- Runs the script BENCH_SCRIPT with sessions whose transactions are of the type BENCH_TYPE.
dofile(os.getenv("BENCH_SCRIPT"))

local begin_thread = thread_init

function thread_init()
   begin_thread()
   con:query("SET VARIABLE transaction_type = " .. os.getenv("BENCH_TYPE"))
end
