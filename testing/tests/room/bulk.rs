//! Bulk data: the units hold the column from behind, whatever the form in which lines bring it, and lines tell it as
//! clients mean it.

use pando_kernel::Value;
use pando_kernel::error::ErrorKind;

use crate::house::{Family, House};
use crate::turning::{STORED, UNSTORABLE};
use crate::{Failures, each, shown};

/// Tables over two shards, on one unit, and the same on all; with the units that have them.
const PLACES: [(&str, &[usize], bool); 3] =
    [("room_t", &[0, 1], false), ("room_s", &[0], false), ("room_b", &[0, 1, 2], true)];

/// A COPY or LOAD DATA, `{t}` for its table, and what the client sends.
type Bulk = (&'static str, &'static [u8]);

/// What no server has to be asked for: a stream of the binary form.
fn binary(rows: &[&[Option<&[u8]>]]) -> Vec<u8> {
    let mut out = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec();
    for row in rows {
        out.extend_from_slice(&u16::try_from(row.len()).unwrap().to_be_bytes());
        for field in *row {
            let length = field.map_or(-1, |field| i32::try_from(field.len()).unwrap());
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(field.unwrap_or_default());
        }
    }
    out.extend_from_slice(&[0xff, 0xff]);
    out
}

const POSTGRES: &[Bulk] = &[
    ("COPY {t} FROM STDIN", b"1\tab\tone\n2\t\\N\t\\N\n3\t\tt\\tab\n4\ta\\tb\\nc\\\\d\t\\\\N\n"),
    (
        "COPY {t} (id, secret) FROM STDIN",
        b"5\tx\\x41\\101y\n6\t\\N\n7\t\xc3\xa4\xe2\x82\xac\n8\tN\\\\\n",
    ),
    (
        "COPY {t} (note, secret, id) FROM STDIN (DELIMITER '|', NULL 'x')",
        b"x|yx|11\nn|x|12\nn|\\x78|13\n",
    ),
    ("COPY {t} (secret, id) FROM STDIN", b"last\t14\n\\N\t15"),
    ("COPY {t} (id, secret) FROM STDIN", b"16\tab\r\n17\tcd\r\n18\t\\\\\r\n"),
    ("COPY {t} (id, secret) FROM STDIN (NULL '')", b"19\tab\n20\t\n"),
    ("COPY {t} FROM STDIN (FORMAT csv)", b"21,ab,one\n22,,\n23,\"\",\"\"\n24,\"a,\"\"b\nc\",d\n"),
    (
        "COPY {t} (id, secret) FROM STDIN (FORMAT csv, HEADER)",
        b"id,whatever\n25,plain\n26,\"x\"y\n27,\\.\n",
    ),
    (
        "COPY {t} (secret, id) FROM STDIN (FORMAT csv, DELIMITER ';', QUOTE '''', ESCAPE '\\', NULL 'nil')",
        b"'a\\'b\\\\c';31\nnil;32\n'nil';33\nlin;34\n",
    ),
    ("COPY {t} (id, secret, note) FROM STDIN WHERE note = 'in'", b"41\tab\tin\n42\tcd\tout\n"),
    ("COPY {t} FROM STDIN WITH CSV QUOTE '\"'", b"43,\"dc\"\"\",\xc3\xa4\n"),
    ("COPY {t} FROM STDIN", b""),
    ("COPY {t} (id, secret) FROM STDIN", b"44\tab\n\\.\nrubbish"),
];

const MARIADB: &[Bulk] = &[
    ("LOAD DATA LOCAL INFILE 'f' INTO TABLE {t}", b"1\tab\tone\n2\t\\N\t\\N\n3\t\tx\n4\ta\\tb\\nc\\\\d\t\\\\N\n"),
    ("LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} (id, secret)", b"5\txy\n6\t\\N\n7\t\xc3\xa4\xe2\x82\xac\n8\tN\\\\\n9\tlast"),
    (
        "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} FIELDS TERMINATED BY ',' ENCLOSED BY '\"' (secret, id)",
        b"\"a,\"\"b\",11\nNULL,12\n\"NULL\",13\n\\N,14\nLLUN,15\n\"x\\\"y\",16\n\"two\nlines\",17\n",
    ),
    (
        "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} FIELDS TERMINATED BY ';' OPTIONALLY ENCLOSED BY '''' ESCAPED BY '' \
         LINES TERMINATED BY '\\r\\n' IGNORE 1 LINES (id, note, secret)",
        b"a;b;c\r\n21;x;'y''z'\r\n22;NULL;NULL\r\n23;'';a\\b\r\n",
    ),
    (
        "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} CHARACTER SET latin1 FIELDS TERMINATED BY '||' LINES STARTING BY '>' (id, secret)",
        b"rubbish>31||\xe4\x80|\nnothing\n>32||a\\|b\\||\n",
    ),
    ("LOAD DATA LOCAL INFILE 'f' REPLACE INTO TABLE {t} (id, secret)", b"1\tnew\n41\told\n41\tnewer\n"),
    ("LOAD DATA LOCAL INFILE 'f' INTO TABLE {t}", b""),
];

