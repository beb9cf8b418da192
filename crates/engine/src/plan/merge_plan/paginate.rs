//! LIMIT and OFFSET of a query over several targets.

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::Context;
use pando_kernel::merge::MergePlan;
use pando_kernel::value::Value;
use pando_sql::ast::{Expr, Literal, Node, Query};
use pando_sql::{Edits, Span};

use super::gather::refused;
use super::resolve::unwrapped;

/// What each unit gives of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) enum Share {
    /// Those up to the last one wanted.
    First,
    /// All: which are the first shows only when all have come.
    All,
}

/// LIMIT and OFFSET.
///
/// # Errors
/// `Value`, `NegativeCount` and `Refused` for what counts no rows.
pub(in crate::plan) fn paginate(
    ctx: &Context<'_>,
    query: &Query,
    share: Share,
    plan: &mut MergePlan,
    edits: &mut Edits,
) -> Result<()> {
    let all = ctx.dialect.select_limit(&ctx.session.facts.settings)?;
    let in_memory = share == Share::All;
    // Where all groups are needed a session's limit must not stop a unit.
    let whole = all.map_or(String::new(), |_| format!("LIMIT {}", u64::MAX));
    let Some(limit) = &query.limit else {
        // Each unit keeps to it by itself.
        plan.limit = all;
        if in_memory && all.is_some() {
            let end = query.lock.as_ref().map_or(query.span.end, |lock| lock.span.start);
            edits.replace(Span::at(end), format!(" {whole} "));
        }
        return Ok(());
    };
    let count = limit.count.as_ref().map(|expr| number(ctx, "LIMIT", expr)).transpose()?.flatten();
    let offset = limit
        .offset
        .as_ref()
        .map(|expr| number(ctx, "OFFSET", expr))
        .transpose()?
        .flatten()
        .unwrap_or(0);
    // MariaDB knows OFFSET without a count, MySQL reports it as the error of syntax that it is there.
    let is_offset_alone = limit.count.is_none() && ctx.dialect.syntax().limit_with_comma;
    if is_offset_alone && all.is_some() {
        return Err(refused("OFFSET without a count where the session limits all queries"));
    }
    plan.limit = count;
    plan.offset = offset;
    let pushed = match count {
        Some(count) if !in_memory => format!("LIMIT {}", last(count, offset)),
        _ if is_offset_alone => "OFFSET 0 ROWS".to_owned(),
        _ => whole,
    };
    edits.replace(limit.span, pushed);
    Ok(())
}

/// The number of the last row wanted. PostgreSQL counts with signed numbers: what it would take by itself must not become too much for it.
fn last(count: u64, offset: u64) -> u64 {
    const MOST: u64 = i64::MAX.unsigned_abs();
    let sum = count.saturating_add(offset);
    if count.max(offset) <= MOST { sum.min(MOST) } else { sum }
}

/// A row count; `None` for NULL.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is no constant is refused")]
fn number(ctx: &Context<'_>, clause: &'static str, expr: &Expr) -> Result<Option<u64>> {
    let wrong = |what: &str| Error::new(ErrorKind::Value(format!("{clause} must not be {what}")));
    let negative = || Error::new(ErrorKind::NegativeCount(clause));
    let of_text = |text: &str| match text.trim().parse::<i64>() {
        Ok(number) => u64::try_from(number).map(Some).map_err(|_| negative()),
        Err(_) => text.trim().parse().map(Some).map_err(|_| wrong("text")),
    };
    match &unwrapped(expr).node {
        Node::Literal(Literal::Integer(n)) => u64::try_from(*n).map(Some).map_err(|_| negative()),
        Node::Cast { operand, .. } => number(ctx, clause, operand),
        Node::Literal(Literal::Text(text)) if !ctx.dialect.syntax().limit_with_comma => {
            of_text(text)
        }
        Node::Literal(Literal::Null) => Ok(None),
        Node::Literal(Literal::Number(n)) => {
            let digits = Value::decimal(n).and_then(|value| whole_digits(&value));
            digits
                .and_then(|digits| digits.parse().ok())
                .map(Some)
                .ok_or_else(|| wrong("fractional"))
        }
        Node::Parameter(index) => match ctx.parameter(*index) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Int(n)) => u64::try_from(*n).map(Some).map_err(|_| negative()),
            Some(Value::UInt(n)) => Ok(Some(*n)),
            Some(Value::Text(text)) => of_text(text),
            // Some drivers send all numbers so.
            Some(value @ (Value::Float(_) | Value::Decimal(_))) => {
                let digits = whole_digits(value).ok_or_else(|| wrong("fractional"))?;
                let is_negative = digits.starts_with('-');
                let too = || if is_negative { negative() } else { wrong("so large") };
                digits.parse().map(Some).map_err(|_| too())
            }
            Some(Value::Bool(_) | Value::Bytes(_)) => Err(wrong("other than an integer")),
        },
        _ => Err(refused("LIMIT with an expression")),
    }
}

/// The digits of a number without a fraction.
fn whole_digits(value: &Value) -> Option<String> {
    let text = match value {
        Value::Float(number) if number.fract() == 0.0 => format!("{number:.0}"),
        Value::Decimal(number) => number.to_plain_string(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Bytes(_) => return None,
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    fraction.bytes().all(|digit| digit == b'0').then(|| whole.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_fraction_count_rows() {
        let digits = |value: Value| whole_digits(&value);
        let decimal = |text: &str| Value::decimal(text).unwrap();
        assert_eq!(digits(Value::Float(3.0)).as_deref(), Some("3"));
        assert_eq!(digits(decimal("20e-1")).as_deref(), Some("2"));
        assert_eq!(digits(decimal("1e2")).as_deref(), Some("100"));
        for other in [Value::Float(1.5), Value::Float(f64::NAN), decimal("1.5"), Value::Null] {
            assert_eq!(digits(other), None);
        }
    }
}
