//! The text of a row value: `(a,"b ""c""",,"")`.
//! <https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-IO-SYNTAX>

use pando_kernel::error::{Error, Result};

use crate::image::Row;

/// Its fields; an empty one without quotes is NULL.
///
/// # Errors
/// `Protocol` when the text is no row value.
pub(crate) fn unpack(text: &str) -> Result<Row> {
    let wrong = || Error::protocol("a row value that cannot be read");
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).ok_or_else(wrong)?;
    let mut row = Row::new();
    let mut value = String::new();
    let mut is_null = true;
    let mut quoted = false;
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                value.push('"');
            }
            '"' => {
                quoted = !quoted;
            }
            '\\' => value.push(letters.next().ok_or_else(wrong)?),
            ',' if !quoted => {
                row.push((!is_null).then(|| std::mem::take(&mut value)));
                value.clear();
                is_null = true;
                continue;
            }
            other => value.push(other),
        }
        is_null = false;
    }
    if quoted {
        return Err(wrong());
    }
    row.push((!is_null).then_some(value));
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::unpack;

    #[test]
    fn row_values_are_taken_apart() {
        let check = |text: &str, expected: &[Option<&str>]| {
            let row = unpack(text).unwrap();
            let row: Vec<Option<&str>> = row.iter().map(Option::as_deref).collect();
            assert_eq!(row, expected, "{text}");
        };
        check("(1,a)", &[Some("1"), Some("a")]);
        check("(,\"\",\"a \"\"b\"\" \\\\ c,d\")", &[None, Some(""), Some("a \"b\" \\ c,d")]);
        check("()", &[None]);
        check("(\"(1,2)\",)", &[Some("(1,2)"), None]);
        for text in ["", "(", "(\"a)", "a"] {
            assert!(unpack(text).is_err(), "{text}");
        }
    }
}
