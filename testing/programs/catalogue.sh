#!/usr/bin/env bash
# limit: 300
# What psql, mariadb and information_schema say of a database with sharded, broadcast and single tables on two storage units: the logical
# database and its logic tables, each once, wherever they stand.
. "$(dirname "$0")/lib.sh"

rules() {
  cat <<'Y'
  - !SHARDING
    tables:
      t_order:
        actualDataNodes: ds_${0..1}.t_order_${0..1}
        databaseStrategy: {standard: {shardingColumn: user_id, shardingAlgorithmName: by_2}}
        tableStrategy: {standard: {shardingColumn: order_id, shardingAlgorithmName: by_2}}
      t_order_item:
        actualDataNodes: ds_${0..1}.t_order_item_${0..1}
        databaseStrategy: {standard: {shardingColumn: user_id, shardingAlgorithmName: by_2}}
        tableStrategy: {standard: {shardingColumn: order_id, shardingAlgorithmName: by_2}}
      t_log:
        actualDataNodes: ds_1.t_log_${0..1}
        tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by_2}}
    bindingTables: ["t_order,t_order_item"]
    shardingAlgorithms:
      by_2: {type: MOD, props: {sharding-count: 2}}
  - !BROADCAST
    tables: [t_country]
  - !SINGLE
    tables: [ds_1.t_one, ds_0.t_two]
Y
}

all='t_country t_log t_one t_order t_order_item t_two'
words() { tr -s ' \t\n' ' ' | sed 's/^ //; s/ $//'; }

# --- PostgreSQL ----------------------------------------------------------------------------------------------------------

p() { psql_at "$postgres_port" shop -At -F ' ' -c "$1" 2>&1; }
# d ARGUMENT: \d with its footers and its complaints.
d() { PGPASSWORD=test psql -X -h 127.0.0.1 -p "$postgres_port" -U test -d shop -A -c "\\d $1" 2>&1; }
first_words() { awk 'NF { print $1 }' | words; }

postgres_tables() {
  psql_at "$postgres_port" shop <<'S'
create table t_country (code varchar(2) primary key, name text not null);
create table t_order (order_id bigint primary key, user_id int not null, country varchar(2) constraint fk_country references t_country (code));
create index idx_user on t_order (user_id);
create table t_order_item (item_id bigserial primary key, order_id bigint references t_order (order_id), user_id int);
create table t_log (id int primary key, line text);
create table t_one (id serial primary key, v text unique, n int);
create table t_two (id int primary key, one text);
comment on table t_order is 'orders of all';
S
}

postgres_answers() {
  same pg-dt "$all" "$(p '\dt' | awk '{ print $2 }' | words)"
  same pg-ds 't_one_id_seq t_order_item_item_id_seq' "$(p '\ds' | awk '{ print $2 }' | words)"
  same pg-l $'postgres\nshop' "$(p '\l' | awk '{ print $1 }' | grep -v =)"
  same pg-di 'idx_user t_order' "$(p '\di' | awk '/idx_user/ { print $2, $5 }')"
  local described; described=$(d t_order)
  same pg-d-columns 'order_id user_id country' "$(sed -n 3,5p <<<"$described" | cut -d'|' -f1 | words)"
  for part in '"idx_user" btree (user_id)' '"t_order_pkey" PRIMARY KEY, btree (order_id)' \
    '"fk_country" FOREIGN KEY (country) REFERENCES t_country(code)' 'REFERENCES t_order(order_id)'; do
    check "pg-d-${part:1:8}" grep -qF -- "$part" <<<"$described"
  done
  check pg-d-of-the-second-unit grep -qF '"t_one_v_key" UNIQUE CONSTRAINT, btree (v)' <<<"$(d t_one)"
  check pg-d-of-a-part grep -q 'Did not find' <<<"$(d t_order_0)"
  same pg-regclass 't_order' "$(p "select 't_order'::regclass")"
  same pg-regclass-of-the-second-unit 'id v n' \
    "$(p "select attname from pg_attribute where attrelid = 't_one'::regclass and attnum > 0 order by attnum" | words)"
  same pg-comment 'orders of all' "$(p "select obj_description('t_order'::regclass, 'pg_class')")"
  same pg-information-schema "shop $(sed 's/ / shop /g' <<<"$all")" \
    "$(p "select table_catalog, table_name from information_schema.tables where table_schema = 'public' order by 2" | words)"
  same pg-counts 6 "$(p "select count(*) from pg_tables where schemaname = 'public'")"
  same pg-exists t "$(p "select exists (select 1 from pg_tables where tablename = 't_log')")"
  check pg-refusal grep -q 'stands in another' <<<"$(p "select (select count(*) from pg_tables)")"
  same pg-foreign-keys 'fk_country t_order t_country t_order_item_order_id_fkey t_order_item t_order' \
    "$(p "select conname, conrelid::regclass, confrelid::regclass from pg_constraint where contype = 'f' order by 1" | words)"
  same pg-three-parts 0 "$(p 'select count(*) from shop.public.t_order where shop.public.t_order.user_id = 1')"
  same pg-set-config Asia/Tokyo "$(psql_at "$postgres_port" shop -At -c "select set_config('timezone', 'Asia/Tokyo', false)" -c 'show timezone' | sort -u)"
}

