# Shared by the programs of this folder; sourced first. `testing/run` gives PANDO_BIN and the services' ports.
#
# A program says `ok NAME` for each thing that held, `skipped NAME: why` for what could not be tried, and `FAILED NAME: why`.
# It goes on after a failure where the rest still means something, and ends with 1 if anything failed.
set -uo pipefail

program=$(basename "$0" .sh)
[ "$program" != run ] || program=$(basename "$(cd "$(dirname "$0")" && pwd)")
: "${PANDO_BIN:?run me with testing/run $program}" "${SERVICES_DIR:?run me with testing/run $program}"
programs=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pando
work=$(mktemp -d "${TMPDIR:-/tmp}/pando-$program.XXXXXX")
failures=0
pando_pid=

ok() { echo "ok $program/$1"; }
skip() { echo "skipped $program/$1: $2"; }
# bad NAME WHY [FILE]: counts a failure and goes on.
bad() {
  failures=$((failures + 1))
  echo "FAILED $program/$1: $2"
  [ -z "${3:-}" ] || tail -25 "$3" | sed 's/^/    /'
}
# fail NAME WHY [FILE]: where nothing after it would mean anything.
fail() {
  bad "$@"
  [ ! -s "$work/pando.err" ] || { echo "    pando said:"; tail -25 "$work/pando.err" | sed 's/^/    /'; }
  exit 1
}
# check NAME COMMAND...: ok if the command succeeds, else its output.
check() {
  local name=$1; shift
  if "$@" >"$work/check.log" 2>&1; then ok "$name"; else bad "$name" "\`$(basename "$1")\` ended with $?" "$work/check.log"; return 1; fi
}
# same NAME EXPECTED ACTUAL
same() {
  if [ "$2" = "$3" ]; then ok "$1"; else bad "$1" "expected and actual:"; diff <(echo "$2") <(echo "$3") | head -20 | sed 's/^/    /'; return 1; fi
}

finish() {
  local code=$?
  [ -z "$pando_pid" ] || kill -KILL "$pando_pid" 2>/dev/null
  rm -rf "$work"
  [ "$failures" = 0 ] || code=1
  exit $code
}
trap finish EXIT
trap 'exit 130' INT TERM

# --- storage units -------------------------------------------------------------------------------------------------------

# unit_server FAMILY N: PG1, MARIADB2, …; a family with one server has both storage units on it.
unit_server() {
  local name=${1^^}$(($2 + 1)); local port=${name}_PORT
  if [ -n "${!port:-}" ]; then echo "$name"; else echo "${1^^}1"; fi
}
unit_port() { local port; port=$(unit_server "$1" "$2")_PORT; echo "${!port:-}"; }
unit_url() {
  case $1 in
  pg) echo "jdbc:postgresql://127.0.0.1:$(unit_port pg "$2")/ds_$2" ;;
  *) echo "jdbc:mysql://127.0.0.1:$(unit_port "$1" "$2")/ds_$2?useSSL=false&allowPublicKeyRetrieval=true" ;;
  esac
}
has() { [ -n "$(unit_port "$1" 0)" ]; }

