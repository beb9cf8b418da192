//! Properties of a mask.

use pando_config::{Algorithm, Placed, Problem};

/// Refuses properties that the mask does not have.
///
/// # Errors
/// For the first of these.
pub(super) fn check(algorithm: &Algorithm, known: &[&str]) -> Result<(), Problem> {
    match algorithm.props.iter().find(|(key, _)| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some((key, _)) => {
            let kind = &algorithm.kind.value;
            Err(key.at.problem(format!("`{kind}` has no property `{}`", key.value)))
        }
    }
}

/// A property that must be there and say something.
///
/// # Errors
/// Where it does not.
pub(super) fn required<'a>(
    algorithm: &'a Algorithm,
    name: &str,
) -> Result<&'a Placed<String>, Problem> {
    let kind = &algorithm.kind;
    let value = algorithm.props.get(name).filter(|value| !value.value.is_empty());
    value.ok_or_else(|| kind.at.problem(format!("`{}` needs the property `{name}`", kind.value)))
}

/// A number of characters, at least 1.
///
/// # Errors
/// For anything else.
pub(super) fn count(algorithm: &Algorithm, name: &str) -> Result<usize, Problem> {
    let value = required(algorithm, name)?;
    let number = value.value.trim().parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| value.at.problem(format!("`{name}` is a whole number above 0")))
}

/// The character that covers others.
///
/// # Errors
/// Where it is none, or several.
pub(super) fn cover(algorithm: &Algorithm) -> Result<char, Problem> {
    let value = required(algorithm, "replace-char")?;
    let mut all = value.value.chars();
    match (all.next(), all.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(value.at.problem("`replace-char` is one character")),
    }
}

/// A list with commas between its texts, of which none is empty.
///
/// # Errors
/// Where it is not there, or has an empty text.
pub(super) fn list(algorithm: &Algorithm, name: &str) -> Result<Vec<String>, Problem> {
    let value = required(algorithm, name)?;
    let all: Vec<String> = value.value.split(',').map(|one| one.trim().to_owned()).collect();
    match all.iter().any(String::is_empty) {
        true => Err(value.at.problem(format!("`{name}` has an empty text"))),
        false => Ok(all),
    }
}
