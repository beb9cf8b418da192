use super::*;

/// What becomes of a value: its text, or what kind of error.
#[expect(clippy::wildcard_enum_match_arm, reason = "the kinds that may come")]
fn text(kind: &str, fold: Fold, value: Value, aim: Aim) -> String {
    let declared = DeclaredType::read(kind, fold).unwrap();
    match (Declared { declared, fold }).text("c", &value, aim) {
        Ok(text) => text,
        Err(error) => match error.kind() {
            ErrorKind::Value(_) | ErrorKind::Moment { has_form: false, .. } => {
                "unreadable".to_owned()
            }
            ErrorKind::Moment { .. } => "no moment".to_owned(),
            ErrorKind::OutOfRange(_) => "out of range".to_owned(),
            ErrorKind::TooLong(_) => "too long".to_owned(),
            ErrorKind::Refused { .. } => "refused".to_owned(),
            _ => format!("{error}"),
        },
    }
}

fn same(kind: &str, value: &Value, stored: &str, compared: &str) {
    for fold in [Fold::Lower, Fold::Keep] {
        check(kind, fold, value, stored, compared);
    }
}

fn check(kind: &str, fold: Fold, value: &Value, stored: &str, compared: &str) {
    let told = [Aim::Store, Aim::Compare].map(|aim| text(kind, fold, value.clone(), aim));
    assert_eq!(told, [stored, compared], "{kind} {value:?} {fold:?}");
}