fn of(family: Family) -> &'static [Bulk] {
    match family {
        Family::Postgres => POSTGRES,
        Family::MariaDb => MARIADB,
    }
}

/// The rows without the room, as they are to be stored.
async fn expected(house: &House) -> Vec<Vec<Value>> {
    let mut rows = house.rows(3, "room_t").await;
    for row in &mut rows {
        if let Value::Text(text) = &mut row[1] {
            *text = text.chars().rev().collect();
        }
    }
    rows
}

/// What the units hold: of a table that is the same everywhere what each of them does.
async fn held(house: &House, place: (&str, &[usize], bool)) -> Vec<Vec<Vec<Value>>> {
    let (table, units, is_same) = place;
    let mut all = Vec::new();
    for unit in units {
        all.push(house.rows(*unit, table).await);
    }
    if !is_same {
        let mut rows: Vec<_> = all.concat();
        rows.sort_by_key(|row| format!("{:9?}", row[0]));
        all = vec![rows];
    }
    all
}

/// Nothing is in any of the tables.
async fn emptied(house: &mut House) {
    house.straight("DELETE FROM room_t").await.unwrap();
    for (table, ..) in PLACES {
        house.client.query(&format!("DELETE FROM {table}")).await.unwrap();
    }
}

async fn check_stored(house: &House, failures: &mut Failures, sql: &str) {
    let mut expected = expected(house).await;
    expected.sort_by_key(|row| format!("{:9?}", row[0]));
    for place in PLACES {
        for held in held(house, place).await {
            let mut held = held;
            held.sort_by_key(|row| format!("{:9?}", row[0]));
            failures.note(
                house,
                &format!("{} {sql}", place.0),
                (format!("{held:?}"), format!("{expected:?}")),
            );
        }
    }
}

#[test]
fn lines_are_stored_from_behind_and_told_as_they_were_sent() {
    each(async |house, failures| {
        emptied(house).await;
        for (sql, data) in of(house.family) {
            let straight = house.straight_bulk(&sql.replace("{t}", "room_t"), data).await;
            straight.unwrap_or_else(|error| panic!("{sql}: {error}"));
            for (table, ..) in PLACES {
                let sql = sql.replace("{t}", table);
                // A piece may end anywhere.
                let pieces: Vec<&[u8]> = data.chunks(3).collect();
                let told = shown(house.client.bulk(&sql, &pieces).await.map(|told| told.rows));
                failures.note(house, &sql, (told, "[]".to_owned()));
            }
            check_stored(house, failures, sql).await;
        }
        for (table, ..) in PLACES {
            let sql = format!("SELECT * FROM {table} ORDER BY id");
            let told = shown(house.client.query(&sql).await);
            let straight = shown(house.straight("SELECT * FROM room_t ORDER BY id").await);
            failures.note(house, &sql, (told, straight));
        }
    });
}

#[test]
fn tuples_of_the_binary_form_are_stored_from_behind() {
    each(async |house, failures| {
        if house.family != Family::Postgres {
            return;
        }
        emptied(house).await;
        let id = |id: i32| id.to_be_bytes();
        let all = binary(&[
            &[Some(&id(1)), Some(b"ab"), Some(b"one")],
            &[Some(&id(2)), None, None],
            &[Some(&id(3)), Some(b""), Some(b"\t\\N")],
            &[Some(&id(4)), Some("ä€\n".as_bytes()), None],
        ]);
        let some = binary(&[&[Some(b"xyz"), Some(&id(5))], &[None, Some(&id(6))]]);
        for (sql, data) in [
            ("COPY {t} FROM STDIN (FORMAT binary)", &all),
            ("COPY {t} (secret, id) FROM STDIN WITH BINARY", &some),
        ] {
            house.straight_bulk(&sql.replace("{t}", "room_t"), data).await.unwrap();
            for (table, ..) in PLACES {
                let pieces: Vec<&[u8]> = data.chunks(5).collect();
                let sql = sql.replace("{t}", table);
                let told = shown(house.client.bulk(&sql, &pieces).await.map(|told| told.rows));
                failures.note(house, &sql, (told, "[]".to_owned()));
            }
            check_stored(house, failures, sql).await;
        }
    });
}

