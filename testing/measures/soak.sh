#!/usr/bin/env bash
# limit: 90000
# See testing/soak. In rounds of about a minute: sysbench with transactions through Pando on PostgreSQL and MariaDB at once, each
# round with new sessions. At the end: no error, as many rows as at the start, memory and open files as after the first rounds.
. "$(dirname "$0")/../programs/lib.sh"

minutes=${SOAK_MINUTES:-30}
rows=20000

rules() {
  cat <<'Y'
  - !SHARDING
    tables:
      sbtest1:
        actualDataNodes: ds_${0..1}.sbtest1_${0..4}
        databaseStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by_2}}
        tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by_5}}
    shardingAlgorithms:
      by_2: {type: MOD, props: {sharding-count: 2}}
      by_5: {type: MOD, props: {sharding-count: 5}}
Y
}

# sb FAMILY ARGS…
sb() {
  local family=$1; shift
  local driver=(--db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port="$postgres_port" --pgsql-user=test --pgsql-password=test --pgsql-db=soak_pg)
  [ "$family" = pg ] || driver=(--db-driver=mysql --mysql-host=127.0.0.1 --mysql-port="$mysql_port" --mysql-user=test --mysql-password=test
    --mysql-db=soak_mariadb --mysql-ssl=off --mysql-ignore-errors=none)
  timeout --kill-after=5 300 sysbench "${driver[@]}" --rand-type=uniform --auto_inc=off --tables=1 --table-size=$rows "$@" \
    >"$work/$family.log" 2>&1 </dev/null
}
resident() { awk '/^VmRSS/ {print $2}' "/proc/$pando_pid/status"; }
open_files() { ls "/proc/$pando_pid/fd" | wc -l; }
count() { psql_at "$postgres_port" soak_pg -At -c "select count(*) from sbtest1"; mysql_at "$mysql_port" soak_mariadb -N -e "select count(*) from sbtest1"; }

reset pg && reset mariadb || fail reset "cannot empty the storage units"
rules | write_config pg soak_pg
mv "$work/config/database-soak_pg.yaml" "$work"
rules | write_config mariadb soak_mariadb
mv "$work/database-soak_pg.yaml" "$work/config/"
pando_start
for family in pg mariadb; do
  sb $family oltp_read_write prepare || fail $family-prepare "sysbench reports errors" "$work/$family.log"
done

end=$((SECONDS + minutes * 60)) round=0
workloads=(oltp_read_write oltp_write_only oltp_read_only oltp_point_select oltp_update_index)
while [ $SECONDS -lt $end ]; do
  workload=${workloads[round % ${#workloads[@]}]}
  mode=auto; [ $((round % 2)) = 0 ] || mode=disable
  left=$((end - SECONDS)); [ $left -lt 60 ] || left=60
  jobs=()
  for family in pg mariadb; do
    sb $family --threads=$((8 + round % 3 * 20)) --time=$left --events=0 --db-ps-mode=$mode --range_selects=on $workload run & jobs+=($!)
  done
  for job in "${jobs[@]}"; do wait "$job" || bad "round-$round" "sysbench reports errors in $workload" "$work/pg.log"; done
  [ "$failures" = 0 ] || { tail -25 "$work/mariadb.log"; break; }
  round=$((round + 1))
  printf 'round %s: %s with prepares %s, %s + %s queries/s, %s KiB resident, %s open files\n' $round $workload $mode \
    "$(sed -nE 's/.*queries: .*\((.*) per sec.*/\1/p' "$work/pg.log")" "$(sed -nE 's/.*queries: .*\((.*) per sec.*/\1/p' "$work/mariadb.log")" \
    "$(resident)" "$(open_files)"
  # Every kind of round has been seen once by then; what is kept from there on must not grow.
  [ $round != 6 ] || { settled=$(resident); files=$(open_files); }
done
[ "$failures" != 0 ] || ok "$round-rounds"
same rows "$rows $rows" "$(count | xargs)"
if [ -n "${settled:-}" ]; then
  now=$(resident)
  if [ "$now" -le $((settled * 5 / 4 + 8192)) ]; then ok "memory ($settled KiB after 6 rounds, $now KiB at the end)"; else bad memory "grew from $settled KiB to $now KiB"; fi
  now=$(open_files)
  if [ "$now" -le $((files + 50)) ]; then ok "open-files ($files, $now)"; else bad open-files "grew from $files to $now"; fi
else
  skip memory "fewer than 7 rounds; give SOAK_MINUTES=8 or more"
fi
pando_stop stop && ok stop
