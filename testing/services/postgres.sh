# PostgreSQL, every version Debian has: sourced by `up` and `server`.

postgres_bin() { ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1; }

# The empty cluster with roles and databases; each server gets a copy, as initdb costs more than the copy.
postgres_template() {
  local bin to=$DIR/.template-pg; bin=$(postgres_bin)
  mkdir "$to" && chmod 700 "$to" && echo postgres >"$DIR/template-pg.password"
  [ "$(id -u)" != 0 ] || chown postgres "$to" "$DIR/template-pg.password"
  # Single-user mode makes the rest without starting a server for it. Each command stands on one line.
  (cd "$to" && as_postgres "$bin/initdb" -D "$to" -U postgres --no-sync -A scram-sha-256 --pwfile="$DIR/template-pg.password" -E UTF8 --locale=C.UTF-8 &&
    { echo "create role test login superuser password 'test'"
      for name in $databases; do echo "create database $name owner test strategy file_copy"; done
    } | as_postgres "$bin/postgres" --single -F -D "$to" postgres) >"$DIR/template-pg.log" 2>&1
}

# postgres_start NAME PORT
postgres_start() {
  local bin; bin=$(postgres_bin)
  rm -f "$DIR/$1/postmaster.pid"
  launch "$1" $(type -P setpriv >/dev/null && [ "$(id -u)" = 0 ] && echo setpriv --reuid postgres --regid "$(id -gn postgres)" --clear-groups) \
    "$bin/postgres" -D "$DIR/$1" -p "$2" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
    -c fsync=off -c full_page_writes=off -c synchronous_commit=on -c wal_level=logical -c max_wal_size=256MB \
    -c max_connections="${SERVICES_CONNECTIONS:-300}" -c max_prepared_transactions="${SERVICES_PREPARED:-200}" -c shared_buffers=64MB \
    -c log_min_messages=error -c log_min_error_statement=panic
  echo $! >"$DIR/$1.pid"
}

postgres_ready() { "$(postgres_bin)/pg_isready" -q -h 127.0.0.1 -p "$2"; }
