//! Statements, what a client sends, and what must be read of it. What a server reads stands in its manual and was tried there.

use bytes::Bytes;
use pando_fake::{BACKTICK, STANDARD};
use pando_kernel::Value;
use pando_kernel::error::Result;
use pando_sql::ast::Kind;
use pando_sql::parse;

use super::Records;

/// What one statement's data comes to.
#[derive(Debug, Default, PartialEq)]
struct Read {
    /// The records as they are sent on.
    lines: Vec<String>,
    /// Their fields, NULL as `-`.
    fields: Vec<Vec<String>>,
    /// What every batch begins with.
    head: String,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only two statements carry bulk data")]
fn records(statement: &str) -> Result<Records> {
    let syntax = if statement.starts_with("COPY") { &STANDARD } else { &BACKTICK };
    match &parse(statement, syntax).unwrap().kind {
        Kind::Copy(copy) => Records::of_copy(copy),
        Kind::Load(load) => Records::of_load(load),
        other => panic!("{other:?}"),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "lines have no other values")]
fn show(value: Value) -> String {
    match value {
        Value::Text(text) => text,
        Value::Null => "-".to_owned(),
        value => format!("{value:?}"),
    }
}

/// The data, in pieces of that many bytes.
fn read(statement: &str, data: &[u8], step: usize) -> Result<Read> {
    let mut records = records(statement)?;
    let mut out = Read::default();
    let mut take = |records: &mut Records, last| -> Result<()> {
        while let Some(record) = records.next(last)? {
            let fields = records.fields(&record, None)?;
            out.fields.push(fields.into_iter().map(show).collect());
            out.lines.push(String::from_utf8_lossy(&record).into_owned());
        }
        Ok(())
    };
    for piece in data.chunks(step) {
        records.push(&Bytes::copy_from_slice(piece));
        take(&mut records, false)?;
    }
    take(&mut records, true)?;
    out.head = String::from_utf8_lossy(&records.frame().0).into_owned();
    Ok(out)
}

/// However the data is cut, its records have these fields.
fn check(statement: &str, data: &str, expected: &[&[&str]]) {
    for step in [1, 2, 3, 5, 1 << 20] {
        let fields = read(statement, data.as_bytes(), step).map(|read| read.fields);
        let fields = fields.unwrap_or_else(|error| panic!("{statement} {data:?}: {error}"));
        assert_eq!(fields, expected, "{statement} {data:?} in steps of {step}");
    }
}

/// However the data is cut, it is refused in these words.
fn refused(statement: &str, data: &str, message: &str) {
    for step in [1, 2, 3, 5, 1 << 20] {
        let error = read(statement, data.as_bytes(), step).expect_err(data).to_string();
        assert!(error.contains(message), "{statement} {data:?}: {error}");
    }
}

const TEXT: &str = "COPY t FROM STDIN";
const CSV: &str = "COPY t FROM STDIN (FORMAT csv)";
const LOAD: &str = "LOAD DATA LOCAL INFILE 'f' INTO TABLE t";

#[test]
fn escapes_of_copy_are_letters_and_octal_and_hexadecimal_numbers() {
    check(TEXT, "\\b\\f\\n\\r\\t\\v\\\\\\q\n", &[&["\u{8}\u{c}\n\r\t\u{b}\\q"]]);
    check(TEXT, "\\61\\062\t\\1011\\x41\\x4a4\n", &[&["12", "A1AJ4"]]);
    check(TEXT, "\\x\\xg\\303\\244\t\\0\n", &[&["xxgä", "\0"]]);
}

#[test]
fn null_of_copy_is_what_stands_there_raw() {
    check(TEXT, "\\N\t\\\\N\tN\n", &[&["-", "\\N", "N"]]);
    check("COPY t FROM STDIN (NULL 'x')", "x\t\\x78\t\\N\n", &[&["-", "x", "N"]]);
    check(CSV, ",\"\",x\n", &[&["-", "", "x"]]);
}

#[test]
fn an_escaped_line_end_belongs_to_its_field() {
    check(TEXT, "1\ta\\\nb\\tc\n", &[&["1", "a\nb\tc"]]);
    check(LOAD, "1\ta\\\nb\\tc\n", &[&["1", "a\nb\tc"]]);
}

#[test]
fn an_escape_of_csv_counts_before_quotes_and_itself_only() {
    let escape = "COPY t FROM STDIN (FORMAT csv, ESCAPE '\\')";
    check(escape, "\"a\\\"b\\\\c\\nd\",\\\"\"\n", &[&["a\"b\\c\\nd", "\\"]]);
    // A doubled quote ends the quotes and opens them again.
    check(escape, "\"a\"\"b\",c\n", &[&["ab", "c"]]);
    check(CSV, "\"a\"\"b\nc\",d\"e,\"f\n", &[&["a\"b\nc", "de,f"]]);
    refused(CSV, "1,\"a\n", "unterminated CSV quoted field");
}

#[test]
fn escapes_of_load_data_are_six_letters() {
    check(LOAD, "\\0\\b\\n\\r\\t\\Z\n", &[&["\0\u{8}\n\r\t\u{1a}"]]);
    check(LOAD, "\\f\\v\\x41\\101\\\\\t\\N\ta\\N\n", &[&["fvx41101\\", "-", "aN"]]);
    check(LOAD, "1\ta\r\n", &[&["1", "a\r"]]);
}

#[test]
fn load_data_says_in_which_letters_its_file_is() {
    let of = |charset: &str| {
        LOAD.replace("INTO TABLE t", &format!("INTO TABLE t CHARACTER SET {charset}"))
    };
    check(&of("utf8mb4"), "ä\t€\n", &[&["ä", "€"]]);
    check(&of("latin1"), "ä\n", &[&["Ã¤"]]);
    let read = read(&of("LATIN1"), b"\xE4\t\x80\n", 1).unwrap();
    assert_eq!(read.fields, [["ä", "€"]]);
    refused(&of("gbk"), "1\n", "LOAD DATA in character set `gbk`");
}

#[test]
fn a_word_is_null_in_load_data_with_quotes() {
    let quoted = &format!("{LOAD} FIELDS TERMINATED BY ',' ENCLOSED BY '\"'");
    check(quoted, "NULL,\"NULL\",\\N,\"\\N\"\n", &[&["-", "NULL", "-", "-"]]);
    check(LOAD, "NULL\n", &[&["NULL"]]);
    let plain = &format!("{LOAD} FIELDS ESCAPED BY ''");
    check(plain, "NULL\t\\N\n", &[&["NULL", "\\N"]]);
}

#[test]
fn quotes_of_load_data_open_at_a_fields_beginning_and_close_at_its_end() {
    let quoted = &format!("{LOAD} FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"'");
    check(quoted, "1,5\" pipe\n2,\"a,\nb\"\n", &[&["1", "5\" pipe"], &["2", "a,\nb"]]);
    check(quoted, "\"a\"\"b\"c\",\"d\\\"\"\n", &[&["a\"b\"c", "d\""]]);
    check(quoted, "\"a\nb", &[&["\"a\nb"]]);
    let same = &format!("{quoted} ESCAPED BY '\"'");
    check(same, "\"fie\"\"ld1\",\"2\"\n", &[&["fie\"ld1", "2"]]);
}

#[test]
fn quotes_mean_nothing_in_lines_load_data_skips() {
    let skips = &format!("{LOAD} FIELDS TERMINATED BY ',' ENCLOSED BY '\"' IGNORE 1 LINES");
    check(skips, "\"id,x\n1,\"a\"\n", &[&["1", "a"]]);
    check(skips, "id\\\nx\n1,a\n", &[&["1", "a"]]);
    assert_eq!(read(skips, b"a\n1,b\n", 9).unwrap().head, "\n");
}

#[test]
fn load_data_passes_over_what_stands_before_a_lines_prefix() {
    let prefixed = &format!("{LOAD} FIELDS TERMINATED BY ',' LINES STARTING BY 'xxx'");
    check(
        prefixed,
        "xxx1,a\nsome\\xxx2,b\n\"3\n4,c\nxxxx5\n",
        &[&["1", "a"], &["2", "b"], &["x5"]],
    );
    check(prefixed, "nothing\nxx", &[]);
    check(prefixed, "xxx1\nxxx", &[&["1"]]);
}

#[test]
fn a_longer_line_end_is_one_from_its_first_byte() {
    let windows = &format!("{LOAD} LINES TERMINATED BY '\\r\\n'");
    check(windows, "1\ta\\\r\nb\rc\r\n2\td", &[&["1", "a\r\nb\rc"], &["2", "d"]]);
    let longer = &format!("{LOAD} FIELDS TERMINATED BY ',' LINES TERMINATED BY ',;'");
    check(longer, "1,2,;3,4,;", &[&["1", "2"], &["3", "4"]]);
}

#[test]
fn the_first_lines_end_is_that_of_all_lines_of_copy() {
    for end in ["\n", "\r\n", "\r"] {
        let data = format!("id,x{end}1,a{end}2,\"b\r\n\"{end}3,c");
        let header = "COPY t FROM STDIN (FORMAT csv, HEADER)";
        check(header, &data, &[&["1", "a"], &["2", "b\r\n"], &["3", "c"]]);
        let read = read(header, data.as_bytes(), 4).unwrap();
        assert_eq!(read.head, end);
        assert_eq!(read.lines[0], format!("1,a{end}"));
        assert_eq!(read.lines[2], format!("3,c{end}"));
    }
    refused(TEXT, "1\n2\r\n", "literal carriage return found in data");
    refused(TEXT, "1\r\n2\n", "literal newline found in data");
    refused(CSV, "1\r\n2\r3\r\n", "unquoted carriage return found in data");
    refused(CSV, "1\r2\n", "unquoted newline found in data");
}

#[test]
fn what_breaks_off_gets_no_line_end() {
    let last = |statement: &str, data: &[u8]| read(statement, data, 9).unwrap().lines.pop();
    assert_eq!(last(TEXT, b"1\t2").as_deref(), Some("1\t2\n"));
    assert_eq!(last(TEXT, b"1\t2\\").as_deref(), Some("1\t2\\"));
    let quoted = format!("{LOAD} FIELDS ENCLOSED BY '\"'");
    assert_eq!(last(&quoted, b"\"1").as_deref(), Some("\"1"));
    assert_eq!(last(&quoted, b"\"1\"").as_deref(), Some("\"1\"\n"));
}

#[test]
fn the_end_mark_ends_copy_and_stands_alone() {
    for end in ["\n", "\r\n", ""] {
        check(TEXT, &format!("1{}\\.{end}", if end.is_empty() { "\n" } else { end }), &[&["1"]]);
    }
    check(TEXT, "1\n\\.\nrubbish\n", &[&["1"]]);
    check(CSV, "1\n\\.\nrubbish\n", &[&["1"]]);
    check(CSV, "a\\.\n\\.b\n", &[&["a\\."], &["\\.b"]]);
    refused(TEXT, "1\\.\n2\n", "end-of-copy marker is not alone on its line");
    refused(TEXT, "\\.1\n2\n", "end-of-copy marker corrupt");
    check(LOAD, "\\.\n", &[&["."]]);
}

#[test]
fn what_cannot_be_read_here_is_refused_before_it_comes() {
    let message = |statement: &str| records(statement).expect_err(statement).to_string();
    assert!(message("COPY t FROM STDIN (DEFAULT 'd')").contains("the COPY option `default`"));
    let same = format!("{LOAD} FIELDS TERMINATED BY ';' LINES TERMINATED BY ';'");
    assert!(message(&same).contains("fields and lines end alike"));
}
