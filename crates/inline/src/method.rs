//! What the methods and functions of inline expressions do.

use std::borrow::Cow;

use bigdecimal::RoundingMode;

use crate::Arithmetic;
use crate::datum::{Datum, MOST_ITEMS, Width};
use crate::format;
use crate::java;
use crate::methods::{Function, ItemsMethod, Method, TextMethod};
use crate::operate::{self, Failure};
use crate::tree::{Binary, Type};

/// Characters a made text may have.
const LONGEST: usize = 10_000;

/// Calls a method.
pub(crate) fn call<'a>(
    method: Method,
    on: Datum<'a>,
    arguments: &[Datum<'a>],
    arithmetic: Arithmetic,
) -> Result<Datum<'a>, Failure> {
    let other = || arguments.first().cloned().unwrap_or(Datum::Null);
    match method {
        Method::ToInteger => operate::cast(Type::Integer, &on),
        Method::ToLong => operate::cast(Type::Long, &on),
        Method::ToBigInteger => operate::cast(Type::BigInteger, &on),
        Method::ToDecimal => operate::cast(Type::Decimal, &on),
        Method::ToText => operate::cast(Type::Text, &on),
        Method::HashCode => hash(&on, arithmetic),
        Method::Abs => absolute(&on, arithmetic),
        Method::IntDiv => int_div(&on, &other(), arithmetic),
        Method::Remainder => operate::binary(Binary::Remainder, on, other(), arithmetic),
        Method::Plus => operate::binary(Binary::Add, on, other(), arithmetic),
        Method::Minus => operate::binary(Binary::Subtract, on, other(), arithmetic),
        Method::Multiply => operate::binary(Binary::Multiply, on, other(), arithmetic),
        Method::Power => operate::binary(Binary::Power, on, other(), arithmetic),
        Method::Equals => Ok(Datum::Bool(operate::is_equal(&on, &other()))),
        Method::OfItems(method) => of_items(method, on, &other()),
        Method::OfText(method) => of_text(method, &on, arguments),
    }
}

/// Calls a function.
pub(crate) fn apply<'a>(
    function: Function,
    arguments: &[Datum<'a>],
    arithmetic: Arithmetic,
) -> Result<Datum<'a>, Failure> {
    let argument = |i: usize| arguments.get(i).cloned().unwrap_or(Datum::Null);
    let (a, b) = (argument(0), argument(1));
    match function {
        Function::Abs => absolute(&a, arithmetic),
        Function::Max => Ok(if operate::order(&a, &b)?.is_ge() { a } else { b }),
        Function::Min => Ok(if operate::order(&a, &b)?.is_le() { a } else { b }),
        Function::FloorMod => operate::binary(Binary::Remainder, a, b, Arithmetic::Exact),
        Function::FloorDiv => {
            let (a, b) = (whole(&a)?, whole(&b)?);
            let quotient = a.checked_div(b).ok_or("division by zero")?;
            let below = a % b != 0 && (a < 0) != (b < 0);
            Ok(Datum::int(quotient - i128::from(below)))
        }
        Function::Floor => rounded(&a, RoundingMode::Floor),
        Function::Ceil => rounded(&a, RoundingMode::Ceiling),
        // Java's round is floor(x + 0.5).
        Function::Round => rounded(&a, RoundingMode::HalfUp),
        Function::Format => {
            let pattern = text(&a)?.into_owned();
            format::format(&pattern, &arguments[1..]).map(Datum::text)
        }
        Function::ParseInteger => operate::cast(Type::Integer, &a),
        Function::ParseLong => operate::cast(Type::Long, &a),
        Function::TextOf => operate::cast(Type::Text, &a),
    }
}

/// `a[b]` of a list or text; a negative index counts from the end.
pub(crate) fn index<'a>(on: Datum<'a>, index: &Datum<'a>) -> Result<Datum<'a>, Failure> {
    if let Datum::List(positions) = index {
        let items = positions.iter().map(|position| self::index(on.clone(), position));
        let items: Vec<Datum<'a>> = items.collect::<Result<_, _>>()?;
        if !matches!(on, Datum::Text(_)) {
            return Ok(Datum::List(items));
        }
        let joined: Vec<Cow<'_, str>> = items.iter().filter_map(Datum::to_text).collect();
        return Ok(Datum::text(joined.concat()));
    }
    let wanted = whole(index)?;
    let at = |length: usize| {
        let length = i128::try_from(length).unwrap_or(i128::MAX);
        let at = if wanted < 0 { wanted + length } else { wanted };
        usize::try_from(at).ok().ok_or_else(|| format!("index {wanted} is out of bounds"))
    };
    let missing = || format!("index {wanted} is out of bounds");
    if let Datum::List(mut items) = on {
        let at = at(items.len())?;
        return if at < items.len() { Ok(items.swap_remove(at)) } else { Err(missing()) };
    }
    let Datum::Text(text) = on else {
        return Err(format!("{} has no items", on.describe()));
    };
    let at = at(text.chars().count())?;
    let found = text.chars().nth(at).ok_or_else(missing)?;
    Ok(Datum::text(found.to_string()))
}