/// Data that ends its statement, and what the error says.
const BAD: &[(Family, &str, &[u8], &str)] = &[
    (
        Family::Postgres,
        "COPY {t} (id, secret) FROM STDIN",
        b"101\tok\n102\tunstorable\n",
        "line 2 of the bulk data, column `secret`: `unstorable` cannot be stored",
    ),
    (
        Family::Postgres,
        "COPY {t} FROM STDIN (FORMAT csv)",
        b"101,ok,x\n102,unstorable,x\n",
        "line 2 of the bulk data, column `secret`: `unstorable` cannot be stored",
    ),
    (
        Family::Postgres,
        "COPY {t} (id, secret) FROM STDIN",
        b"101\tok\n102\n",
        "missing data for column \"secret\"",
    ),
    (
        Family::Postgres,
        "COPY {t} (id, secret) FROM STDIN",
        b"101\tok\n102\tok\tmore\n",
        "extra data after last expected column",
    ),
    (Family::Postgres, "COPY {t} (id, secret) FROM STDIN", b"101\tok\n102\t\xff\n", ""),
    (
        Family::Postgres,
        "COPY {t} (id, secret) FROM STDIN",
        b"101\tok\n102\tfar too long for its column\n",
        "too long",
    ),
    (
        Family::Postgres,
        "COPY {t} (id, secret) FROM STDIN (FORMAT csv)",
        b"101,ok\n102,\"open\n",
        "unterminated CSV quoted field",
    ),
    (
        Family::Postgres,
        "COPY {t} (id, secret) FROM STDIN (FORMAT binary)",
        b"101\tok\n",
        "COPY file signature not recognized",
    ),
    (
        Family::MariaDb,
        "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} (id, secret)",
        b"101\tok\n102\tunstorable\n",
        "line 2 of the bulk data, column `secret`: `unstorable` cannot be stored",
    ),
    (
        Family::MariaDb,
        "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} (id, secret)",
        b"101\tok\n102\n",
        "line 2 of the bulk data has 1 fields for 2 columns",
    ),
    (
        Family::MariaDb,
        "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} CHARACTER SET utf8mb4 (id, secret)",
        b"101\tok\n102\t\xff\n",
        "bulk data is not UTF-8",
    ),
];

#[test]
fn a_value_that_cannot_be_stored_ends_its_statement_and_nothing_of_it_is_kept() {
    each(async |house, failures| {
        emptied(house).await;
        let own = BAD.iter().filter(|(family, ..)| *family == house.family);
        for (_, sql, data, expected) in own {
            for (place, inside) in PLACES.into_iter().flat_map(|one| [(one, false), (one, true)]) {
                let sql = sql.replace("{t}", place.0);
                let before = format!("INSERT INTO {} (id, secret) VALUES (77, 'kept')", place.0);
                if inside {
                    house.client.query("BEGIN").await.unwrap();
                    house.client.query(&before).await.unwrap();
                }
                let told = house.client.bulk(&sql, &[data]).await;
                let error = told.map_or_else(|error| error.to_string(), |told| format!("{told:?}"));
                if !error.contains(expected) {
                    failures.note(house, &sql, (error, (*expected).to_owned()));
                }
                if inside {
                    house.client.query("ROLLBACK").await.unwrap();
                }
                let held = held(house, place).await.concat();
                failures.note(
                    house,
                    &format!("{sql} {inside}"),
                    (format!("{held:?}"), "[]".into()),
                );
                let alive =
                    shown(house.client.query("SELECT 1 AS one").await.map(|told| told.rows));
                failures.note(house, &sql, (alive, "[\"1\"]".to_owned()));
            }
        }
    });
}

#[test]
fn a_value_that_cannot_be_stored_behind_many_that_were_sent_takes_them_back() {
    each(async |house, failures| {
        emptied(house).await;
        let statement = match house.family {
            Family::Postgres => "COPY {t} (id, secret, note) FROM STDIN",
            Family::MariaDb => "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} (id, secret, note)",
        };
        // Several batches of each shard.
        let many: String =
            (1..30_000).map(|id| format!("{id}\tsecret {id}\tnote of {id}\n")).collect();
        for (last, count) in [(UNSTORABLE, 0), ("storable", 30_000)] {
            let data = format!("{many}30000\t{last}\tx\n");
            for place in PLACES {
                let sql = statement.replace("{t}", place.0);
                let pieces: Vec<&[u8]> = data.as_bytes().chunks(40_000).collect();
                let told = house.client.bulk(&sql, &pieces).await;
                let is_error = told.is_err_and(|error| matches!(error.kind(), ErrorKind::Value(_)));
                let held = held(house, place).await;
                let counts: Vec<usize> = held.iter().map(Vec::len).collect();
                let expected = (last == UNSTORABLE, vec![count; counts.len()]);
                let seen = format!("{:?}", (is_error, counts));
                failures.note(house, &format!("{sql} {last}"), (seen, format!("{expected:?}")));
            }
        }
        emptied(house).await;
    });
}

