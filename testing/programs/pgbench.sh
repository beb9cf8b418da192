#!/usr/bin/env bash
# limit: 600
# Debian's pgbench: its own tables, sharded by bid, filled by its own initialisation (COPY), then TPC-B over the simple, the
# extended and the prepared protocol. No transaction may fail, and the money must add up.
. "$(dirname "$0")/lib.sh"

scale=4
pgbench() {
  PGPASSWORD=test timeout --kill-after=5 180 "$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)/pgbench" \
    -h 127.0.0.1 -p "$postgres_port" -U test "$@" pgbench
}
query() { psql_at "$postgres_port" pgbench -At -F ' ' -c "$1"; }

rules() {
  echo "  - !SHARDING"
  echo "    tables:"
  for table in accounts tellers branches history; do
    cat <<Y
      pgbench_$table:
        actualDataNodes: ds_\${0..1}.pgbench_${table}_\${0..2}
        databaseStrategy: {standard: {shardingColumn: bid, shardingAlgorithmName: by_2}}
        tableStrategy: {standard: {shardingColumn: bid, shardingAlgorithmName: by_3}}
Y
  done
  cat <<Y
    bindingTables: ["pgbench_accounts,pgbench_tellers,pgbench_branches,pgbench_history"]
    shardingAlgorithms:
      by_2: {type: MOD, props: {sharding-count: 2}}
      by_3: {type: MOD, props: {sharding-count: 3}}
Y
}

# What pgbench -i -I g makes, as plain INSERTs.
data() {
  awk -v scale=$scale 'BEGIN {
    for (b = 1; b <= scale; b++) printf "insert into pgbench_branches (bid, bbalance) values (%d, 0);\n", b
    for (t = 1; t <= scale * 10; t++) printf "insert into pgbench_tellers (tid, bid, tbalance) values (%d, %d, 0);\n", t, int((t - 1) / 10) + 1
    for (a = 1; a <= scale * 100000; a++) {
      printf "%s", (a % 1000 == 1 ? "insert into pgbench_accounts (aid, bid, abalance, filler) values " : ", ")
      printf "(%d, %d, 0, \047\047)", a, int((a - 1) / 100000) + 1
      if (a % 1000 == 0) print ";"
    }
  }'
}

counts() {
  query "select count(*) from pgbench_branches" && query "select count(*) from pgbench_tellers" &&
    query "select count(*) from pgbench_accounts"
}

# tpcb NAME CLIENTS TRANSACTIONS ARGS…
tpcb() {
  local name=$1 clients=$2 transactions=$3 log=$work/pgbench.log; shift 3
  if pgbench -n -c "$clients" -j 2 -t "$transactions" "$@" >"$log" 2>&1 &&
    grep -q "actually processed: $((clients * transactions))/$((clients * transactions))" "$log" &&
    ! grep -qE 'number of failed transactions: [1-9]|aborted|ERROR' "$log"; then
    ok "$name ($(sed -nE 's/^tps = ([0-9]+).*/\1/p' "$log") tps)"
    expected=$((expected + clients * transactions))
  else
    bad "$name" "pgbench reports errors" "$log"
  fi
}

# Before and after each sum stands a plain number, so that four nothings do not count as equal.
invariant() {
  local sums
  sums=$(query "select sum(abalance) from pgbench_accounts"; query "select sum(tbalance) from pgbench_tellers"
    query "select sum(bbalance) from pgbench_branches"; query "select sum(delta) from pgbench_history")
  if [ "$(grep -cE '^-?[0-9]+$' <<<"$sums")" = 4 ] && [ "$(sort -u <<<"$sums" | wc -l)" = 1 ]; then ok "$1"; else bad "$1" "the sums differ: ${sums//$'\n'/, }"; fi
}

if ! has pg; then skip pg "no server"; exit 0; fi
reset pg || fail reset "cannot empty the storage units"
rules | write_config pg pgbench
pando_start

pgbench -i -s $scale -I dt >"$work/init.log" 2>&1 || fail create "pgbench cannot create its tables" "$work/init.log"
ok create
if pgbench -i -s $scale -I g >"$work/init.log" 2>&1; then
  ok copy
else
  # The rest of the program needs the rows all the same.
  bad copy "pgbench cannot fill its tables" "$work/init.log"
  data | psql_at "$postgres_port" pgbench >"$work/init.log" 2>&1 || fail fill "plain INSERTs fail too" "$work/init.log"
fi
check primary-keys pgbench -i -s $scale -I p
check vacuum pgbench -i -s $scale -I v
same rows "$(printf '%s\n' $scale $((scale * 10)) $((scale * 100000)))" "$(counts)"
for n in 0 1; do for i in 0 1 2; do
  psql_at "$(unit_port pg $n)" ds_$n -At -c "select count(*) from pgbench_accounts_$i"
done; done >"$work/spread"
# Branches 1 to 4 by 2 and by 3: 4 → ds_0._1, 2 → ds_0._2, 3 → ds_1._0, 1 → ds_1._1.
same spread "0 100000 100000 100000 100000 0" "$(xargs <"$work/spread")"

expected=0
for protocol in simple extended prepared; do
  tpcb "$protocol-1" 1 300 -M $protocol
  tpcb "$protocol-16" 16 40 -M $protocol
  tpcb "$protocol-select-16" 16 100 -M $protocol -S
  # Selects write no history.
  expected=$((expected - 1600))
  invariant "$protocol-invariant"
done
same history "$expected" "$(query "select count(*) from pgbench_history")"
pando_stop stop && ok stop
