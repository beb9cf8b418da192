//! Inline expressions: `tests/inline.case`, and properties of the arithmetic.

mod common;

use pando_kernel::Value;
use pando_sharding::inline::{Arithmetic, Template, expand};
use proptest::prelude::*;

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
            let (names, values): (Vec<String>, Vec<Option<Value>>) =
                pairs.map(|(name, value)| (name.to_owned(), common::value(value))).unzip();
            let values: Vec<Value> = values.into_iter().flatten().collect();
            Template::compile(text, &names, arithmetic).and_then(|t| t.evaluate(&values))
        }
    };
    outcome.unwrap_or_else(|error| format!("! {error}"))
}

#[test]
fn every_expression_gives_what_the_case_says() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (_, lines) in common::blocks(include_str!("inline.case")) {
        for (number, line) in lines {
            let (text, expected) = line.rsplit_once(" => ").unwrap_or((&line, "?"));
            let found = outcome(text);
            seen += 1;
            if found != expected {
                wrong.push(format!("{number}: {text} => {found}\n      expected {expected}"));
            }
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
        let name = template.and_then(|t| t.evaluate(&[Value::Int(id)]));
        prop_assert_eq!(name, Ok(format!("t_{}", id.rem_euclid(count))));
    }

    #[test]
    fn sums_and_products_agree_with_plain_arithmetic(a in any::<i32>(), b in any::<i32>(), c in 1_i32..100) {
        let names = ["a".to_owned(), "b".to_owned()];
        let text = format!("${{(a * b - a + {c}) % {c}}}");
        let template = Template::compile(&text, &names, Arithmetic::Exact);
        let name = template.and_then(|t| t.evaluate(&[Value::Int(a.into()), Value::Int(b.into())]));
        let (a, b, c) = (i128::from(a), i128::from(b), i128::from(c));
        prop_assert_eq!(name, Ok((a * b - a + c).rem_euclid(c).to_string()));
    }

    #[test]
    fn any_text_gives_an_answer_or_an_error(text in "[-+*/%(){}\\[\\]$., a-d0-9'\"?:<>=!&|\\\\]{0,40}") {
        let _ = expand(&format!("t_${{{text}}}"));
        let _ = expand(&text);
        let names = ["a".to_owned(), "b".to_owned()];
        if let Ok(template) = Template::compile(&format!("t_${{{text}}}"), &names, Arithmetic::Groovy) {
            let _ = template.evaluate(&[Value::Int(i64::MIN), Value::Text("x".into())]);
        }
    }

    #[test]
    fn equal_values_of_different_types_give_equal_names(id in -1_000_000_i64..1_000_000) {
        let texts = ["t_${id % 7}", "t_${id + 3}", "t_${id.hashCode() % 5}", "t_${id > 10}", "t_${-id}"];
        for text in texts {
            let template = Template::compile(text, &["id".to_owned()], Arithmetic::Exact)
                .expect("a valid expression");
            let of = |value: Value| template.evaluate(&[value]);
            let first = of(Value::Int(id));
            prop_assert_eq!(&of(Value::Text(id.to_string())), &first);
            prop_assert_eq!(&of(Value::Decimal(id.into())), &first);
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let float = id as f64;
            prop_assert_eq!(&of(Value::Float(float)), &first);
        }
    }
}
