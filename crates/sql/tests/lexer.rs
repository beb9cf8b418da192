//! Tokens, digests, slots and hints, byte by byte.
#![allow(clippy::expect_used, clippy::panic, reason = "helpers of tests may panic like tests")]

mod common;

use common::{COLONS, COMMAS};
use pando_sql::ast::Literal;
use pando_sql::{Release, Settled, Syntax, TokenKind, Tokens, literal, settle, tokenize};

fn tokens(text: &str, syntax: &Syntax) -> Tokens {
    tokenize(text, syntax).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// One letter per kind, then the token's text.
fn shown(text: &str, syntax: &Syntax) -> String {
    let letter = |kind| match kind {
        TokenKind::Word => "w",
        TokenKind::QuotedIdentifier => "q",
        TokenKind::UnicodeIdentifier => "uq",
        TokenKind::Number => "n",
        TokenKind::String => "s",
        TokenKind::EscapeString => "es",
        TokenKind::UnicodeString => "us",
        TokenKind::NationalString => "ns",
        TokenKind::BitString => "bs",
        TokenKind::HexString => "xs",
        TokenKind::DollarString => "ds",
        TokenKind::Parameter => "p",
        TokenKind::Variable => "v",
        TokenKind::Operator => "o",
        TokenKind::Punctuation => "c",
        TokenKind::End => "end",
    };
    let list = tokens(text, syntax).list;
    let pieces: Vec<String> = list
        .iter()
        .map(|token| format!("{}:{}", letter(token.kind), token.span.of(text)))
        .collect();
    pieces.join(" ")
}

fn check(syntax: &Syntax, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(shown(text, syntax), *expected, "{text}");
    }
}

#[test]
fn words_and_names() {
    check(
        &COMMAS,
        &[
            ("", ""),
            (" \t\r\n\u{b}\u{c}", ""),
            ("a_1$ ä 日本", "w:a_1$ w:ä w:日本"),
            ("`a``b` `c d`", "q:`a``b` q:`c d`"),
            ("1abc 1e5 1e 2020_orders 0xZ 0x1g", "w:1abc n:1e5 w:1e w:2020_orders w:0xZ w:0x1g"),
            ("1e5x 1e+5x 0X41 0B1", "n:1e5 w:x n:1e+5 w:x w:0X41 w:0B1"),
            ("t.x'41' t.b'1' t.1e5", "w:t c:. w:x s:'41' w:t c:. w:b s:'1' w:t c:. w:1e5"),
            (r"t.n'\'' t.x'\''", r"w:t c:. w:n s:'\'' w:t c:. w:x s:'\''"),
            ("t.1 t.1a `t`.5", "w:t c:. w:1 w:t c:. w:1a q:`t` n:.5"),
            ("$a a$b", "w:$a w:a$b"),
            ("n'x' N 'x' nx'y'", "ns:n'x' w:N s:'x' w:nx s:'y'"),
            ("e'x' u&'x'", "w:e s:'x' w:u o:& s:'x'"),
            ("\\N", "w:\\N"),
        ],
    );
    check(
        &COLONS,
        &[
            ("a$1 A_b", "w:a$1 w:A_b"),
            ("\"a\"\"b\" U&\"d\\0061\" u&\"x\"", "q:\"a\"\"b\" uq:U&\"d\\0061\" uq:u&\"x\""),
            ("1abc t.1", "n:1 w:abc w:t c:. n:1"),
        ],
    );
}