fn words(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn exact(text: &str) -> Value {
    Value::decimal(text).unwrap()
}

#[test]
fn texts_are_as_long_as_their_column() {
    same("varchar(3)", &words("äöü"), "äöü", "äöü");
    same("varchar(3)", &words("abcd"), "too long", "abcd");
    same("varchar(3)", &words("abc  "), "abc", "abc  ");
    same("varchar(3)", &Value::Int(12), "12", "refused");
    same("text", &words(""), "", "");
    same("char(3)", &words("ab"), "ab", "ab");
    same("char(3)", &words("ab "), "ab", "refused");
    same("char(3)", &words("abcd"), "too long", "abcd");
    let char = |fold| Declared { declared: DeclaredType::Char { length: 3 }, fold };
    assert_eq!(char(Fold::Lower).value("ab".into()).unwrap(), words("ab "));
    assert_eq!(char(Fold::Keep).value("ab".into()).unwrap(), words("ab"));
}

#[test]
fn a_cast_makes_a_value_of_its_type() {
    for (kind, value, expected) in [
        ("varchar(3)", words("abcdef"), "abc"),
        ("numeric(10,2)", words("12.505"), "12.51"),
        ("bigint", exact("2.5"), "3"),
        ("smallint", Value::Int(70_000), "out of range"),
        ("date", words("2024-01-05 10:00"), "2024-01-05"),
        ("timestamp(0)", words("2024-12-31 23:59:59.5"), "2025-01-01 00:00:00"),
    ] {
        assert_eq!(text(kind, Fold::Lower, value, Aim::Cast), expected, "{kind}");
    }
}

#[test]
fn whole_numbers_have_one_text() {
    for value in [Value::Int(5), Value::UInt(5), words("5"), words(" +5 "), exact("5.0")] {
        same("int", &value, "5", "5");
    }
    same("smallint", &Value::Int(40_000), "out of range", "40000");
    check("smallint", Fold::Lower, &words("70000"), "out of range", "out of range");
    check("smallint", Fold::Keep, &words("70000"), "out of range", "70000");
    same("bigint", &words("-9223372036854775808"), "-9223372036854775808", "-9223372036854775808");
    same("bigint", &exact("9223372036854775808"), "out of range", "9223372036854775808");
    same("int", &exact("2.5"), "3", "2.5");
    same("int", &exact("-2.5"), "-3", "-2.5");
    same("int", &words("x"), "unreadable", "unreadable");
    same("int", &words(""), "unreadable", "unreadable");
    same("int", &Value::Float(5.0), "refused", "refused");
    for text in ["2.5", "5.0", "1e2"] {
        check("int", Fold::Lower, &words(text), "unreadable", "unreadable");
    }
    check("int", Fold::Keep, &words("5.0"), "5", "5");
    check("int", Fold::Keep, &words("2.5"), "3", "2.5");
    check("int unsigned", Fold::Keep, &Value::Int(-1), "out of range", "-1");
    check("tinyint", Fold::Keep, &Value::Bool(true), "1", "1");
    check("int", Fold::Lower, &Value::Bool(true), "refused", "refused");
}

#[test]
fn exact_numbers_have_the_columns_scale() {
    for value in [exact("12.5"), exact("12.500"), words("12.50"), words("1.25e1")] {
        same("decimal(5,2)", &value, "12.50", "12.50");
    }
    same("decimal(5,2)", &Value::Int(0), "0.00", "0.00");
    same("decimal(5,2)", &exact("-0.0"), "0.00", "0.00");
    same("decimal(5,2)", &exact("12.345"), "12.35", "12.345");
    same("decimal(5,2)", &exact("999.994"), "999.99", "999.994");
    same("decimal(5,2)", &exact("999.995"), "out of range", "999.995");
    same("decimal(5,2)", &words("1,5"), "unreadable", "unreadable");
    same("decimal(2,2)", &exact("0.5"), "0.50", "0.50");
    same("decimal(2,2)", &Value::Int(1), "out of range", "1.00");
}

#[test]
fn moments_are_those_of_iso_8601() {
    for value in ["2024-01-05", "2024-1-5", " 2024-01-05 00:00:00 "] {
        same("date", &words(value), "2024-01-05", "2024-01-05");
    }
    same("date", &words("2024-01-05 10:00:00"), "2024-01-05", "refused");
    same("date", &words("2024-02-30"), "no moment", "no moment");
    same("date", &words("01/05/2024"), "refused", "refused");
    same("date", &Value::Int(20_240_105), "refused", "refused");
    same("date", &words("0000-00-00"), "no moment", "no moment");
    check("date", Fold::Lower, &words("2024-01-05 +00"), "2024-01-05", "2024-01-05");
    let noon = "2024-01-05 12:00:00";
    check("timestamp", Fold::Lower, &words("2024-01-05T12:00"), noon, noon);
    check("timestamp", Fold::Lower, &words("2024-01-05 12:00:00.000+05:30"), noon, noon);
    check("datetime", Fold::Keep, &words("2024-01-05 12:00:00+00:00"), "unreadable", "unreadable");
    let (half, next) = ("2024-12-31 23:59:59.5", "2025-01-01 00:00:00");
    // MySQL would round it, and MariaDB cut it.
    check("datetime", Fold::Keep, &words(half), "refused", "2024-12-31 23:59:59.500000");
    check("datetime(6)", Fold::Keep, &words("2024-12-31 23:59:59.0000001"), "refused", "refused");
    check("timestamp(0)", Fold::Lower, &words(half), next, half);
    check("timestamp", Fold::Lower, &words(half), half, half);
    let six = "2024-12-31 23:59:59.500";
    check("datetime(3)", Fold::Keep, &words(half), six, six);
    let last = "9999-12-31 23:59:59.9";
    check("timestamp(0)", Fold::Lower, &words(last), "out of range", "out of range");
}

#[test]
fn times_of_day_go_as_far_as_the_family_has_them() {
    same("time(0)", &words("1:02"), "01:02:00", "01:02:00");
    check("time", Fold::Lower, &words("01:02:03.5+02"), "01:02:03.5", "01:02:03.5");
    check("time", Fold::Lower, &words("24:00:01"), "no moment", "no moment");
    check("time", Fold::Lower, &words("-01:00:00"), "no moment", "no moment");
    check("time", Fold::Keep, &words("-838:59:59"), "-838:59:59", "-838:59:59");
    check("time", Fold::Keep, &words("839:00:00"), "no moment", "no moment");
    check("time", Fold::Keep, &words("01:02:03.5"), "refused", "01:02:03.500000");
    check("time(0)", Fold::Lower, &words("01:02:03.5"), "01:02:04", "01:02:03.5");
    check("time(3)", Fold::Keep, &words("-00:00:00"), "00:00:00.000", "00:00:00.000");
}

#[test]
fn booleans_and_uuids_are_read_as_postgresql_reads_them() {
    for value in ["t", "TRUE", "yes", "on", "1"] {
        check("boolean", Fold::Lower, &words(value), "true", "true");
    }
    for value in ["f", "no", "of", "off", "0"] {
        check("boolean", Fold::Lower, &words(value), "false", "false");
    }
    check("boolean", Fold::Lower, &words("o"), "unreadable", "unreadable");
    check("boolean", Fold::Lower, &words(""), "unreadable", "unreadable");
    check("boolean", Fold::Lower, &Value::Int(1), "refused", "refused");
    let uuid = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
    check("uuid", Fold::Lower, &words("{A0EEBC999C0B4EF8BB6D6BB9BD380A11}"), uuid, uuid);
    check("uuid", Fold::Lower, &words("a0eebc99"), "unreadable", "unreadable");
}

#[test]
fn what_is_told_is_a_value_of_the_type() {
    for (kind, stored, expected) in [
        ("bigint", "5", Value::Int(5)),
        ("decimal(5,2)", "12.5", exact("12.50")),
        ("date", "2024-01-05", words("2024-01-05")),
        // ShardingSphere has stored Java's text of a moment.
        ("timestamp", "2024-01-05 12:00:00.0", words("2024-01-05 12:00:00")),
        ("boolean", "true", Value::Bool(true)),
    ] {
        let declared = DeclaredType::read(kind, Fold::Lower).unwrap();
        let told = Declared { declared, fold: Fold::Lower }.value(stored.to_owned()).unwrap();
        assert_eq!(told, expected, "{kind}");
    }
    // What a value is told by nobody: it may be masked.
    let declared = Declared { declared: DeclaredType::Date, fold: Fold::Lower };
    let error = declared.value("secret".into()).unwrap_err().to_string();
    assert!(!error.contains("secret"), "{error}");
}
