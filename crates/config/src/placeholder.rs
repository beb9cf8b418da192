//! `$${NAME::DEFAULT}` in a value: filled from the environment.

/// Where a placeholder's value comes from: the name of a variable to its value.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The text with every `$${NAME}` and `$${NAME::DEFAULT}` filled.
///
/// # Errors
/// What is wrong with a placeholder: not closed, without a name, or unset without a default.
pub(crate) fn fill(text: &str, environment: Environment<'_>) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("$${") {
        filled.push_str(&rest[..start]);
        let inside = &rest[start + 3..];
        let end = inside.find('}').ok_or("placeholder `$${` is not closed by `}`")?;
        filled.push_str(&value(&inside[..end], environment)?);
        rest = &inside[end + 1..];
    }
    filled.push_str(rest);
    Ok(filled)
}

fn value(inside: &str, environment: Environment<'_>) -> Result<String, String> {
    let (name, default) = match inside.split_once("::") {
        Some((name, default)) => (name.trim(), Some(default)),
        None => (inside.trim(), None),
    };
    if name.is_empty() {
        return Err(format!("placeholder `$${{{inside}}}` has no name"));
    }
    if let Some(value) = environment(name) {
        return Ok(value);
    }
    let missing = || format!("environment variable `{name}` is not set and has no default");
    default.map(str::to_owned).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let environment = |name: &str| (name == "HOST").then(|| "db1".to_owned());
        let filled = fill(text, &environment);
        assert_eq!(filled.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn placeholders_take_the_environment_before_the_default() {
        check("plain ${0..1} text", Ok("plain ${0..1} text"));
        check("$${HOST::localhost}:$${PORT::3306}", Ok("db1:3306"));
        check("jdbc:mysql://$${HOST}/x", Ok("jdbc:mysql://db1/x"));
        check("$${PASSWORD::}", Ok(""));
        check("$${URL::jdbc:h2:mem:x}", Ok("jdbc:h2:mem:x"));
    }

    #[test]
    fn bad_placeholders_are_refused() {
        check("$${PORT}", Err("environment variable `PORT` is not set and has no default"));
        check("$${HOST::x", Err("placeholder `$${` is not closed by `}`"));
        check("$${::x}", Err("placeholder `$${::x}` has no name"));
    }
}
