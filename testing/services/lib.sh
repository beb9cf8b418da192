# Shared by the scripts of this folder; sourced, never run.
# A server NAME (pg1, mariadb2, mysql1, zk1, etcd1) keeps its data in $DIR/NAME, its pid in $DIR/NAME.pid and its log in $DIR/NAME.log.

# Users other than root do not have the servers in their path.
PATH=$PATH:/usr/sbin:/sbin
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pando
databases="test ds_0 ds_1 direct"

die() { echo "services: $*" >&2; exit 1; }

# poll SECONDS COMMAND...: until the command succeeds.
poll() {
  local end=$((SECONDS + $1)); shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.03
  done
}

# A process that has ended but that nobody has waited for yet has no executable any more.
gone() { ! readlink "/proc/$1/exe" >/dev/null 2>&1; }

# A pid is only ours while its working directory is the server's data directory: pid numbers are used again.
ours() { [ "$(readlink "/proc/$1/cwd" 2>/dev/null)" = "$DIR/$2" ]; }

# A port below the range the kernel hands to clients, listened on by nobody. Another process may still take it before the
# server does, so starting is tried again with another port.
free_port() {
  local used port
  used=$(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk '{ n = split($2, a, ":"); print a[n] }')
  while :; do
    port=$((10000 + (RANDOM * 32768 + RANDOM) % 20000))
    grep -qx "$(printf %04X "$port")" <<<"$used" || { echo "$port"; return; }
  done
}

# PostgreSQL refuses to run as root; everybody else runs as who they are.
as_postgres() {
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid postgres --regid "$(id -gn postgres)" --clear-groups env HOME=/tmp "$@"
  else
    "$@"
  fi
}

as_root_flag() { [ "$(id -u)" != 0 ] || echo --user=root; }

# server_file NAME: the script that knows this family.
family() { case $1 in pg*) echo postgres ;; mariadb*) echo mariadb ;; mysql*) echo mysql ;; zk*) echo zookeeper ;; etcd*) echo etcd ;; *) die "unknown server \`$1\`" ;; esac; }

port_of() { sed -n "s/^${1^^}_PORT=//p" "$DIR/env" "$DIR/$1.env" 2>/dev/null | head -1; }

# launch NAME COMMAND...: detached from this terminal and its signals, so that Ctrl-C in a test run reaches `down`, not the servers.
launch() {
  local name=$1; shift
  (cd "$DIR/$name" && exec setsid "$@" >>"$DIR/$name.log" 2>&1 </dev/null) &
}

# halt NAME SIGNAL: ends the server and waits until its process is gone.
halt() {
  local pid
  pid=$(cat "$DIR/$1.pid" 2>/dev/null) || return 0
  if ours "$pid" "$1"; then
    kill "-$2" "$pid" 2>/dev/null
    poll 10 gone "$pid" || { kill -KILL "$pid" 2>/dev/null; poll 10 gone "$pid"; }
  fi
  rm -f "$DIR/$1.pid"
}
