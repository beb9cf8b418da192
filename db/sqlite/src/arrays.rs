//! PostgreSQL's arrays, which SQLite knows as texts: `{a,"b c",NULL}`, and vectors of numbers, `1 2`.
//! <https://www.postgresql.org/docs/15/arrays.html#ARRAYS-IO>

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};

use crate::arguments::{argument, failed, integer_argument};

/// Numbers a series may have.
const LONGEST: i64 = 1_000_000;

type Function = fn(&Context<'_>) -> Result<Value>;

const FUNCTIONS: &[(&str, i32, Function)] = &[
    ("pando_array", -1, |ctx| {
        let items: Result<Vec<_>> = (0..ctx.len()).map(|at| argument(ctx, at)).collect();
        Ok(Value::Text(array(&items?)))
    }),
    ("pando_json", 1, |ctx| of_array(ctx, |items| Value::Text(json(&items)))),
    ("pando_series", -1, series),
    ("pando_nothing", 1, |_| Ok(Value::Text("[]".to_owned()))),
    ("pando_item", 2, |ctx| {
        let at = integer_argument(ctx, 1)?.unwrap_or(0);
        let first = argument(ctx, 0)?.is_some_and(|text| text.trim_start().starts_with('{'));
        let at = usize::try_from(at - i64::from(first)).ok();
        of_array(ctx, |items| {
            let item = at.and_then(|at| items.into_iter().nth(at)).flatten();
            item.map_or(Value::Null, Value::Text)
        })
    }),
    ("array_to_string", -1, |ctx| {
        let separator = argument(ctx, 1)?.unwrap_or_default();
        let null = if ctx.len() > 2 { argument(ctx, 2)? } else { None };
        of_array(ctx, |items| {
            let texts: Vec<String> =
                items.into_iter().filter_map(|item| item.or_else(|| null.clone())).collect();
            Value::Text(texts.join(&separator))
        })
    }),
    ("array_upper", 2, many),
    ("array_length", 2, many),
    ("cardinality", 1, many),
];

/// Makes the functions known to a connection.
pub(crate) fn register(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for (name, arguments, function) in FUNCTIONS {
        connection.create_scalar_function(*name, *arguments, flags, *function)?;
    }
    connection.create_aggregate_function("pando_gather", 1, flags, Gather)
}

fn of_array(ctx: &Context<'_>, work: impl FnOnce(Vec<Option<String>>) -> Value) -> Result<Value> {
    Ok(argument(ctx, 0)?.map_or(Value::Null, |text| work(items(&text))))
}

fn many(ctx: &Context<'_>) -> Result<Value> {
    of_array(ctx, |items| match i64::try_from(items.len()) {
        Ok(0) | Err(_) => Value::Null,
        Ok(many) => Value::Integer(many),
    })
}

/// `generate_series` of whole numbers, as JSON.
fn series(ctx: &Context<'_>) -> Result<Value> {
    let step = if ctx.len() > 2 { integer_argument(ctx, 2)? } else { Some(1) };
    if matches!(ctx.get_raw(0), ValueRef::Null) || matches!(ctx.get_raw(1), ValueRef::Null) {
        return Ok(Value::Text("[]".to_owned()));
    }
    let (Some(from), Some(to), Some(step)) =
        (integer_argument(ctx, 0)?, integer_argument(ctx, 1)?, step.filter(|step| *step != 0))
    else {
        return Err(failed(
            "generate_series takes whole numbers and a step that is not zero".into(),
        ));
    };
    let span = i128::from(to) - i128::from(from);
    if span / i128::from(step) > i128::from(LONGEST) {
        return Err(failed(format!("generate_series of more than {LONGEST} numbers")));
    }
    let mut list = Vec::new();
    let mut next = Some(from);
    while let Some(number) = next.filter(|n| if step > 0 { *n <= to } else { *n >= to }) {
        list.push(number.to_string());
        next = number.checked_add(step);
    }
    Ok(Value::Text(format!("[{}]", list.join(","))))
}

/// The elements of an array's text, or of a vector's; nested arrays are one element each.
fn items(text: &str) -> Vec<Option<String>> {
    let text = text.trim();
    // JSON of our own making is told from an array by its bracket.
    let Some(inner) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        return text.split_whitespace().map(|item| Some(item.to_owned())).collect();
    };
    let mut items = Vec::new();
    let (mut item, mut quoted, mut was_quoted) = (String::new(), false, false);
    let mut letters = inner.chars();
    let mut finish = |item: &mut String, was_quoted: &mut bool| {
        let text = std::mem::take(item);
        let is_null = !*was_quoted && text.trim().eq_ignore_ascii_case("null");
        let text = if *was_quoted { text } else { text.trim().to_owned() };
        *was_quoted = false;
        items.push((!is_null).then_some(text));
    };
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => item.extend(letters.next()),
            '"' => {
                quoted = !quoted;
                was_quoted = true;
            }
            ',' if !quoted => finish(&mut item, &mut was_quoted),
            other => item.push(other),
        }
    }
    if !inner.trim().is_empty() {
        finish(&mut item, &mut was_quoted);
    }
    items
}

fn array(items: &[Option<String>]) -> String {
    let texts: Vec<String> = items
        .iter()
        .map(|item| match item {
            None => "NULL".to_owned(),
            Some(text) => {
                let plain = !text.is_empty()
                    && !text.eq_ignore_ascii_case("null")
                    && !text.contains([',', '"', '\\', '{', '}'])
                    && !text.contains(char::is_whitespace);
                if plain {
                    text.clone()
                } else {
                    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
                }
            }
        })
        .collect();
    format!("{{{}}}", texts.join(","))
}

/// Numbers stay numbers, so that they compare as such.
fn json(items: &[Option<String>]) -> String {
    let texts: Vec<String> = items
        .iter()
        .map(|item| match item {
            None => "null".to_owned(),
            Some(text) if text.parse::<i64>().is_ok_and(|n| n.to_string() == *text) => text.clone(),
            Some(text) => quoted(text),
        })
        .collect();
    format!("[{}]", texts.join(","))
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if u32::from(control) < 0x20 => {
                out.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// Adds up the rows of `ARRAY(SELECT …)`.
struct Gather;

impl rusqlite::functions::Aggregate<Vec<Option<String>>, Value> for Gather {
    fn init(&self, _ctx: &mut Context<'_>) -> Result<Vec<Option<String>>> {
        Ok(Vec::new())
    }

    fn step(&self, ctx: &mut Context<'_>, items: &mut Vec<Option<String>>) -> Result<()> {
        items.push(argument(ctx, 0)?);
        Ok(())
    }

    fn finalize(
        &self,
        _ctx: &mut Context<'_>,
        items: Option<Vec<Option<String>>>,
    ) -> Result<Value> {
        Ok(Value::Text(array(&items.unwrap_or_default())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_read_as_they_are_written() {
        let cases = [
            ("{}", "[]"),
            ("{a,b}", "[\"a\",\"b\"]"),
            ("{1,NULL,\"NULL\"}", "[1,null,\"NULL\"]"),
            (r#"{"a,\"b\\","c d"}"#, r#"["a,\"b\\","c d"]"#),
            ("1 2", "[1,2]"),
            ("", "[]"),
        ];
        for (text, expected) in cases {
            assert_eq!(json(&items(text)), expected, "{text}");
        }
        let list = [Some("a,b".to_owned()), None, Some(String::new()), Some("x".to_owned())];
        assert_eq!(array(&list), "{\"a,b\",NULL,\"\",x}");
        assert_eq!(items(&array(&list)), list);
    }
}
