//! Inline expressions: `tests/inline.case`, and properties of the arithmetic.

use pando_inline::{Arithmetic, Datum, Template, expand, number};
use proptest::prelude::*;

/// `5`, `1.5`, `'text'`, `true`, `null`.
fn datum(text: &str) -> Option<Datum<'_>> {
    match text {
        "null" => Some(Datum::Null),
        "true" => Some(Datum::Bool(true)),
        "false" => Some(Datum::Bool(false)),
        _ => match text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
            Some(text) => Some(Datum::text(text)),
            None => number::of_text(text).map(Datum::number),
        },
    }
}

/// The outcome of `[compat] expression [| a=1, b='x']` as it stands behind `=>`.
fn outcome(text: &str) -> String {
    let (arithmetic, text) = match text.strip_prefix("compat ") {
        Some(rest) => (Arithmetic::Groovy, rest),
        None => (Arithmetic::Exact, text),
    };
    let outcome = match text.split_once(" | ") {
        None => expand(text).map(|names| names.join(" ")),
        Some((text, values)) => {
            let pairs = values.split(", ").filter_map(|pair| pair.split_once('='));
            let (names, values): (Vec<String>, Vec<Option<Datum<'_>>>) =
                pairs.map(|(name, value)| (name.to_owned(), datum(value))).unzip();
            let values: Vec<Datum<'_>> = values.into_iter().flatten().collect();
            Template::compile(text, &names, arithmetic).and_then(|t| t.name(&values))
        }
    };
    outcome.unwrap_or_else(|error| format!("! {error}"))
}

#[test]
fn every_expression_gives_what_the_case_says() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    let lines = include_str!("inline.case").lines().enumerate();
    let is_case =
        |line: &str| !(line.trim().is_empty() || line.starts_with("# ") || line.starts_with("== "));
    for (at, line) in lines.filter(|(_, line)| is_case(line)) {
        let (text, expected) = line.rsplit_once(" => ").unwrap_or((line, "?"));
        let found = outcome(text);
        seen += 1;
        if found != expected {
            wrong.push(format!("{}: {text} => {found}\n      expected {expected}", at + 1));
        }
    }
    assert!(seen > 90, "only {seen} lines were read");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn deep_and_long_expressions_are_refused() {
    let nested = format!("t_${{{}1{}}}", "(".repeat(5000), ")".repeat(5000));
    assert!(expand(&nested).is_err());
    let minus = format!("t_${{{}1}}", "-".repeat(5000));
    assert!(expand(&minus).is_err());
    assert!(expand(&"x".repeat(20_000)).is_err());
    let lists = format!("t_${{{}{}}}", "[".repeat(5000), "]".repeat(5000));
    assert!(expand(&lists).is_err());
    let calls = format!("t_${{1{}}}", ".abs()".repeat(2500));
    let _ = expand(&calls);
    let sums = format!("t_${{1{}}}", "+1".repeat(6000));
    let _ = expand(&sums);
}

proptest! {
    #[test]
    fn remainders_are_those_of_mathematics(id in any::<i64>(), count in 1_i64..1000) {
        let template = Template::compile(
            &format!("t_${{id % {count}}}"), &["id".to_owned()], Arithmetic::Exact);
        let name = template.and_then(|t| t.name(&[Datum::int(id.into())]));
        prop_assert_eq!(name, Ok(format!("t_{}", id.rem_euclid(count))));
    }

    #[test]
    fn sums_and_products_agree_with_plain_arithmetic(a in any::<i32>(), b in any::<i32>(), c in 1_i32..100) {
        let names = ["a".to_owned(), "b".to_owned()];
        let text = format!("${{(a * b - a + {c}) % {c}}}");
        let template = Template::compile(&text, &names, Arithmetic::Exact);
        let name = template.and_then(|t| t.name(&[Datum::int(a.into()), Datum::int(b.into())]));
        let (a, b, c) = (i128::from(a), i128::from(b), i128::from(c));
        prop_assert_eq!(name, Ok((a * b - a + c).rem_euclid(c).to_string()));
    }

    #[test]
    fn any_text_gives_an_answer_or_an_error(text in "[-+*/%(){}\\[\\]$., a-d0-9'\"?:<>=!&|\\\\]{0,40}") {
        let _ = expand(&format!("t_${{{text}}}"));
        let _ = expand(&text);
        let names = ["a".to_owned(), "b".to_owned()];
        if let Ok(template) = Template::compile(&format!("t_${{{text}}}"), &names, Arithmetic::Groovy) {
            let _ = template.name(&[Datum::int(i64::MIN.into()), Datum::text("x")]);
        }
    }
}