/// What tells lines, `{t}` for their table.
const TOLD: &[&str] = &[
    "COPY {t} TO STDOUT",
    "COPY {t} (id, secret) TO STDOUT",
    "COPY {t} (secret) TO STDOUT",
    "COPY {t} (secret, note, id) TO STDOUT (DELIMITER '|')",
    "COPY {t} TO STDOUT (HEADER)",
    "COPY {t} TO STDOUT (FORMAT csv)",
    "COPY {t} TO STDOUT (FORMAT csv, HEADER)",
    "COPY {t} (note, secret, id) TO STDOUT (FORMAT csv, HEADER, DELIMITER ';', QUOTE '''', FORCE_QUOTE *)",
    "COPY {t} (secret) TO STDOUT (FORMAT csv, NULL 'nil')",
    "COPY {t} (id, note) TO STDOUT (HEADER)",
];

const TOLD_IN_BINARY: &[&str] =
    &["COPY {t} TO STDOUT (FORMAT binary)", "COPY {t} (secret, id) TO STDOUT WITH BINARY"];

#[test]
fn lines_tell_the_column_as_clients_mean_it() {
    each(async |house, failures| {
        if house.family != Family::Postgres {
            return;
        }
        emptied(house).await;
        let rows: &[u8] = b"1\tab\tone\n2\t\\N\t\\N\n3\t\tx;y\n4\ta\\tb\\nc\\\\d\t\\\\N\n5\t\"q'\t|\n6\tlin\tlin\n7\t.\\\\\t\xc3\xa4\n8\t\\\\.\t\n";
        for is_empty in [true, false] {
            if !is_empty {
                house.straight_bulk("COPY room_t FROM STDIN", rows).await.unwrap();
                for (table, ..) in PLACES {
                    let sql = format!("COPY {table} FROM STDIN");
                    house.client.bulk(&sql, &[rows]).await.unwrap();
                }
            }
            for sql in TOLD.iter().chain(TOLD_IN_BINARY) {
                let straight = house.straight(&sql.replace("{t}", "room_t")).await.unwrap();
                for (table, ..) in PLACES {
                    let sql = sql.replace("{t}", table);
                    for _ in 0..2 {
                        let told = house.client.query(&sql).await;
                        let seen =
                            told.map_or_else(|e| e.to_string(), |told| lines(&sql, &told.bytes));
                        failures.note(house, &sql, (seen, lines(&sql, &straight.bytes)));
                    }
                }
            }
        }
    });
}

/// Lines in the order of their text, behind their header; of the binary form its tuples, and what is around them.
fn lines(sql: &str, bytes: &[u8]) -> String {
    let mut lines: Vec<String> = match sql.to_lowercase().contains("binary") {
        false => {
            let lines = bytes.split_inclusive(|byte| *byte == b'\n');
            lines.map(|line| String::from_utf8_lossy(line).into_owned()).collect()
        }
        true => tuples(bytes),
    };
    let head = usize::from(sql.contains("HEADER")).min(lines.len());
    lines[head..].sort();
    lines.concat()
}

/// The tuples of a stream, its header and its trailer.
fn tuples(bytes: &[u8]) -> Vec<String> {
    let (head, mut rest) = bytes.split_at(19);
    let mut all = vec![format!("{head:?}")];
    while let Some(count) = rest.first_chunk::<2>().map(|count| i16::from_be_bytes(*count)) {
        let mut at = 2;
        for _ in 0..count.max(0) {
            let length = i32::from_be_bytes(*rest[at..].first_chunk::<4>().unwrap());
            at += 4 + usize::try_from(length).unwrap_or(0);
        }
        all.push(format!("{:?}", &rest[..at]));
        rest = &rest[at..];
    }
    all
}