# What pg_dump makes of the logical database is loaded into one plain server, which must then tell the same.
postgres_dump() {
  p "insert into t_country values ('de', 'x'); insert into t_one (v, n) values ('a', 1)" >/dev/null
  p "insert into t_order select a, b, 'de' from (values (1, 1), (2, 1), (3, 2), (4, 2)) v(a, b)" >/dev/null
  p 'create sequence s_own; create type mood as enum ($$a$$, $$b$$); create view v_one as select v from t_one' >/dev/null
  same pg-sequences 's_own t_one_id_seq t_order_item_item_id_seq' "$(p '\ds' | awk '{ print $2 }' | words)"
  PGPASSWORD=test pg_dump -h 127.0.0.1 -p "$postgres_port" -U test -d shop >"$work/dump.sql" 2>"$work/dump.err" &&
    [ ! -s "$work/dump.err" ] || { bad pg-dump "pg_dump complains" "$work/dump.err"; return; }
  ok pg-dump
  check pg-dump-names-no-part bash -c '! grep -E "t_(order|order_item|log)_[01]\b" "$1"' - "$work/dump.sql"
  local port; port=$(unit_port pg 0)
  check pg-dump-loads psql_at "$port" direct -f "$work/dump.sql"
  local ask='select o.order_id, o.user_id, c.name from t_order o join t_country c on c.code = o.country order by 1'
  same pg-dump-has-all "$(p "$ask")" "$(psql_at "$port" direct -At -F ' ' -c "$ask" 2>&1)"
}

# sum_of_units STATEMENT: what both storage units answer together.
sum_of_units() {
  local unit sum=0
  for unit in 0 1; do sum=$((sum + $(psql_at "$(unit_port pg $unit)" ds_$unit -At -c "$1"))); done
  echo $sum
}

# agree NAME STATEMENT SHOWN: what the storage units answer together is shown, once it has come to rest.
agree() {
  local theirs ours
  for _ in {1..50}; do
    theirs=$(sum_of_units "$2") ours=$(p "$3")
    [ "$theirs" != "$ours" ] || break
    sleep 0.1
  done
  same "$1" "$theirs" "$ours"
}

# Figures of a table are those of all its parts.
postgres_figures() {
  local parts="from pg_class where relname ~ '^t_order_[01]\$'" of
  p 'analyze t_order' >/dev/null
  for of in pg_relation_size pg_table_size pg_indexes_size pg_total_relation_size; do
    same $of "$(sum_of_units "select sum($of(oid)) $parts")" "$(p "select $of('t_order')")"
    same $of-by-number "$(sum_of_units "select sum($of(oid)) $parts")" "$(p "select $of(oid) from pg_class where relname = 't_order'")"
  done
  same pg-reltuples "4 $(sum_of_units "select sum(relpages) $parts")" "$(p "select reltuples, relpages from pg_class where relname = 't_order'")"
  same pg-reltuples-of-one-copy 1 "$(p "select reltuples from pg_class where relname = 't_country'" | sed s/-1/1/)"
  # Servers count these a while after the rows came.
  local live="select coalesce(sum(n_live_tup), 0) from pg_stat_user_tables where relname ~ '^t_order_[01]\$'"
  agree pg-n-live-tup "$live" "select n_live_tup from pg_stat_user_tables where relname = 't_order'"
  agree pg-stat-get-live-tuples "$live" "select pg_stat_get_live_tuples('t_order'::regclass)"
  same pg-size-of-the-second-unit "$(psql_at "$(unit_port pg 1)" ds_1 -At -c "select pg_table_size('t_one')")" "$(p "select pg_table_size('t_one')")"
  same pg-database-size "$(sum_of_units 'select pg_database_size(current_database())')" "$(p "select pg_database_size('shop')")"
  same pg-dt-plus "$(psql_at "$(unit_port pg 0)" ds_0 -At -c "select pg_size_pretty($(sum_of_units "select sum(pg_table_size(oid)) $parts")::bigint)")" \
    "$(psql_at "$postgres_port" shop -At -c '\dt+ t_order' | cut -d'|' -f7)"
}

# --- MySQL and MariaDB ---------------------------------------------------------------------------------------------------

m() { mysql_at "$mysql_port" "${2:-shop}" -N -B -e "$1" 2>&1; }