fn whole(value: &Datum<'_>) -> Result<i128, Failure> {
    value.to_whole().ok_or_else(|| format!("expected a number, found {}", value.describe()))
}

fn rounded(value: &Datum<'_>, mode: RoundingMode) -> Result<Datum<'static>, Failure> {
    let number = value.to_decimal();
    let number = number.ok_or_else(|| format!("expected a number, found {}", value.describe()))?;
    Ok(operate::reduced(number.with_scale_round(0, mode)))
}

/// Only texts have texts' methods: a number compared with a text column would match rows that are spelt otherwise.
fn text<'v>(value: &'v Datum<'_>) -> Result<Cow<'v, str>, Failure> {
    let Datum::Text(text) = value else {
        return Err(format!("expected a text, found {}; use `toString()`", value.describe()));
    };
    Ok(Cow::Borrowed(text))
}

fn absolute(value: &Datum<'_>, arithmetic: Arithmetic) -> Result<Datum<'static>, Failure> {
    match value.to_number() {
        Some(Datum::Int(number, width)) => {
            Ok(operate::fit(number.saturating_abs(), width, arithmetic))
        }
        Some(Datum::Decimal(number)) => Ok(Datum::Decimal(number.abs())),
        _ => Err(format!("expected a number, found {}", value.describe())),
    }
}

fn int_div(
    left: &Datum<'_>,
    right: &Datum<'_>,
    arithmetic: Arithmetic,
) -> Result<Datum<'static>, Failure> {
    let (a, b) = (whole(left)?, whole(right)?);
    let quotient = a.checked_div(b).ok_or("division by zero")?;
    let width = |value: &Datum<'_>, number: i128| {
        if let Datum::Int(_, width) = value { *width } else { Width::of(number) }
    };
    Ok(operate::fit(quotient, width(left, a).max(width(right, b)), arithmetic))
}

fn hash(value: &Datum<'_>, arithmetic: Arithmetic) -> Result<Datum<'static>, Failure> {
    let code = match (value, arithmetic) {
        (Datum::Text(text), Arithmetic::Groovy) => java::hash_of_text(text),
        (Datum::Int(number, Width::Long), Arithmetic::Groovy) => {
            java::hash_of_long(i64::try_from(*number).unwrap_or_default())
        }
        (Datum::Int(number, _), Arithmetic::Groovy) => java::hash_of_whole(*number),
        (Datum::Bool(flag), Arithmetic::Groovy) => {
            if *flag {
                1231
            } else {
                1237
            }
        }
        (value, _) => match value.to_number() {
            Some(Datum::Int(number, _)) => java::hash_of_whole(number),
            Some(Datum::Decimal(number)) => java::hash_of_text(&number.to_plain_string()),
            _ => java::hash_of_text(&text(value)?),
        },
    };
    Ok(Datum::Int(i128::from(code), Width::Integer))
}

fn of_items<'a>(
    method: ItemsMethod,
    on: Datum<'a>,
    other: &Datum<'a>,
) -> Result<Datum<'a>, Failure> {
    if let Datum::Text(text) = on {
        return of_characters(method, &text, other);
    }
    let Datum::List(items) = on else {
        return Err(format!("expected a text or list, found {}", on.describe()));
    };
    let missing = || "the list is empty".to_owned();
    match method {
        ItemsMethod::IsEmpty => Ok(Datum::Bool(items.is_empty())),
        ItemsMethod::First => items.into_iter().next().ok_or_else(missing),
        ItemsMethod::Last => items.into_iter().next_back().ok_or_else(missing),
        ItemsMethod::Contains => {
            Ok(Datum::Bool(items.iter().any(|item| operate::is_equal(item, other))))
        }
        ItemsMethod::Reverse => Ok(Datum::List(items.into_iter().rev().collect())),
        ItemsMethod::Join => {
            let texts: Vec<Cow<'_, str>> = items.iter().filter_map(Datum::to_text).collect();
            Ok(Datum::text(texts.join(&text(other)?)))
        }
        ItemsMethod::Length => Ok(Datum::int(items.len() as i128)),
    }
}

