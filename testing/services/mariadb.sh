# MariaDB: sourced by `up` and `server`. The options shared with MySQL stand here too, as both grew from one tree.

# No fsync, and a log that still reaches the operating system at commit: a prepared XA branch outlives kill -9, as with a real disk.
innodb_options() {
  printf '%s\n' $(as_root_flag) --innodb-doublewrite=0 --innodb-flush-method=nosync --innodb-flush-log-at-trx-commit=2 \
    --innodb-buffer-pool-size=128M --innodb-use-native-aio=0 --performance-schema=OFF --skip-log-bin \
    --skip-name-resolve --max-connections="${SERVICES_CONNECTIONS:-600}" ${SERVICES_INNODB_OPTIONS:-}
}

users_sql() {
  echo "CREATE USER 'test'@'%' IDENTIFIED BY 'test';"
  echo "GRANT ALL ON *.* TO 'test'@'%' WITH GRANT OPTION;"
  for name in $databases; do echo "CREATE DATABASE $name;"; done
}

mariadb_template() {
  local to=$DIR/.template-mariadb
  mkdir "$to" "$to.tmp" && { echo "FLUSH PRIVILEGES;"; users_sql; } >"$DIR/users-mariadb.sql"
  mariadb-install-db --no-defaults $(as_root_flag) --datadir="$to" --tmpdir="$to.tmp" --auth-root-authentication-method=normal --skip-test-db \
    --skip-name-resolve --innodb-flush-method=nosync --innodb-use-native-aio=0 --innodb-log-file-size=32M --innodb-doublewrite=0 --extra-file="$DIR/users-mariadb.sql" \
    >"$DIR/template-mariadb.log" 2>&1
}

# The socket's name is relative to the data directory: a full one is too long for the kernel under a deep temporary folder. Each server, a template's too, has
# temporary tables in a folder of its own: MySQL and MariaDB remove those they find as they start, also while somebody else makes their template.
mariadb_start() {
  mkdir -p "$DIR/$1.tmp"
  launch "$1" mariadbd --no-defaults --datadir="$DIR/$1" --tmpdir="$DIR/$1.tmp" $(innodb_options) --innodb-log-file-size=32M \
    --port="$2" --bind-address=127.0.0.1 --socket=sock --pid-file="$DIR/$1/server.pid"
  echo $! >"$DIR/$1.pid"
}

mariadb_ready() { mariadb --no-defaults -h127.0.0.1 -P"$2" -utest -ptest -e 'select 1'; }
