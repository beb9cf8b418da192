//! Shadow algorithms: which values mark a row of a load test, and for which statements.

use std::sync::Arc;

use bigdecimal::BigDecimal;
use pando_config::{Algorithm, Placed, Problem};
use pando_kernel::module::CLASS_BASED;
use pando_kernel::{AlgorithmKind, AlgorithmSort, Modules, Value};
use regex::Regex;

use crate::class::Module;
use crate::expression::Expression;

/// What an algorithm looks at.
#[derive(Debug)]
pub(crate) enum Marks {
    /// The hint `SHADOW=true`.
    Hint,
    /// The values of a column.
    Column(String, Test),
}

/// A test of a column's values.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    /// The statements that it looks at.
    pub(crate) operation: Operation,
    matcher: Matcher,
}

/// What a statement does with a table's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Insert,
    Update,
    Delete,
    Select,
}

#[derive(Debug, Clone)]
enum Matcher {
    /// This text, and the number if it is one.
    Value(String, Option<BigDecimal>),
    /// The whole text.
    Pattern(Regex),
    /// What an expression says of it.
    Expression(Arc<Expression>),
    /// What a function says of it.
    Module(Arc<Module>),
}

const KINDS: [(&str, &str); 5] = [
    (CLASS_BASED, "values of a column for which a function of a WebAssembly module is true"),
    ("EXPRESSION", "values of a column for which an inline expression over `value` is true"),
    ("VALUE_MATCH", "a value of a column, for one of INSERT, UPDATE, DELETE and SELECT"),
    ("REGEX_MATCH", "values of a column that a regular expression matches as a whole"),
    ("SQL_HINT", "the hint `SHADOW=true` in a comment"),
];

/// The shadow algorithms there are.
pub(crate) fn algorithms() -> Vec<AlgorithmKind> {
    let sort = AlgorithmSort::Shadow;
    KINDS.map(|(name, description)| AlgorithmKind { sort, name, description }).to_vec()
}

/// The largest automaton that a pattern may become, in bytes.
const MOST_BYTES: usize = 1 << 20;

/// The algorithm that a `shadowAlgorithms` section asks for.
///
/// # Errors
/// What is wrong, when there is no such algorithm or its properties are not right.
pub(crate) fn algorithm(algorithm: &Algorithm, modules: &dyn Modules) -> Result<Marks, Problem> {
    let kind = &algorithm.kind;
    let matcher = match kind.to_uppercase().as_str() {
        "SQL_HINT" => return Ok(Marks::Hint),
        "VALUE_MATCH" => {
            check(algorithm, &["operation", "column", "value"])?;
            let value = required(algorithm, "value")?;
            Matcher::Value(value.value.clone(), value.trim().parse().ok())
        }
        "REGEX_MATCH" => {
            check(algorithm, &["operation", "column", "regex"])?;
            Matcher::Pattern(pattern(required(algorithm, "regex")?)?)
        }
        CLASS_BASED => Matcher::Module(Arc::new(Module::new(algorithm, modules)?)),
        "EXPRESSION" => {
            check(algorithm, &["operation", "column", "expression", "value-type"])?;
            let text = required(algorithm, "expression")?;
            let of = algorithm.props.get("value-type");
            Matcher::Expression(Arc::new(Expression::new(text, of)?))
        }
        _ => {
            let names = KINDS.map(|(name, _)| format!("`{name}`")).join(", ");
            let message =
                format!("shadow algorithm type `{}` does not exist; use {names}", kind.value);
            return Err(kind.at.problem(message));
        }
    };
    let operation = operation(required(algorithm, "operation")?)?;
    let column = required(algorithm, "column")?.value.clone();
    Ok(Marks::Column(column, Test { operation, matcher }))
}

impl Test {
    /// Whether the value marks a row; NULL marks none. `None` where that cannot be computed of it.
    pub(crate) fn marks(&self, value: &Value) -> Option<bool> {
        match &self.matcher {
            Matcher::Value(text, number) => Some(match (number, of_number(value)) {
                (Some(number), Some(own)) => *number == own,
                _ => texts(value).iter().any(|own| own == text),
            }),
            Matcher::Pattern(pattern) => Some(texts(value).iter().any(|own| pattern.is_match(own))),
            Matcher::Expression(expression) => expression.marks(value),
            Matcher::Module(module) => module.marks(value),
        }
    }
}

/// Whether one of several tests marks a row; `None` where none does, and one cannot tell.
pub(crate) fn any_marks(told: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut is_told = true;
    for one in told {
        match one {
            Some(true) => return Some(true),
            Some(false) => {}
            None => is_told = false,
        }
    }
    is_told.then_some(false)
}

/// The number that a value of a numeric type is. Texts stay texts: `01` and `1` are two names.
pub(crate) fn of_number(value: &Value) -> Option<BigDecimal> {
    match value {
        Value::Int(n) => Some((*n).into()),
        Value::UInt(n) => Some((*n).into()),
        Value::Decimal(n) => Some(n.clone()),
        Value::Float(n) => n.to_string().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Text(_) | Value::Bytes(_) => None,
    }
}

