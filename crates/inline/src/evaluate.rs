//! Tree and values → value.

use crate::datum::{Datum, MOST_ITEMS};
use crate::tree::{Binary, Each, Expr, Kind, OnNull, RangeEnd, Unary};
use crate::{Arithmetic, Error, method, operate};

/// What an expression sees.
#[derive(Debug)]
pub(crate) struct Scope<'a, 's> {
    /// The sharding values, in the order of the variables.
    pub(crate) slots: &'s [Datum<'a>],
    /// Whose arithmetic.
    pub(crate) arithmetic: Arithmetic,
    /// Parameters of the closures around.
    pub(crate) locals: Vec<Datum<'a>>,
}

/// The value of an expression.
pub(crate) fn evaluate<'a>(expr: &'a Expr, scope: &mut Scope<'a, '_>) -> Result<Datum<'a>, Error> {
    let fail = |message: String| Error::new(expr.at, message);
    match &expr.kind {
        Kind::Constant(value) => Ok(value.clone()),
        Kind::Slot(slot) => Ok(scope.slots.get(*slot).cloned().unwrap_or(Datum::Null)),
        Kind::Local(local) => Ok(scope.locals.get(*local).cloned().unwrap_or(Datum::Null)),
        Kind::List(items) => {
            let items = items.iter().map(|item| evaluate(item, scope));
            Ok(Datum::List(items.collect::<Result<_, _>>()?))
        }
        Kind::Range { low, high, end } => {
            let (low, high) = (evaluate(low, scope)?, evaluate(high, scope)?);
            range(&low, &high, *end).map_err(fail)
        }
        Kind::Unary(Unary::Not, inner) => Ok(Datum::Bool(!evaluate(inner, scope)?.is_true())),
        Kind::Unary(Unary::Negate, inner) => {
            operate::negate(&evaluate(inner, scope)?, scope.arithmetic).map_err(fail)
        }
        Kind::Binary(operator, left, right) => operation(*operator, left, right, scope),
        Kind::And(left, right) => {
            let both = evaluate(left, scope)?.is_true() && evaluate(right, scope)?.is_true();
            Ok(Datum::Bool(both))
        }
        Kind::Or(left, right) => {
            let either = evaluate(left, scope)?.is_true() || evaluate(right, scope)?.is_true();
            Ok(Datum::Bool(either))
        }
        Kind::Choose(condition, yes, no) => {
            let branch = if evaluate(condition, scope)?.is_true() { yes } else { no };
            evaluate(branch, scope)
        }
        Kind::Elvis(value, other) => {
            let value = evaluate(value, scope)?;
            if value.is_true() { Ok(value) } else { evaluate(other, scope) }
        }
        Kind::Index(on, index) => {
            let (on, index) = (evaluate(on, scope)?, evaluate(index, scope)?);
            method::index(on, &index).map_err(fail)
        }
        Kind::Cast(to, inner) => operate::cast(*to, &evaluate(inner, scope)?).map_err(fail),
        Kind::Call { on, method, arguments, on_null } => {
            let on = evaluate(on, scope)?;
            if on == Datum::Null {
                return match on_null {
                    OnNull::Passes => Ok(on),
                    OnNull::Fails => Err(fail("a method of null is called".into())),
                };
            }
            let arguments = all(arguments, scope)?;
            method::call(*method, on, &arguments, scope.arithmetic).map_err(fail)
        }
        Kind::Static { function, arguments } => {
            let arguments = all(arguments, scope)?;
            method::apply(*function, &arguments, scope.arithmetic).map_err(fail)
        }
        Kind::Each { on, each, body } => made_of_each(evaluate(on, scope)?, *each, body, scope),
    }
}

fn all<'a>(exprs: &'a [Expr], scope: &mut Scope<'a, '_>) -> Result<Vec<Datum<'a>>, Error> {
    exprs.iter().map(|expr| evaluate(expr, scope)).collect()
}

fn operation<'a>(
    operator: Binary,
    left: &'a Expr,
    right: &'a Expr,
    scope: &mut Scope<'a, '_>,
) -> Result<Datum<'a>, Error> {
    let at = left.at;
    let (mut a, mut b) = (evaluate(left, scope)?, evaluate(right, scope)?);
    if operator == Binary::Add {
        // A column's number may arrive as text; added to a number it is one, or `'5'` and `5` would go apart.
        if matches!(left.kind, Kind::Slot(_)) && matches!(b, Datum::Int(..)) {
            a = a.to_number().unwrap_or(a);
        } else if matches!(right.kind, Kind::Slot(_)) && matches!(a, Datum::Int(..)) {
            b = b.to_number().unwrap_or(b);
        }
    }
    operate::binary(operator, a, b, scope.arithmetic).map_err(|message| Error::new(at, message))
}

fn made_of_each<'a>(
    on: Datum<'a>,
    each: Each,
    body: &'a Expr,
    scope: &mut Scope<'a, '_>,
) -> Result<Datum<'a>, Error> {
    let Datum::List(items) = on else {
        return Err(Error::new(body.at, format!("expected a list, found {}", on.describe())));
    };
    let mut results = Vec::with_capacity(items.len());
    for item in items {
        scope.locals.push(item);
        let result = evaluate(body, scope);
        let item = scope.locals.pop().unwrap_or(Datum::Null);
        let result = result?;
        match each {
            Each::Collect => results.push(result),
            Each::FindAll if result.is_true() => results.push(item),
            Each::FindAll => {}
        }
    }
    Ok(Datum::List(results))
}

/// `0..3`, `3..0`, `'a'..'e'`.
fn range<'a>(low: &Datum<'a>, high: &Datum<'a>, end: RangeEnd) -> Result<Datum<'a>, String> {
    if let (Datum::Text(a), Datum::Text(b)) = (low, high)
        && let (Some(a), Some(b)) = (single(a), single(b))
    {
        let numbers = span(i128::from(u32::from(a)), i128::from(u32::from(b)), end)?;
        let char_of = |n: i128| u32::try_from(n).ok().and_then(char::from_u32);
        let letters = numbers.into_iter().filter_map(char_of);
        return Ok(Datum::List(letters.map(|c| Datum::text(c.to_string())).collect()));
    }
    match (low.to_number(), high.to_number()) {
        (Some(Datum::Int(a, _)), Some(Datum::Int(b, _))) => {
            Ok(Datum::List(span(a, b, end)?.into_iter().map(Datum::int).collect()))
        }
        _ => Err(format!("no range from {} to {}", low.describe(), high.describe())),
    }
}

fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let first = chars.next().filter(|c| !c.is_ascii_digit())?;
    chars.next().is_none().then_some(first)
}

fn span(a: i128, b: i128, end: RangeEnd) -> Result<Vec<i128>, String> {
    let count = a.abs_diff(b);
    if count >= MOST_ITEMS as u128 {
        return Err(format!("range `{a}..{b}` has more than {MOST_ITEMS} items"));
    }
    let mut numbers: Vec<i128> = if a <= b { (a..=b).collect() } else { (b..=a).rev().collect() };
    if end == RangeEnd::Excluded {
        numbers.pop();
    }
    Ok(numbers)
}
