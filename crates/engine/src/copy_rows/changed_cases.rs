//! Statements, what a client sends, and what is sent on where a column is turned. Each is read again by the same rules.

use std::sync::Arc;

use bytes::Bytes;
use pando_fake::{BACKTICK, STANDARD};
use pando_kernel::changes::{Turn, TurnedField, ValueMap};
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::{Column, Columns, Kind as ColumnKind, NeutralCodec, Value};
use pando_sql::ast::Kind;
use pando_sql::parse;

use super::{Changed, FieldChanges, MAX_RECORD, Records};

/// Texts that become others.
#[derive(Debug)]
struct Map(fn(&str) -> Value);

impl ValueMap for Map {
    #[expect(clippy::wildcard_enum_match_arm, reason = "lines have no other values")]
    fn turned(&self, value: &Value) -> Result<Value> {
        match value {
            Value::Text(text) if text == "never" => {
                Err(ErrorKind::Value("never can be stored".into()).into())
            }
            Value::Text(text) => Ok((self.0)(text)),
            other => panic!("{other:?}"),
        }
    }
}

/// Itself, in front of a mark.
fn marked(text: &str) -> Value {
    Value::Text(format!("{text}!"))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only two statements carry bulk data")]
fn records(statement: &str) -> Records {
    let syntax = if statement.starts_with("COPY") { &STANDARD } else { &BACKTICK };
    match &parse(statement, syntax).unwrap().kind {
        Kind::Copy(copy) => Records::of_copy(copy).unwrap(),
        Kind::Load(load) => Records::of_load(load).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// The second of two fields is turned, and one follows it if there is a further map.
fn changes(map: fn(&str) -> Value, further: Option<fn(&str) -> Value>) -> FieldChanges {
    let field = |map, is_further| TurnedField { at: 1, turn: Turn(Arc::new(Map(map))), is_further };
    let further = further.map(|map| field(map, true));
    let fields: Vec<TurnedField> = [field(map, false)].into_iter().chain(further).collect();
    FieldChanges::stored(&fields, vec!["id".into(), "secret".into()])
}

/// All records as they are sent on.
fn sent(statement: &str, data: &[u8], changes: &FieldChanges) -> Result<Vec<u8>> {
    let mut records = records(statement);
    records.check_writable()?;
    records.push(&Bytes::copy_from_slice(data));
    let mut out = Vec::new();
    while let Some(record) = records.next(true)? {
        match records.changed(&record, changes)? {
            Changed::Record(record) => out.extend_from_slice(&record),
            Changed::Miscounted(count) => {
                return Err(ErrorKind::Value(format!("{count} fields")).into());
            }
        }
    }
    Ok(out)
}

fn check(statement: &str, data: &str, expected: &str) {
    let sent = sent(statement, data.as_bytes(), &changes(marked, None)).unwrap();
    assert_eq!(String::from_utf8_lossy(&sent), expected, "{statement} {data:?}");
}

/// What the second field of the one line is read as, once it has become this.
fn read_again(statement: &str, line: &str, map: fn(&str) -> Value) -> Result<Value> {
    let sent = sent(statement, line.as_bytes(), &changes(map, None))?;
    let mut records = records(statement);
    records.push(&sent.into());
    let record = records.next(true)?.unwrap();
    let fields = records.fields(&record, None)?;
    assert_eq!(records.next(true)?, None);
    assert_eq!(fields.len(), 2, "{statement} {record:?}");
    Ok(fields[1].clone())
}

const TEXT: &str = "COPY t FROM STDIN";
const CSV: &str = "COPY t FROM STDIN (FORMAT csv)";
const LOAD: &str = "LOAD DATA LOCAL INFILE 'f' INTO TABLE t";
const QUOTED: &str =
    "LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS TERMINATED BY ',' ENCLOSED BY '\"'";

#[test]
fn all_other_fields_keep_their_bytes() {
    check(TEXT, "\\x41\\1\ta\n\\N\tb\n", "\\x41\\1\ta!\n\\N\tb!\n");
    check(TEXT, "1\ta\r\n2\tb\r\n", "1\ta!\r\n2\tb!\r\n");
    check(CSV, "\"1\",a\n1\"x\"2,\"b\"\n", "\"1\",a!\n1\"x\"2,b!\n");
    check(LOAD, "\\1\ta\n\\N\tb\n", "\\1\ta!\n\\N\tb!\n");
    check(QUOTED, "\"1\",a\n1\"x,\"b\"\n", "\"1\",\"a!\"\n1\"x,\"b!\"\n");
}

#[test]
fn null_stays_as_it_stands() {
    check(TEXT, "1\t\\N\n", "1\t\\N\n");
    check("COPY t FROM STDIN (NULL 'nil')", "1\tnil\n", "1\tnil\n");
    check(CSV, "1,\n2,\"\"\n", "1,\n2,!\n");
    check(LOAD, "1\t\\N\n", "1\t\\N\n");
    check(QUOTED, "1,NULL\n2,\"NULL\"\n3,\\N\n", "1,NULL\n2,\"NULL!\"\n3,\\N\n");
}

#[test]
fn what_ends_with_the_data_only_ends_with_its_line() {
    check(TEXT, "1\ta", "1\ta!\n");
    check(TEXT, "1\ta\\", "1\ta!\n");
    check(TEXT, "1\t", "1\t!\n");
    check(CSV, "1,\"a\"", "1,a!\n");
    check(QUOTED, "1,\"a", "1,\"\"\"a!\"\n");
    check(LOAD, "1\ta\\", "1\ta\\\\!\n");
    let reversed = "COPY t (secret, id) FROM STDIN";
    let field = TurnedField { at: 0, turn: Turn(Arc::new(Map(marked))), is_further: false };
    let changes = FieldChanges::stored(&[field], vec!["secret".into(), "id".into()]);
    assert_eq!(sent(reversed, b"a\t1\\", &changes).unwrap(), b"a!\t1\\");
}

#[test]
fn a_field_that_becomes_several_is_followed_by_them() {
    let changes = changes(marked, Some(|text| Value::Text(text.repeat(2))));
    let check = |statement: &str, data: &str, expected: &str| {
        let sent = sent(statement, data.as_bytes(), &changes).unwrap();
        assert_eq!(String::from_utf8_lossy(&sent), expected, "{statement} {data:?}");
    };
    check(TEXT, "1\ta\\tb\n2\t\\N\n", "1\ta\\tb!\ta\\tba\\tb\n2\t\\N\t\\N\n");
    check(CSV, "1,\"a,\"\n2,\n", "1,\"a,!\",\"a,a,\"\n2,,\n");
    check(QUOTED, "1,a\n2,NULL\n", "1,\"a!\",\"aa\"\n2,NULL,NULL\n");
    assert_eq!((changes.come(), changes.go()), (2, 3));
}

#[test]
fn every_value_is_read_again_as_what_it_was() {
    let all: [fn(&str) -> Value; 12] = [
        |_| Value::Text(String::new()),
        |_| Value::Text("\\N".into()),
        |_| Value::Text("NULL".into()),
        |_| Value::Text("nil".into()),
        |_| Value::Text("\\.".into()),
        |_| Value::Text("a\tb\nc\rd\\e\"f'g,h;i|j".into()),
        |_| Value::Text("\"".into()),
        |_| Value::Text("\\\"\\".into()),
        |_| Value::Text("\u{0}\u{8}\u{b}\u{c}\u{1a}\u{7f}".into()),
        |_| Value::Text("ä€😀".into()),
        |_| Value::Text("  blank  ".into()),
        |_| Value::Null,
    ];
    let statements = [
        (TEXT, "1\tx\n"),
        ("COPY t FROM STDIN (NULL 'nil', DELIMITER '|')", "1|x\n"),
        ("COPY t FROM STDIN (NULL '\\\\N')", "1\tx\n"),
        (CSV, "1,x\n"),
        (
            "COPY t FROM STDIN (FORMAT csv, DELIMITER ';', QUOTE '''', ESCAPE '\\', NULL 'nil')",
            "1;x\n",
        ),
        (LOAD, "1\tx\n"),
        (QUOTED, "1,x\n"),
        (
            "LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS TERMINATED BY '||' LINES TERMINATED BY '\\r\\n'",
            "1||x\r\n",
        ),
        ("LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS ENCLOSED BY '\"' ESCAPED BY ''", "1\tx\n"),
        (
            "LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS ENCLOSED BY '\"' ESCAPED BY '\"'",
            "1\tx\n",
        ),
        (
            "LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS ESCAPED BY '|' LINES STARTING BY '>'",
            ">1\tx\n",
        ),
    ];
    for (statement, line) in statements {
        for map in all {
            let again = read_again(statement, line, map);
            let again = again.unwrap_or_else(|error| panic!("{statement} {:?}: {error}", map("")));
            assert_eq!(again, map(""), "{statement}");
        }
    }
}

#[test]
fn a_value_has_the_text_that_a_server_reads_it_from() {
    let check = |statement: &str, map: fn(&str) -> Value, expected: &str| {
        let line = if statement == CSV { "1,x\n" } else { "1\tx\n" };
        assert_eq!(read_again(statement, line, map).unwrap(), Value::Text(expected.into()));
    };
    check(TEXT, |_| Value::Bool(true), "t");
    check(LOAD, |_| Value::Bool(true), "1");
    check(TEXT, |_| Value::Int(-7), "-7");
    check(CSV, |_| Value::Float(1.5), "1.5");
    check(LOAD, |_| Value::decimal("1e3").unwrap(), "1000");
    check(TEXT, |_| Value::Bytes(b"\x00\xff\\".as_slice().into()), "\\x00ff5c");
    check(LOAD, |_| Value::Bytes(b"a\tb\\".as_slice().into()), "a\tb\\");
}

#[test]
fn latin1_is_written_as_such_or_not_at_all() {
    let latin1 = "LOAD DATA LOCAL INFILE 'f' INTO TABLE t CHARACTER SET latin1";
    let turned = |map| sent(latin1, b"1\t\xE4\n", &changes(map, None));
    assert_eq!(turned(marked).unwrap(), b"1\t\xE4!\n");
    assert!(turned(|_| Value::Text("\u{3b1}".into())).is_err());
    assert_eq!(turned(|_| Value::Bytes(b"\xff".as_slice().into())).unwrap(), b"1\t\xff\n");
    let utf8 = sent(LOAD, b"1\tx\n", &changes(|_| Value::Bytes(b"\xff".as_slice().into()), None));
    assert!(utf8.is_err());
}

#[test]
fn what_cannot_be_written_is_an_error_that_names_its_column() {
    let refused = |statement: &str, map: fn(&str) -> Value, data: &[u8], message: &str| {
        let error = sent(statement, data, &changes(map, None)).expect_err(statement).to_string();
        assert!(error.contains(message), "{statement}: {error}");
    };
    let unwritable = "column `secret`: a value cannot be written";
    refused(TEXT, marked, b"1\tnever\n", "column `secret`: never can be stored");
    refused(TEXT, marked, b"1\t\xff\n", "column `secret`: bulk data is not UTF-8");
    refused(TEXT, marked, b"1\n", "1 fields");
    refused(TEXT, marked, b"1\ta\tb\n", "3 fields");
    refused(CSV, marked, b"1,\"a\n", "unterminated CSV quoted field");
    refused("COPY t FROM STDIN (NULL '')", |_| Value::Text(String::new()), b"1\tx\n", unwritable);
    let bare = "LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS ESCAPED BY ''";
    refused(bare, |_| Value::Text("a\tb".into()), b"1\tx\n", unwritable);
    refused(bare, |_| Value::Null, b"1\tx\n", unwritable);
    refused("COPY t FROM STDIN (HEADER match)", marked, b"", "header");
    let letter = "LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS ESCAPED BY 'n'";
    refused(letter, marked, b"", "letters for marks");
    let long = |_: &str| Value::Text("x".repeat(MAX_RECORD));
    refused(TEXT, long, b"1\tx\n", "exceeds 64 MiB");
}

/// A tuple of the binary form.
fn tuple(fields: &[Option<&[u8]>]) -> Vec<u8> {
    let mut out = u16::try_from(fields.len()).unwrap().to_be_bytes().to_vec();
    for field in fields {
        let length = field.map_or(-1, |field| i32::try_from(field.len()).unwrap());
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(field.unwrap_or_default());
    }
    out
}

#[test]
fn fields_of_tuples_are_read_and_written_by_their_types() {
    let columns = |kinds: &[ColumnKind]| Columns {
        list: kinds.iter().map(|kind| Column::computed("c", *kind)).collect(),
        codec: Arc::new(NeutralCodec),
    };
    let text = ColumnKind::Text;
    let both = |map: fn(&str) -> Value, further: Option<fn(&str) -> Value>| {
        let stored = columns(&[text, text, text]);
        changes(map, further).with_types(columns(&[text, text]), stored)
    };
    let changed = |tuple: &[u8], changes: &FieldChanges| {
        records("COPY t FROM STDIN (FORMAT binary)").changed(tuple, changes)
    };
    // The neutral form has a byte in front that says what it is.
    let written = |value: &str| {
        let mut out = bytes::BytesMut::new();
        let value = Value::Text(value.into());
        let list = [Column::computed("c", text)];
        pando_kernel::RowCodec::write(
            &NeutralCodec,
            &list,
            &[pando_kernel::Cell::Value(&value)],
            &mut out,
        )
        .unwrap();
        let mut fields = Vec::new();
        pando_kernel::RowCodec::fields(&NeutralCodec, &list, &out[4..], &mut fields).unwrap();
        out[4..][fields[0].clone().unwrap()].to_vec()
    };
    let one = both(marked, None);
    let own = tuple(&[Some(b"\xff\0"), Some(&written("a"))]);
    let expected = tuple(&[Some(b"\xff\0"), Some(&written("a!"))]);
    assert_eq!(changed(&own, &one).unwrap(), Changed::Record(expected.into()));
    let two = both(marked, Some(|_| Value::Null));
    let expected = tuple(&[Some(b"\xff\0"), Some(&written("a!")), None]);
    assert_eq!(changed(&own, &two).unwrap(), Changed::Record(expected.into()));
    let null = tuple(&[None, None]);
    let expected = tuple(&[None, None, None]);
    assert_eq!(changed(&null, &two).unwrap(), Changed::Record(expected.into()));
    assert_eq!(changed(&tuple(&[None]), &one).unwrap(), Changed::Miscounted(1));
    let never = tuple(&[None, Some(&written("never"))]);
    let error = changed(&never, &one).unwrap_err().to_string();
    assert!(error.contains("column `secret`: never can be stored"), "{error}");
    let long = |_: &str| Value::Text("x".repeat(MAX_RECORD));
    assert!(changed(&own, &both(long, None)).is_err());
    for cut in 2..own.len() {
        assert!(changed(&own[..cut], &one).is_err(), "cut at {cut}");
    }
}
