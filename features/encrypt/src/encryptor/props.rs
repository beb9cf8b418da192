//! Properties of an encryptor.

use pando_config::{Algorithm, Placed, Problem};

/// A property that must be there and say something.
///
/// # Errors
/// Where it does not.
pub(super) fn required<'a>(
    algorithm: &'a Algorithm,
    name: &str,
) -> Result<&'a Placed<String>, Problem> {
    match algorithm.props.get(name).filter(|value| !value.value.is_empty()) {
        Some(value) => Ok(value),
        None => {
            let kind = &algorithm.kind;
            Err(kind.at.problem(format!("`{}` needs the property `{name}`", kind.value)))
        }
    }
}

/// Refuses properties that the encryptor does not have.
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

/// A whole number, or this one where none is given.
///
/// # Errors
/// For anything else.
pub(super) fn number(algorithm: &Algorithm, name: &str, otherwise: i32) -> Result<i32, Problem> {
    let Some(value) = algorithm.props.get(name) else { return Ok(otherwise) };
    value.value.trim().parse().map_err(|_| {
        let kind = &algorithm.kind.value;
        value.at.problem(format!("`{name}` of `{kind}` is a whole number, not `{}`", value.value))
    })
}

/// `added-characters`: by how many characters what is stored may be longer than its value has octets; 0 where it is not
/// given.
///
/// # Errors
/// For what is no whole number of at least 0, or more than any column has.
pub(super) fn added(algorithm: &Algorithm) -> Result<usize, Problem> {
    let Some(value) = algorithm.props.get("added-characters") else { return Ok(0) };
    let number = value.trim().parse().ok().filter(|number| *number <= 65_535);
    number.ok_or_else(|| {
        let message =
            format!("`added-characters` is a whole number up to 65535, not `{}`", value.value);
        value.at.problem(message)
    })
}