fn of_characters<'a>(
    method: ItemsMethod,
    on: &str,
    other: &Datum<'a>,
) -> Result<Datum<'a>, Failure> {
    match method {
        ItemsMethod::Length => Ok(Datum::int(on.encode_utf16().count() as i128)),
        ItemsMethod::IsEmpty => Ok(Datum::Bool(on.is_empty())),
        ItemsMethod::Contains => Ok(Datum::Bool(on.contains(&*text(other)?))),
        ItemsMethod::Reverse => Ok(Datum::text(on.chars().rev().collect::<String>())),
        ItemsMethod::First | ItemsMethod::Last | ItemsMethod::Join => {
            Err("expected a list, found a text".into())
        }
    }
}

fn of_text<'a>(
    method: TextMethod,
    on: &Datum<'a>,
    arguments: &[Datum<'a>],
) -> Result<Datum<'a>, Failure> {
    let on = text(on)?;
    let argument = |i: usize| arguments.get(i).cloned().unwrap_or(Datum::Null);
    let first = argument(0);
    let position = |found: Option<usize>| {
        let at = found.map(|at| on[..at].chars().count() as i128);
        Ok(Datum::int(at.unwrap_or(-1)))
    };
    match method {
        TextMethod::Substring => substring(&on, &first, arguments.get(1)),
        TextMethod::CharAt => index(Datum::text(on.into_owned()), &first),
        TextMethod::IndexOf => position(on.find(&*text(&first)?)),
        TextMethod::LastIndexOf => position(on.rfind(&*text(&first)?)),
        TextMethod::ToLower => Ok(Datum::text(on.to_lowercase())),
        TextMethod::ToUpper => Ok(Datum::text(on.to_uppercase())),
        TextMethod::Trim => Ok(Datum::text(on.trim().to_owned())),
        TextMethod::PadLeft | TextMethod::PadRight => pad(method, &on, &first, arguments.get(1)),
        TextMethod::StartsWith => Ok(Datum::Bool(on.starts_with(&*text(&first)?))),
        TextMethod::EndsWith => Ok(Datum::Bool(on.ends_with(&*text(&first)?))),
        TextMethod::Replace => {
            let (from, to) = (text(&first)?, argument(1));
            let to = text(&to)?;
            if from.is_empty() || to.len() > 100 {
                return Err("`replace` needs something to replace, by at most 100 bytes".into());
            }
            Ok(Datum::text(on.replace(&*from, &to)))
        }
        TextMethod::Split => {
            let separator = text(&first)?;
            if separator.is_empty() {
                return Err("`split` needs a separator".into());
            }
            // Java takes the separator as a pattern; only an escaped sign is understood of those.
            let plain = separator.strip_prefix('\\').unwrap_or(&separator);
            let parts = on.split(plain).take(MOST_ITEMS);
            Ok(Datum::List(parts.map(|part| Datum::text(part.to_owned())).collect()))
        }
    }
}

fn substring<'a>(on: &str, from: &Datum<'a>, to: Option<&Datum<'a>>) -> Result<Datum<'a>, Failure> {
    let length = on.chars().count();
    let bound = |value: &Datum<'_>| {
        let number = whole(value)?;
        let number = usize::try_from(number).ok().filter(|number| *number <= length);
        number.ok_or_else(|| format!("`substring` beyond the {length} characters of the text"))
    };
    let from = bound(from)?;
    let to = to.map_or(Ok(length), bound)?;
    if from > to {
        return Err("`substring` ends before it starts".into());
    }
    Ok(Datum::text(on.chars().skip(from).take(to - from).collect::<String>()))
}

fn pad<'a>(
    method: TextMethod,
    on: &str,
    width: &Datum<'a>,
    filler: Option<&Datum<'a>>,
) -> Result<Datum<'a>, Failure> {
    let width = usize::try_from(whole(width)?).ok().filter(|width| *width <= LONGEST);
    let width = width.ok_or_else(|| format!("padding is from 0 to {LONGEST} characters"))?;
    let filler = match filler {
        Some(filler) => filler.to_text().map_or_else(|| " ".into(), String::from),
        None => " ".into(),
    };
    let missing = width.saturating_sub(on.chars().count());
    let fill: String = filler.chars().cycle().take(missing).collect();
    let padded = if method == TextMethod::PadLeft { fill + on } else { on.to_owned() + &fill };
    Ok(Datum::text(padded))
}
