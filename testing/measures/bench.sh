#!/usr/bin/env bash
# limit: 3600
# See testing/bench. Two sharded set-ups: `one` storage unit with one table, which shows what the hop costs, and `ten` tables on
# two storage units, which shows what sharding costs.
. "$(dirname "$0")/../programs/lib.sh"

rows=100000
each=${BENCH_SECONDS:-5}

rules() {
  cat <<'Y'
  - !SHARDING
    tables:
      sbtest1:
        actualDataNodes: ds_${0..1}.sbtest1_${0..4}
        databaseStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by_2}}
        tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by_5}}
      sbtest2:
        actualDataNodes: ds_0.sbtest2_0
    shardingAlgorithms:
      by_2: {type: MOD, props: {sharding-count: 2}}
      by_5: {type: MOD, props: {sharding-count: 5}}
Y
}

# sb PORT DATABASE ARGS…
sb() {
  local port=$1 database=$2; shift 2
  local driver=(--db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port="$port" --pgsql-user=test --pgsql-password=test --pgsql-db="$database")
  [ "$family" = pg ] || driver=(--db-driver=mysql --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user=test --mysql-password=test
    --mysql-db="$database" --mysql-ssl=off)
  timeout --kill-after=5 $((each + 120)) sysbench "${driver[@]}" --rand-type=uniform --report-interval=0 --auto_inc=off \
    --tables=2 --table-size=$rows "$@" >"$work/sysbench.log" 2>&1 </dev/null
}

# rate PORT DATABASE TABLE THREADS MODE WORKLOAD: queries per second and the 95th percentile in milliseconds.
rate() {
  local lua=$work/$6-$3.lua
  # sysbench picks a table at random; here it is the one that is measured.
  { echo "package.path = package.path .. ';/usr/share/sysbench/?.lua'"; echo "dofile('/usr/share/sysbench/$6.lua')"
    echo "local uniform = sysbench.rand.uniform"
    echo "sysbench.rand.uniform = function(low, high) if low == 1 and high == sysbench.opt.tables then return $3 end return uniform(low, high) end"
  } >"$lua"
  sb "$1" "$2" --threads="$4" --db-ps-mode="$5" --time="$each" --events=0 --range_selects=on "$lua" run ||
    { bad "$family-$6-$4-$5" "sysbench reports errors" "$work/sysbench.log"; return 1; }
  awk '/queries: / {gsub(/[(]/, "", $3); q = $3} /95th percentile/ {p = $3} END {printf "%.0f %.2f\n", q, p}' "$work/sysbench.log"
}

echo "load average at the start: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores, $each s each"
for family in ${FAMILIES:-pg mariadb mysql}; do
  if ! has $family; then skip $family "no server"; continue; fi
  reset $family || fail $family-reset "cannot empty the storage units"
  rules | write_config $family bench
  pando_start
  port=$mysql_port; [ $family != pg ] || port=$postgres_port
  sb "$port" bench --threads=2 oltp_read_write prepare || fail "$family-prepare" "sysbench reports errors" "$work/sysbench.log"
  sb "$(unit_port $family 0)" direct --threads=2 oltp_read_write prepare || fail "$family-prepare" "sysbench reports errors" "$work/sysbench.log"
  printf '%-8s %-18s %-8s %7s | %9s %7s | %9s %7s %6s | %9s %7s %6s\n' family workload prepares threads direct p95 "one unit" p95 part "ten nodes" p95 part
  for workload in oltp_point_select oltp_read_write; do for mode in auto disable; do for threads in ${BENCH_THREADS:-1 16 64}; do
    direct=$(rate "$(unit_port $family 0)" direct 1 "$threads" $mode $workload) || { echo "$direct"; failures=$((failures + 1)); continue; }
    one=$(rate "$port" bench 2 "$threads" $mode $workload) || { echo "$one"; failures=$((failures + 1)); continue; }
    ten=$(rate "$port" bench 1 "$threads" $mode $workload) || { echo "$ten"; failures=$((failures + 1)); continue; }
    echo "$family $workload $mode $threads $direct $one $ten" | awk '{
      printf "%-8s %-18s %-8s %7s | %9s %7s | %9s %7s %6.2f | %9s %7s %6.2f\n", $1, $2, $3, $4, $5, $6, $7, $8, $7 / $5, $9, $10, $9 / $5}'
  done; done; done
  pando_stop $family-stop && ok "$family"
done