/// What is refused before anything is sent.
const REFUSED: &[(Family, &str)] = &[
    (Family::Postgres, "COPY {t} FROM '/tmp/room'"),
    (Family::Postgres, "COPY {t} FROM STDIN (HEADER match)"),
    (Family::Postgres, "COPY {t} FROM STDIN (FORMAT csv, FORCE_NULL (secret))"),
    (Family::Postgres, "COPY {t} (secret) FROM STDIN WHERE secret > 'a'"),
    (Family::Postgres, "COPY {t} TO STDOUT (NULL 'nil')"),
    (Family::MariaDb, "LOAD DATA INFILE '/tmp/room' INTO TABLE {t}"),
    (Family::MariaDb, "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} (id, @v) SET secret = UPPER(@v)"),
    (Family::MariaDb, "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} (id, secret) SET note = 'x'"),
    (Family::MariaDb, "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} (id) SET secret = UPPER('x')"),
    (Family::MariaDb, "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} CHARACTER SET gbk"),
    (Family::MariaDb, "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} FIELDS ESCAPED BY 'n'"),
    (Family::MariaDb, "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} FIELDS TERMINATED BY 'b'"),
    (Family::MariaDb, "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t} FIELDS TERMINATED BY ''"),
];

#[test]
fn a_form_that_cannot_be_written_is_refused_before_anything_is_sent() {
    each(async |house, failures| {
        for (_, sql) in REFUSED.iter().filter(|(family, _)| *family == house.family) {
            for (table, ..) in PLACES {
                let sql = sql.replace("{t}", table);
                let seen = match house.client.query(&sql).await {
                    Ok(told) => format!("{told:?}"),
                    Err(error) => match error.kind() {
                        ErrorKind::Refused { .. } => "refused".to_owned(),
                        _ => error.to_string(),
                    },
                };
                failures.note(house, &sql, (seen, "refused".to_owned()));
            }
        }
    });
}

#[test]
fn a_line_goes_where_its_client_s_value_of_the_turned_column_sends_it() {
    each(async |house, failures| {
        let sql = match house.family {
            Family::Postgres => "COPY room_k (secret, id) FROM STDIN",
            Family::MariaDb => "LOAD DATA LOCAL INFILE 'f' INTO TABLE room_k (secret, id)",
        };
        let data: String = (0..20).map(|id| format!("value {id}\t{id}\n")).collect();
        house.client.bulk(sql, &[data.as_bytes()]).await.unwrap();
        let held = [house.rows(0, "room_k").await, house.rows(1, "room_k").await];
        assert!(held.iter().all(|rows| !rows.is_empty()), "both shards have some: {held:?}");
        for id in 0..20 {
            // By the same value an INSERT is found.
            let (sql, expected) = (
                format!("SELECT id, secret FROM room_k WHERE secret = 'value {id}'"),
                format!("[\"{id} value {id}\"]"),
            );
            let told = house.client.query(&sql).await.map(|told| told.rows);
            failures.note(house, &sql, (shown(told), expected));
            let stored: String = format!("value {id}").chars().rev().collect();
            let row = vec![Value::Int(id), Value::Text(stored), Value::Null];
            assert!(held.concat().contains(&row), "{row:?}");
        }
    });
}

#[test]
fn a_table_that_computes_columns_is_copied_with_a_list() {
    each(async |house, failures| {
        let (bulk, told, list) = match house.family {
            Family::Postgres => {
                ("COPY room_s {l} FROM STDIN", "COPY room_s {l} TO STDOUT", "(secret, id)")
            }
            Family::MariaDb => {
                let sql = "LOAD DATA LOCAL INFILE 'f' INTO TABLE room_s {l}";
                (sql, "SELECT secret, id FROM room_s", "(secret, id)")
            }
        };
        house.alter(0, "DROP TABLE room_s").await;
        let create = format!(
            "CREATE TABLE room_s (made INT GENERATED ALWAYS AS (id + 1) STORED, id INT PRIMARY KEY, {STORED} VARCHAR(20), note VARCHAR(20))"
        );
        house.alter(0, &create).await;
        for sql in [bulk, told].into_iter().filter(|sql| sql.contains("{l}")) {
            let sql = sql.replace("{l}", "");
            let seen = match house.client.query(&sql).await {
                Err(error) if error.refusal().is_some() => "refused".to_owned(),
                other => shown(other),
            };
            failures.note(house, &sql, (seen, "refused".to_owned()));
        }
        let told_rows = house.client.bulk(&bulk.replace("{l}", list), &[b"ab\t1\n"]).await;
        failures.note(house, bulk, (shown(told_rows.map(|told| told.rows)), "[]".to_owned()));
        let held = format!("{:?}", house.rows(0, "room_s").await);
        failures.note(house, "held", (held, "[[Int(1), Text(\"ba\"), Null]]".to_owned()));
        let rows = house.client.query(&told.replace("{l}", list)).await.map(|told| told.rows);
        let expected = if told.contains("COPY") { "[\"ab\\t1\\n\"]" } else { "[\"ab 1\"]" };
        failures.note(house, told, (shown(rows), expected.to_owned()));
    });
}
