//! `<INTERVAL>`: names that end in dates, from one bound to another.

use crate::Error;
use crate::datetime::{Pattern, Steps, Unit};
use crate::datum::MOST_ITEMS;

/// `P=t_;SP=yyyy_MM;DIA=1;DIU=Months;DL=2022_01;DU=2022_12` → `t_2022_01` … `t_2022_12`.
pub(crate) fn expand(text: &str, offset: usize) -> Result<Vec<String>, Error> {
    let mut fields: Vec<(&str, &str, usize)> = Vec::new();
    let mut at = offset;
    for field in text.split(';') {
        let start = at;
        at += field.chars().count() + 1;
        if field.trim().is_empty() {
            continue;
        }
        let (key, value) = field
            .split_once('=')
            .ok_or_else(|| Error::new(start, format!("expected `key=value`, found `{field}`")))?;
        let key = key.trim();
        if !matches!(key, "P" | "SP" | "DIA" | "DIU" | "DL" | "DU" | "C") {
            let message = format!("unknown key `{key}` (known: P, SP, DIA, DIU, DL, DU, C)");
            return Err(Error::new(start, message));
        }
        fields.push((key, value.trim(), start));
    }
    let field = |key: &str| fields.iter().find(|(known, ..)| *known == key);
    let needed = |key: &str| {
        let found = field(key).map(|(_, value, at)| (*value, *at));
        found.ok_or_else(|| Error::new(offset, format!("key `{key}` is required")))
    };
    if let Some((_, calendar, at)) = field("C").filter(|(_, c, _)| !c.eq_ignore_ascii_case("ISO")) {
        return Err(Error::new(*at, format!("calendar `{calendar}` is not supported, only ISO")));
    }
    let prefix = needed("P")?.0;
    let (pattern, at) = needed("SP")?;
    let pattern = Pattern::parse(pattern).map_err(|why| Error::new(at, why))?;
    let (amount, at) = needed("DIA")?;
    let amount = amount.parse::<u32>().ok().filter(|amount| *amount > 0);
    let amount = amount.ok_or_else(|| Error::new(at, "expected a whole number above 0"))?;
    let (unit, at) = needed("DIU")?;
    let unit = Unit::named(unit).ok_or_else(|| Error::new(at, format!("unknown unit `{unit}`")))?;
    let date = |key: &str| {
        let (text, at) = needed(key)?;
        let value = pattern.read_whole(text).map_err(|why| Error::new(at, why))?;
        Ok((value, at))
    };
    let ((lower, _), (upper, at)) = (date("DL")?, date("DU")?);
    let steps = Steps::new(lower, amount, unit);
    let mut names = Vec::new();
    while let Some(step) = steps.at(names.len() as u64).filter(|step| *step <= upper) {
        names.push(format!("{prefix}{}", pattern.write(step)));
        if names.len() > MOST_ITEMS {
            return Err(Error::new(at, format!("more than {MOST_ITEMS} names")));
        }
    }
    Ok(names)
}