#[test]
fn numbers() {
    check(
        &COMMAS,
        &[
            (
                "0 12 1.5 1. .5 1.5e3 1e-3 1E+3 2.e1",
                "n:0 n:12 n:1.5 n:1. n:.5 n:1.5e3 n:1e-3 n:1E+3 n:2.e1",
            ),
            ("0x1F 0b101 x'1F' b'1' X''", "xs:0x1F bs:0b101 xs:x'1F' bs:b'1' xs:X''"),
            ("x'41''42' X'41'\n'42'", "xs:x'41' s:'42' xs:X'41' s:'42'"),
            ("1-1 1+.5 a.b.c 1..2", "n:1 o:- n:1 n:1 o:+ n:.5 w:a c:. w:b c:. w:c n:1. n:.2"),
        ],
    );
    check(
        &COLONS,
        &[
            ("0x1F 0b11 0o17 1_000 1_000.5_5", "n:0x1F n:0b11 n:0o17 n:1_000 n:1_000.5_5"),
            ("X'1F' B'01'", "xs:X'1F' bs:B'01'"),
        ],
    );
}

#[test]
fn strings() {
    check(
        &COMMAS,
        &[
            (r"'a''b' 'a\'b' 'a\\' '\\\''", r"s:'a''b' s:'a\'b' s:'a\\' s:'\\\''"),
            (r#""a""b" "a\"b" "it's""#, r#"s:"a""b" s:"a\"b" s:"it's""#),
            ("'a' 'b'", "s:'a' s:'b'"),
            ("_utf8'x' _binary X'00'", "w:_utf8 s:'x' w:_binary xs:X'00'"),
            ("'-- x' '/* x */' '#'", "s:'-- x' s:'/* x */' s:'#'"),
        ],
    );
    check(
        &COLONS,
        &[
            (
                r"'a''b' 'a\' E'a\'b' e'\\' E'a''b'",
                r"s:'a''b' s:'a\' es:E'a\'b' es:e'\\' es:E'a''b'",
            ),
            (r"U&'d\0061' N'x' E 'x'", r"us:U&'d\0061' ns:N'x' w:E s:'x'"),
            ("$$a'b$$ $t$ $$ $x$ $t$ $ä$b$ä$", "ds:$$a'b$$ ds:$t$ $$ $x$ $t$ ds:$ä$b$ä$"),
            ("a$$b$$", "w:a$$b$$"),
            ("E'a'\n'\\'' 'b' -- c'\n 'd'", "es:E'a'\n'\\'' s:'b' -- c'\n 'd'"),
            ("'a' -- 'b'\n--\r\t'c' 'd'", "s:'a' -- 'b'\n--\r\t'c' s:'d'"),
            ("X'41''42' B'1'\n'0' U&'a'\n'\\'", "xs:X'41' s:'42' bs:B'1'\n'0' us:U&'a'\n'\\'"),
            ("'a'/* \n */'b'", "s:'a' s:'b'"),
        ],
    );
}

#[test]
fn parameters_and_variables() {
    check(
        &COMMAS,
        &[
            ("? ?,?", "p:? p:? c:, p:?"),
            (
                "@a @@b @@global.c @@`d` @`e f` @'g' @\"h\" @a.b$c",
                "v:@a v:@@b v:@@global.c v:@@`d` v:@`e f` v:@'g' v:@\"h\" v:@a.b$c",
            ),
            (r"@'a\'b' @a. @@a.", r"v:@'a\'b' v:@a. v:@@a c:."),
            ("'u'@'%' u@localhost a@ b", "s:'u' v:@'%' w:u v:@localhost w:a o:@ w:b"),
            ("@a:=1", "v:@a o::= n:1"),
        ],
    );
    check(&COLONS, &[("$1 $22+$3", "p:$1 p:$22 o:+ p:$3"), ("a ? b ?| c", "w:a o:? w:b o:?| w:c")]);
    assert_eq!(tokens("? ? ?", &COMMAS).parameters, 3);
    assert_eq!(tokens("$1 $7 $3", &COLONS).parameters, 7);
}

#[test]
fn operators_are_as_long_as_the_language_reads_them() {
    check(
        &COMMAS,
        &[
            (
                "a<=>b a<=b a<>b a!=b a<<b a>>b",
                "w:a o:<=> w:b w:a o:<= w:b w:a o:<> w:b w:a o:!= w:b w:a o:<< w:b w:a o:>> w:b",
            ),
            (
                "a->b a->>b a||b a&&b !a ~a",
                "w:a o:-> w:b w:a o:->> w:b w:a o:|| w:b w:a o:&& w:b o:! w:a o:~ w:a",
            ),
            ("a=-1 a*-1 a--1", "w:a o:= o:- n:1 w:a o:* o:- n:1 w:a o:- o:- n:1"),
            ("a:b c::d", "w:a c:: w:b w:c c:: c:: w:d"),
        ],
    );
    check(
        &COLONS,
        &[
            ("a::b a:=b a[1:2]", "w:a o::: w:b w:a o::= w:b w:a c:[ n:1 c:: n:2 c:]"),
            ("a=-1 a*-1 a@-1 a!=-1", "w:a o:= o:- n:1 w:a o:* o:- n:1 w:a o:@- n:1 w:a o:!=- n:1"),
            (
                "a#>>b a@>b a<->b a~*b a!~~*b a||b |/4",
                "w:a o:#>> w:b w:a o:@> w:b w:a o:<-> w:b w:a o:~* w:b w:a o:!~~* w:b w:a o:|| w:b o:|/ n:4",
            ),
            ("a<--b\nc */**/ d+/**/e", "w:a o:< w:c o:* w:d o:+ w:e"),
            ("f(a=>1) t.* count(*)", "w:f c:( w:a o:=> n:1 c:) w:t c:. o:* w:count c:( o:* c:)"),
        ],
    );
}

#[test]
fn comments_are_skipped() {
    check(
        &COMMAS,
        &[
            ("a -- b\nc --\td\r\ne --", "w:a w:c w:e"),
            ("a --b", "w:a o:- o:- w:b"),
            ("a -- b\rc\nd # e\rf\ng", "w:a w:d w:g"),
            ("/*!50000 a /*!50000 b */ c */ d", "w:a w:b w:c o:* o:/ w:d"),
            ("a # b\nc", "w:a w:c"),
            ("a /* b /* c */ d", "w:a w:d"),
            ("a/**/b /*/ c */ d", "w:a w:b w:d"),
            ("a /*! b */ c", "w:a w:b w:c"),
            ("a /*!50100 b */ c /*!050100d*/ /*M!100100 e */", "w:a w:b w:c w:d w:e"),
            ("/*!50000 a /* b */ c */ d", "w:a w:c w:d"),
            ("/*!1*/2*/*x*/3", "n:2 o:* n:3"),
            ("/*!50000 a*b */", "w:a o:* w:b"),
        ],
    );
    check(
        &COLONS,
        &[
            ("a --b\nc --d\re", "w:a w:c w:e"),
            ("a /* b /* c */ d */ e", "w:a w:e"),
            ("a /* /*/ b */ */ c", "w:a w:c"),
            ("a /*! b */ c", "w:a w:c"),
            ("a # b", "w:a o:# w:b"),
        ],
    );
}

#[test]
fn what_breaks_off_is_refused_where_it_starts() {
    for (syntax, text, at) in [
        (&COMMAS, "a 'b", 2),
        (&COMMAS, r"a 'b\'", 2),
        (&COMMAS, "a \"b", 2),
        (&COMMAS, "a `b", 2),
        (&COMMAS, "a @'b", 3),
        (&COMMAS, "a /* b", 2),
        (&COMMAS, "a /*", 2),
        (&COMMAS, "a /*! b", 2),
        (&COMMAS, "a /*!50000 'b' /* c */", 2),
        (&COMMAS, "x'1", 0),
        (&COMMAS, "$$a$$", 0),
        (&COMMAS, "@@'a'", 0),
        (&COMMAS, "a `b\0`", 2),
        (&COMMAS, "a # \0", 4),
        (&COMMAS, "a /*+ QB_NAME(`*/ `) */", 2),
        (
            &COLONS,
            r"E'a'
            '\'",
            0,
        ),
        (&COLONS, "a /* /* */", 2),
        (&COLONS, "a 'b''", 2),
        (&COLONS, r"a E'b\'", 2),
        (&COLONS, "a \"b", 2),
        (&COLONS, "a U&\"b", 4),
        (&COLONS, "a $$b$", 2),
        (&COLONS, "a $t$b$$", 2),
        (&COLONS, "a $b", 2),
        (&COLONS, "a \u{1}", 2),
        (&COMMAS, "a \\", 2),
    ] {
        let error = tokenize(text, syntax).expect_err(text);
        assert_eq!(error.at, at, "{text}: {error}");
        assert!(error.message.contains('`'), "{error}");
        assert!(error.message.starts_with(char::is_lowercase), "{error}");
    }
}

#[test]
fn messages_stay_short_whatever_the_text() {
    let error = tokenize(&format!("'{}", "x".repeat(1 << 20)), &COLONS).expect_err("unterminated");
    assert!(error.message.len() < 200);
}

fn digest(text: &str) -> u64 {
    tokens(text, &COMMAS).digest
}

#[test]
fn the_digest_is_equal_when_only_literals_white_space_or_comments_differ() {
    let of = digest("SELECT a FROM t WHERE b = 1 AND c = 'x'");
    for same in [
        "SELECT a FROM t WHERE b=22 AND c=\"y\"",
        "SELECT a FROM t WHERE b = 0x1F AND c = N'z' -- end",
        "/* x */ SELECT\ta\nFROM t WHERE b = 1.5e3 AND c = 'x'",
        "SELECT a FROM t WHERE b = 1 AND c = 'x' ; ",
    ] {
        assert_eq!(digest(same), of, "{same}");
    }
    for other in [
        "SELECT a FROM t WHERE b = 1 AND d = 'x'",
        "SELECT a FROM t WHERE b = ? AND c = 'x'",
        "SELECT a FROM t WHERE b = 1 OR c = 'x'",
        "SELECT `a` FROM t WHERE b = 1 AND c = 'x'",
        "SELECT A FROM t WHERE b = 1 AND c = 'x'",
        "SELECT a FROM t WHERE b = 1 AND c = -'x'",
        "SELECT a FROM t WHERE b = 1 AND c = 'x' LIMIT 1",
        "SELECT a FROM t WHERE b = 1; AND c = 'x'",
        "SELECT aFROM t WHERE b = 1 AND c = 'x'",
        "SELECT /*+ NO_INDEX_MERGE(t) */ a FROM t WHERE b = 1 AND c = 'x'",
        "SELECT /*! a */ FROM t WHERE b = 1 AND c = 'x'",
        "/* SHARDINGSPHERE_HINT: WRITE_ROUTE_ONLY=true */ SELECT a FROM t WHERE b = 1 AND c = 'x'",
    ] {
        assert_ne!(digest(other), of, "{other}");
    }
}

#[test]
fn ordinals_belong_to_the_digest_and_are_no_slots() {
    let slots = |text: &str| -> Vec<String> {
        tokens(text, &COMMAS).slots().map(|span| span.of(text).to_owned()).collect()
    };
    assert_ne!(digest("SELECT a FROM t ORDER BY 1"), digest("SELECT a FROM t ORDER BY 2"));
    assert_ne!(digest("SELECT a FROM t GROUP BY a, 1"), digest("SELECT a FROM t GROUP BY a, 2"));
    assert_eq!(
        digest("SELECT a FROM t ORDER BY 1 LIMIT 5, 6"),
        digest("SELECT a FROM t ORDER BY 1 LIMIT 7, 8")
    );
    assert_eq!(slots("SELECT 9 FROM t WHERE x = 8 ORDER BY 1, 2 LIMIT 5, 6"), ["9", "8", "5", "6"]);
    assert_eq!(slots("SELECT f(a ORDER BY 1), 2 FROM t WHERE b IN (3, 4)"), ["2", "3", "4"]);
}

#[test]
fn slots_are_the_literals_in_order_and_have_values() {
    let text = "INSERT INTO t VALUES (1, 'it''s', 0x41, -2.5, ?, NULL, 007, 999999999999999999, 9223372036854775807, 9223372036854775808)";
    let all = tokens(text, &COMMAS);
    let shown: Vec<&str> = all.slots().map(|span| span.of(text)).take(4).collect();
    assert_eq!(shown, ["1", "'it''s'", "0x41", "2.5"]);
    let values: Vec<Literal> = all
        .list
        .iter()
        .filter(|token| token.slot)
        .filter_map(|token| literal(text, token, &COMMAS))
        .collect();
    let expected = [
        Literal::Integer(1),
        Literal::Text("it's".to_owned()),
        Literal::Bytes(vec![0x41]),
        Literal::Number("2.5".to_owned()),
        Literal::Integer(7),
        Literal::Integer(999_999_999_999_999_999),
        Literal::Integer(i64::MAX),
        Literal::Number("9223372036854775808".to_owned()),
    ];
    assert_eq!(values, expected);
}

#[test]
fn the_first_hint_comment_is_kept_with_its_place() {
    let text = "/* note */ SELECT /* ShardingSphere hint: dataSourceName=ds_1, t.SHARDING_TABLE_VALUE=3 */ 1 /* SHARDINGSPHERE_HINT: A=1 */";
    let hint = tokens(text, &COLONS).hint.expect("a hint");
    let expected = [("DATA_SOURCE_NAME", "ds_1"), ("T.SHARDING_TABLE_VALUE", "3")];
    let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(hint.pairs, expected);
    assert!(
        hint.span.of(text).starts_with("/* ShardingSphere") && hint.span.of(text).ends_with("3 */")
    );
    let statement = pando_sql::parse(text, &COLONS).expect("parses");
    assert_eq!(statement.hints, expected);
    assert_eq!(statement.hint_span, Some(hint.span));
    assert_eq!(tokens("SELECT 1 /* x */", &COLONS).hint, None);
}

#[test]
fn a_hint_behind_the_final_semicolon_counts_but_has_no_place() {
    let statement =
        pando_sql::parse("SELECT 1; /* SHARDINGSPHERE_HINT: A=1 */", &COLONS).expect("parses");
    assert_eq!(&*statement.text, "SELECT 1");
    assert_eq!(statement.hints.len(), 1);
    assert_eq!(statement.hint_span, None);
}

fn settled(text: &str, releases: &[Release]) -> Option<String> {
    match settle(text, &COMMAS, releases).expect("it can be read") {
        Settled::AsIs => Some(text.to_owned()),
        Settled::Text(text) => Some(text),
        Settled::Unsure => None,
    }
}

fn release(version: u32) -> Release {
    Release { version, is_fork: version > 100_000 }
}

/// What becomes of each text on MySQL 8.0.31, MySQL 8.0.36, MySQL 8.4.2, MariaDB 10.11.19, and where no server is known, white space left out: `~` is an
/// empty comment, `?` is not sure.
#[test]
fn comments_for_some_versions_are_settled_by_the_version() {
    let mut known: Vec<Vec<Release>> =
        [80_031, 80_036, 80_402, 101_119].map(|version| vec![release(version)]).into();
    known.push(Vec::new());
    for (text, expected) in [
        ("a /* b */", ["a/*b*/"; 5]),
        ("a /*! b */ c", ["a~b~c"; 5]),
        ("a /*!50699 b */", ["a~b~"; 5]),
        ("a /*!50700 b */", ["a~b~", "a~b~", "a~b~", "a~", "?"]),
        ("a /*!80400 b */", ["a~", "a~", "a~b~", "a~", "?"]),
        ("a /*!99999 b */", ["a~"; 5]),
        ("a /*!999999\\- b */ c", ["a~c"; 5]),
        ("a /*!080400 b */", ["a~0b~", "?", "a~b~", "a~", "?"]),
        ("a /*!080400b */", ["a~0b~", "a~0b~", "a~0b~", "a~", "?"]),
        ("a /*!100100 b */", ["a~0b~", "?", "a~", "a~b~", "?"]),
        ("a /*!101120 b */", ["a~0b~", "?", "a~", "a~", "?"]),
        ("a /*M!100100 b */", ["a~", "a~", "a~", "a~b~", "?"]),
        ("a /*M! b /* c */ d */", ["a~d*/", "a~d*/", "a~d*/", "a~b/*c*/d~", "?"]),
        ("a /*!99999 ' /* b */ c */ d", ["a~d"; 5]),
        ("a /*!50000 b /*!99999 c */ d */ e", ["a~b~d~e"; 5]),
        ("a /*!50000 b /* c */ d */ e", ["a~b/*c*/d~e"; 5]),
        ("a /*!5000 b */ c", ["a~5000b~c"; 5]),
        ("'/*!99999' '*/'", ["'/*!99999''*/'"; 5]),
        ("a /*!*/ b --/*!99999 */ c", ["a~~b--~c"; 5]),
    ] {
        for (releases, expected) in known.iter().zip(expected) {
            let found = settled(text, releases).unwrap_or_else(|| "?".to_owned());
            let found = found.replace(' ', "").replace("/**/", "~");
            assert_eq!(found, expected, "{text} {releases:?}");
        }
    }
}

#[test]
fn units_of_several_versions_must_read_a_comment_alike() {
    let two = [release(80_031), release(80_402)];
    assert_eq!(settled("a /*!80100 b */", &two), None);
    assert_eq!(settled("a /*!80030 b */", &two).as_deref(), Some("a /*    */ b /**/"));
    assert_eq!(settled("a /*!80500 b\n*/", &two).as_deref(), Some("a /*        \n*/"));
    assert_eq!(settled("a /*M! b */", &[two[0], release(101_119)]), None);
    for open in ["a /*!50000 b", "a /*!99999 b /* */", "a /*!50000 ' */"] {
        assert!(settle(open, &COMMAS, &two).is_err(), "{open}");
    }
    assert_eq!(settle("a /*!99999 b */", &COLONS, &[]), Ok(Settled::AsIs));
}

#[test]
fn strings_in_pieces_have_one_value() {
    for (text, expected) in [
        ("E'a\\''\n'\\'b'", "a''b"),
        ("'a''' -- x'\n 'b'", "a'b"),
        ("U&'d\\00'\n'61'", "da"),
        ("E'\\06'\n'1'", "\u{6}1"),
    ] {
        let all = tokens(text, &COLONS);
        assert_eq!(all.list.len(), 1, "{text}");
        let value = literal(text, &all.list[0], &COLONS);
        assert_eq!(value, Some(Literal::Text(expected.to_owned())), "{text}");
    }
    let all = tokens("X'4'\n'1'", &COLONS);
    assert_eq!(literal("X'4'\n'1'", &all.list[0], &COLONS), Some(Literal::Bytes(vec![0x41])));
}

#[test]
fn a_variable_s_name_is_the_same_in_any_quotes() {
    for (raw, expected) in [
        ("@a", Some("@a")),
        ("@A_1.$", Some("@a_1.$")),
        ("@`a`", Some("@a")),
        ("@`a``'b`", Some("@`a``'b`")),
        ("@'a''b'", Some("@`a'b`")),
        ("@'z\\'w'", Some("@`z'w`")),
        ("@\"x\"\"y\"", Some("@`x\"y`")),
        ("@É", Some("@`é`")),
        ("@``", Some("@``")),
        ("@@a", None),
        ("@", None),
        ("a", None),
    ] {
        assert_eq!(pando_sql::user_variable(raw, &COMMAS).as_deref(), expected, "{raw}");
    }
}