/// The texts that a value is written as; of truth values those that servers give.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Bool(true) => vec!["true".to_owned(), "1".to_owned()],
        Value::Bool(false) => vec!["false".to_owned(), "0".to_owned()],
        Value::Int(n) => vec![n.to_string()],
        Value::UInt(n) => vec![n.to_string()],
        Value::Float(n) => vec![n.to_string()],
        Value::Decimal(n) => vec![n.to_plain_string()],
        Value::Text(text) => vec![text.clone()],
        Value::Bytes(bytes) => vec![String::from_utf8_lossy(bytes).into_owned()],
    }
}

/// Matches whole texts, as Java's `matches` does.
fn pattern(text: &Placed<String>) -> Result<Regex, Problem> {
    let whole = format!(r"\A(?:{})\z", text.value);
    regex::RegexBuilder::new(&whole).size_limit(MOST_BYTES).build().map_err(|_| {
        let message = format!(
            "`{}` is no regular expression that is served here: there is no looking around and no going back to groups",
            text.value
        );
        text.at.problem(message)
    })
}

fn operation(text: &Placed<String>) -> Result<Operation, Problem> {
    match text.to_lowercase().as_str() {
        "insert" => Ok(Operation::Insert),
        "update" => Ok(Operation::Update),
        "delete" => Ok(Operation::Delete),
        "select" => Ok(Operation::Select),
        _ => Err(text.at.problem("`operation` is `insert`, `update`, `delete` or `select`")),
    }
}

fn required<'a>(algorithm: &'a Algorithm, name: &str) -> Result<&'a Placed<String>, Problem> {
    let kind = &algorithm.kind;
    let value = algorithm.props.get(name).filter(|value| !value.value.is_empty());
    value.ok_or_else(|| kind.at.problem(format!("`{}` needs the property `{name}`", kind.value)))
}

fn check(algorithm: &Algorithm, known: &[&str]) -> Result<(), Problem> {
    match algorithm.props.iter().find(|(key, _)| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some((key, _)) => {
            let kind = &algorithm.kind.value;
            Err(key.at.problem(format!("`{kind}` has no property `{}`", key.value)))
        }
    }
}

#[cfg(test)]
mod tests {
    use pando_kernel::NoModules;

    use super::*;

    fn check(kind: &str, property: (&str, &str), value: Value) -> bool {
        let props = [("operation", "insert"), ("column", "c"), property];
        match algorithm(&Algorithm::nowhere(kind, props), &NoModules) {
            Ok(Marks::Column(_, test)) => test.marks(&value).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_texts_as_texts() {
        let one = ("value", "1");
        for value in [Value::Int(1), Value::UInt(1), Value::Float(1.0), Value::Bool(true)] {
            assert!(check("VALUE_MATCH", one, value.clone()), "{value:?}");
        }
        assert!(check("VALUE_MATCH", one, Value::Decimal("1.00".parse().unwrap())));
        assert!(check("VALUE_MATCH", one, text("1")));
        for value in [Value::Int(11), text("01"), text(""), Value::Bool(false), Value::Null] {
            assert!(!check("VALUE_MATCH", one, value.clone()), "{value:?}");
        }
        assert!(!check("VALUE_MATCH", ("value", "Test"), text("test")));
    }

    #[test]
    fn a_pattern_matches_the_whole_text() {
        let pattern = ("regex", "test|9[0-9]");
        for value in [text("test"), Value::Int(90), Value::Bytes(b"91".as_slice().into())] {
            assert!(check("REGEX_MATCH", pattern, value.clone()), "{value:?}");
        }
        for value in [text("a test"), text("test\n"), Value::Int(900), Value::Null] {
            assert!(!check("REGEX_MATCH", pattern, value.clone()), "{value:?}");
        }
    }

    #[test]
    fn what_cannot_be_served_is_told() {
        let wrong = |kind: &str, props: &[(&str, &str)]| {
            algorithm(&Algorithm::nowhere(kind, props.iter().copied()), &NoModules)
                .unwrap_err()
                .message
        };
        let all = [("operation", "insert"), ("column", "c")];
        assert!(wrong("VALUE_MATCH", &all).contains("needs the property `value`"));
        assert!(wrong("X", &all).contains("does not exist"));
        let with = |more| [all[0], all[1], more];
        assert!(wrong("REGEX_MATCH", &with(("regex", "(?=a)"))).contains("looking around"));
        assert!(wrong("REGEX_MATCH", &with(("value", "1"))).contains("has no property `value`"));
        let merge = [("operation", "merge"), ("column", "c"), ("value", "1")];
        assert!(wrong("VALUE_MATCH", &merge).contains("`operation` is"));
    }
}