# psql_at PORT DATABASE ARGS…, mysql_at PORT DATABASE ARGS…
psql_at() { PGPASSWORD=test PGCONNECT_TIMEOUT=10 psql -X -q -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$1" -U test -d "$2" "${@:3}"; }
mysql_at() { mariadb --no-defaults --skip-ssl --connect-timeout=10 -h 127.0.0.1 -P "$1" -u test -ptest -D "$2" "${@:3}"; }

# reset FAMILY: empty databases ds_0, ds_1 and direct, whatever an earlier program left.
reset() {
  local name port
  for name in "$(unit_server "$1" 0) ds_0" "$(unit_server "$1" 1) ds_1" "$(unit_server "$1" 0) direct"; do
    set -- "$1" ${name}; port=${2}_PORT
    if [ "$1" = pg ]; then
      psql_at "${!port}" test -c "drop database if exists $3 with (force)" -c "create database $3" || return 1
    else
      mysql_at "${!port}" test -e "set lock_wait_timeout = 20; drop database if exists $3; create database $3" || return 1
    fi
  done
}

# --- pando ---------------------------------------------------------------------------------------------------------------

# write_config FAMILY DATABASE: a fresh $work/config whose rules come from standard input.
write_config() {
  rm -rf "$work/config" && mkdir "$work/config"
  cat >"$work/config/global.yaml" <<Y
mode:
  type: Standalone
authority:
  users:
    - user: test@%
      password: test
      admin: true
  privilege:
    type: ALL_PERMITTED
transaction:
  defaultType: ${TRANSACTION_TYPE:-LOCAL}
Y
  {
    echo "databaseName: $2"
    echo "dataSources:"
    for n in 0 1; do
      printf '  ds_%s:\n    url: "%s"\n    username: test\n    password: test\n    maxPoolSize: 110\n    minPoolSize: 1\n' $n "$(unit_url "$1" $n)"
    done
    echo "rules:"
    cat
  } >"$work/config/database-$2.yaml"
}

# pando_start [OPTION…]: serves $work/config; mysql_port and postgres_port are then where.
pando_start() {
  local line end=$((SECONDS + 30))
  # The new process empties its output only when it starts: an earlier one's line must not be taken for its own.
  : >"$work/pando.out"
  "$PANDO_BIN" serve --config "$work/config" --mysql 127.0.0.1:0 --postgres 127.0.0.1:0 "$@" \
    >"$work/pando.out" 2>"$work/pando.err" </dev/null &
  pando_pid=$!
  until line=$(grep -m1 '^ready mysql=.* postgres=' "$work/pando.out"); do
    kill -0 "$pando_pid" 2>/dev/null || { pando_pid=; fail start "pando ended before it was ready" "$work/pando.err"; }
    [ $SECONDS -lt $end ] || fail start "pando is not ready after 30 s" "$work/pando.err"
    sleep 0.05
  done
  mysql_port=$(sed -E 's/.*mysql=[^ ]*:([0-9]+).*/\1/' <<<"$line")
  postgres_port=$(sed -E 's/.*postgres=[^ ]*:([0-9]+).*/\1/' <<<"$line")
}

# pando_stop NAME: an orderly end, asked for with SIGTERM, within 15 s and with code 0.
pando_stop() {
  local pid=$pando_pid end=$((SECONDS + 15)) code
  pando_pid=
  kill -TERM "$pid" 2>/dev/null || { bad "$1" "pando had ended by itself" "$work/pando.err"; return 1; }
  while kill -0 "$pid" 2>/dev/null; do
    if [ $SECONDS -ge $end ]; then
      kill -KILL "$pid"; wait "$pid" 2>/dev/null
      bad "$1" "pando does not stop within 15 s" "$work/pando.err"; return 1
    fi
    sleep 0.05
  done
  wait "$pid"; code=$?
  [ $code = 0 ] || { bad "$1" "pando ended with $code" "$work/pando.err"; return 1; }
}

# venv: a Python with the pinned clients, kept between runs; prints its interpreter.
venv() {
  local wanted="$programs/clients/requirements.txt" home; home=$cache/venv-$(sha256sum "$wanted" 2>/dev/null | cut -c1-12)
  if [ ! -x "$home/bin/python" ]; then
    local part=$home.$$ python=python3
    [ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
    mkdir -p "$cache" && $python -m venv "$part" >&2 && "$part/bin/python" -m pip install -q -r "$wanted" >&2 || { rm -rf "$part"; return 1; }
    # A venv's scripts name its folder, but `bin/python` finds it by where it stands, so it can be moved.
    mv -T "$part" "$home" 2>/dev/null || rm -rf "$part"
  fi
  echo "$home/bin/python"
}

# jdbc: a folder with the pinned JDBC drivers, kept between runs; prints it.
jdbc() { jars jdbc "org.postgresql:postgresql:42.7.5 com.mysql:mysql-connector-j:8.4.0"; }

# jars NAME ARTIFACTS: a folder with these, kept between runs; prints it.
jars() {
  local drivers=$2 part driver
  local jars; jars=$cache/$1-$(sha256sum <<<"$drivers" | cut -c1-12)
  if [ ! -d "$jars" ]; then
    mkdir -p "$cache" && part=$(mktemp -d "$cache/$1.XXXXXX") || return 1
    for driver in $drivers; do
      timeout 240 mvn -q -B dependency:copy -Dartifact="$driver" -DoutputDirectory="$part" >&2 || { rm -rf "$part"; return 1; }
    done
    mv -T "$part" "$jars" 2>/dev/null || rm -rf "$part"
  fi
  echo "$jars"
}

# The rules of the shop that the client programs use: orders and their items lie together by user, a log has generated ids, the
# dictionary is everywhere, and any other table is a single one.
shop_rules() {
  cat <<'Y'
  - !SHARDING
    tables:
      t_order:
        actualDataNodes: ds_${0..1}.t_order_${0..1}
        databaseStrategy: {standard: {shardingColumn: user_id, shardingAlgorithmName: by_2}}
        tableStrategy: {standard: {shardingColumn: order_id, shardingAlgorithmName: order_inline}}
      t_order_item:
        actualDataNodes: ds_${0..1}.t_order_item_${0..1}
        databaseStrategy: {standard: {shardingColumn: user_id, shardingAlgorithmName: by_2}}
        tableStrategy: {standard: {shardingColumn: order_id, shardingAlgorithmName: item_inline}}
      t_log:
        actualDataNodes: ds_${0..1}.t_log_${0..1}
        databaseStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by_2}}
        tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by_2}}
        keyGenerateStrategy: {column: id, keyGeneratorName: snowflake}
    bindingTables: ["t_order,t_order_item"]
    shardingAlgorithms:
      by_2: {type: MOD, props: {sharding-count: 2}}
      order_inline: {type: INLINE, props: {algorithm-expression: "t_order_${order_id % 2}"}}
      item_inline: {type: INLINE, props: {algorithm-expression: "t_order_item_${order_id % 2}"}}
    keyGenerators:
      snowflake: {type: SNOWFLAKE, props: {worker-id: 7, max-vibration-offset: 9}}
  - !BROADCAST
    tables: [t_dict]
  - !SINGLE
    tables: ["*.*"]
    defaultDataSource: ds_0
Y
}

# said LOG: passes on a client program's lines and counts its failures; a program that said nothing has failed.
said() {
  sed "s#^\(ok\|FAILED\|skipped\) #\1 $program/#" "$1"
  failures=$((failures + $(grep -c '^FAILED ' "$1")))
}