mysql_tables() {
  mysql_at "$mysql_port" shop <<'S'
create table t_country (code varchar(2) primary key, name text not null);
create table t_order (order_id bigint primary key, user_id int not null, country varchar(2), key idx_user (user_id),
  constraint fk_country foreign key (country) references t_country (code)) comment = 'orders of all';
create table t_order_item (item_id bigint primary key, order_id bigint, user_id int, foreign key (order_id) references t_order (order_id));
create table t_log (id int primary key, line text);
create table t_one (id int primary key auto_increment, v varchar(20) unique, n int);
create table t_two (id int primary key, one text);
S
}

mysql_answers() {
  local f=$1
  same "$f-tables" "$all" "$(m 'show tables' | words)"
  same "$f-tables-like" 't_order t_order_item' "$(m "show tables from shop like 't\\_order%'" | words)"
  same "$f-tables-where" 't_log BASE TABLE' "$(m "show full tables where tables_in_shop = 't_log'" | words)"
  same "$f-label" 'Tables_in_shop (t_l%)' "$(mysql_at "$mysql_port" shop -B -e "show tables like 't_l%'" | head -1)"
  same "$f-databases" shop "$(m 'show databases' | grep -vE '^(information_schema|mysql|performance_schema|sys)$' | words)"
  same "$f-describe" 'order_id user_id country' "$(m 'describe shop.t_order' | first_words)"
  same "$f-columns" 'id v n' "$(m 'show full columns from t_one from shop' | first_words)"
  same "$f-index" 't_order PRIMARY t_order idx_user t_order fk_country' "$(m 'show index from t_order' | awk '{ print $1, $3 }' | words)"
  local made; made=$(m 'show create table t_order_item')
  check "$f-create-table" grep -q '^t_order_item.CREATE TABLE `t_order_item` (' <<<"$made"
  check "$f-create-table-keys" grep -qF 'CONSTRAINT `t_order_item_ibfk_1` FOREIGN KEY (`order_id`) REFERENCES `t_order` (`order_id`)' <<<"$made"
  check "$f-create-database" grep -q '^shop.CREATE DATABASE `shop` ' <<<"$(m 'show create database shop')"
  same "$f-status" "$all" "$(m 'show table status' | first_words)"
  same "$f-status-of-all-parts" 65536 "$(m "show table status like 't\\_order'" | cut -f7)"
  same "$f-data-length" '16384 32768 16384 65536 65536 16384' \
    "$(m 'select data_length from information_schema.tables where table_schema = database() order by table_name' | words)"
  same "$f-information-schema" "$all" "$(m 'select table_name from information_schema.tables where table_schema = database() order by 1' | words)"
  same "$f-keys" 'fk_country t_order t_country t_order_item_ibfk_1 t_order_item t_order' \
    "$(m "select constraint_name, table_name, referenced_table_name from information_schema.key_column_usage
          where table_schema = 'shop' and referenced_table_schema = 'shop' order by 1" | words)"
  same "$f-exists" 1 "$(m "select exists (select 1 from information_schema.tables where table_name = 't_one')")"
  same "$f-qualified" 0 "$(m 'select count(*) from shop.t_order where shop.t_order.user_id = 1')"
  check "$f-no-such-table" grep -q 'ERROR 1146' <<<"$(m 'describe t_nothing')"
  check "$f-no-such-database" grep -q 'ERROR 1049' <<<"$(m 'show tables from nothing')"
  same "$f-without-a-database" "$all" "$(mariadb --no-defaults --skip-ssl -h 127.0.0.1 -P "$mysql_port" -u test -ptest -N -B -e 'show tables from shop' | words)"
  same "$f-grants-tell-no-password" 0 "$(m 'show grants' | grep -c PASSWORD)"
}

# registered FAMILY TITLE: what a column is called in a session that was there before the database had a storage unit, whose server told its version.
registered() {
  local port; port=$(unit_port "$1" 1)
  pando_start --data "$work/data-$1"
  same "$1-label-of-a-unit-registered-since" "$2" "$(mysql_at "$mysql_port" shop -B -e "create database since; use since;
    register storage unit own (HOST='127.0.0.1', PORT=$port, DB='ds_1', USER='test', PASSWORD='test');
    select table_name from information_schema.tables where table_schema = database() limit 1" 2>&1 | head -1)"
  pando_stop "$1-registered-stop"
}

for family in pg mariadb mysql; do
  has $family || { skip "$family" "no server"; continue; }
  reset $family >"$work/reset.log" 2>&1 || { bad "$family-reset" "the databases cannot be emptied" "$work/reset.log"; continue; }
  rules | write_config $family shop
  pando_start
  if [ $family = pg ]; then
    check pg-create postgres_tables && { postgres_answers; postgres_dump; postgres_figures; }
  else
    check $family-create mysql_tables && mysql_answers $family
  fi
  pando_stop $family-stop
  case $family in
  mariadb) registered $family table_name ;;
  mysql) registered $family TABLE_NAME ;;
  esac
done
