//! `EXPRESSION`: what two inline expressions make of a value, and of what is stored. It hides nothing that the expressions do
//! not: it is for data that is there already, and for forms of it.

use pando_config::{Algorithm, Problem};
use pando_inline::{Datum, Formula, Type, Variable};
use pando_kernel::error::{Error, ErrorKind, Result};

use super::{Abilities, Encryptor, Like, Stores, props, unreadable};

/// `EXPRESSION`.
#[derive(Debug)]
pub(super) struct Expression {
    encrypts: Formula,
    decrypts: Formula,
    added: usize,
}

const VARIABLES: [Variable; 1] = [Variable { name: "value", of: Type::Text }];

impl Expression {
    pub(super) fn new(algorithm: &Algorithm) -> std::result::Result<Self, Problem> {
        props::check(algorithm, &["encrypt", "decrypt", "added-characters"])?;
        let formula = |name: &str| {
            let text = props::required(algorithm, name)?;
            let made = Formula::compile(&text.value, &VARIABLES);
            let made =
                made.map_err(|error| text.at.problem(format!("property `{name}`: {error}")))?;
            match made.used().is_empty() {
                true => Err(text.at.problem(format!("property `{name}` does not look at `value`"))),
                false => Ok(made),
            }
        };
        let added = props::added(algorithm)?;
        Ok(Self { encrypts: formula("encrypt")?, decrypts: formula("decrypt")?, added })
    }
}

impl Encryptor for Expression {
    /// # Errors
    /// `Value` for a value that cannot be had again from what would be stored; neither is told.
    fn encrypt(&self, plain: &[u8]) -> Result<String> {
        kept("EXPRESSION", plain, self.added, |text| {
            let made = |formula: &Formula, text: &str| {
                let failed = |_| {
                    cannot(
                        "EXPRESSION",
                        "what is stored of it, or its way back, cannot be computed",
                    )
                };
                formula.text(&[Datum::text(text)]).map_err(failed)
            };
            let stored = made(&self.encrypts, text)?;
            let back = made(&self.decrypts, &stored)?;
            Ok((stored, back))
        })
    }

    fn decrypt(&self, stored: &str) -> Result<Vec<u8>> {
        let plain = self.decrypts.text(&[Datum::text(stored)]);
        plain.map(String::into_bytes).map_err(|_| unreadable("EXPRESSION"))
    }

    fn width(&self, octets: usize) -> usize {
        octets + self.added
    }

    /// Two values that were stored alike could not both be had again, so that other values are stored otherwise.
    fn abilities(&self) -> Abilities {
        Abilities { decrypts: true, equal: true, like: Like::Never }
    }

    fn stores(&self) -> Stores {
        Stores::Characters
    }
}

/// What is stored of a value, if the value can be had again from it and servers compare and keep it as it is.
///
/// # Errors
/// `Value` where not, and what `both` says; nothing of the value is told.
pub(super) fn kept(
    kind: &str,
    plain: &[u8],
    added: usize,
    both: impl FnOnce(&str) -> Result<(String, String)>,
) -> Result<String> {
    let wrong = |why: &str| cannot(kind, why);
    let text = std::str::from_utf8(plain).map_err(|_| wrong("it is no text"))?;
    let (stored, back) = both(text)?;
    if back != text {
        return Err(wrong("it could not be had again from what would be stored"));
    }
    // Servers pass over spaces at the end where they compare, and PostgreSQL has no NUL in its texts.
    if stored.ends_with(' ') || stored.contains('\0') {
        return Err(wrong("what would be stored ends with a space, or has a NUL in it"));
    }
    if stored.chars().count() > plain.len() + added {
        return Err(wrong("what would be stored is longer than `added-characters` says"));
    }
    Ok(stored)
}

fn cannot(kind: &str, why: &str) -> Error {
    Error::new(ErrorKind::Value(format!("a value cannot be stored by `{kind}`: {why}")))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{made, problem};

    fn props<'a>(encrypt: &'a str, decrypt: &'a str) -> [(&'a str, &'a str); 3] {
        [("encrypt", encrypt), ("decrypt", decrypt), ("added-characters", "2")]
    }

    #[test]
    fn what_is_stored_leads_back_to_the_value() {
        for (encrypt, decrypt, plain, stored) in [
            ("'v1' + value", "value.substring(2)", "Ada", "v1Ada"),
            ("value.reverse()", "value.reverse()", "12345", "54321"),
            (
                "value.replace('-', '')",
                "value.substring(0, 3) + '-' + value.substring(3)",
                "123-45",
                "12345",
            ),
            ("'v1' + value", "value.startsWith('v1') ? value.substring(2) : value", "ä", "v1ä"),
        ] {
            let own = made("EXPRESSION", &props(encrypt, decrypt));
            assert_eq!(own.encrypt(plain.as_bytes()).unwrap(), stored, "{encrypt}");
            assert_eq!(own.decrypt(stored).unwrap(), plain.as_bytes(), "{decrypt}");
            assert!(stored.chars().count() <= own.width(plain.len()));
        }
        // What was stored before the rule was there.
        let own = made(
            "EXPRESSION",
            &props("'v1' + value", "value.startsWith('v1') ? value.substring(2) : value"),
        );
        assert_eq!(own.decrypt("Ada").unwrap(), b"Ada");
    }

    #[test]
    fn a_value_that_could_not_be_had_again_is_not_stored_and_not_told() {
        for (encrypt, decrypt, plain, why) in [
            ("value.toLowerCase()", "value", "Secret", "could not be had again"),
            ("value.replace('-', '')", "value", "se-cret", "could not be had again"),
            ("value.substring(0, 9)", "value", "secret", "cannot be computed"),
            ("value", "value.substring(0, 9)", "secret", "cannot be computed"),
            ("value + ' '", "value.trim()", "secret", "ends with a space"),
            ("'abc' + value", "value.substring(3)", "secret", "longer than `added-characters`"),
            // A rule that also takes old values cannot store one that looks like a new one.
            (
                "value",
                "value.startsWith('v1') ? value.substring(2) : value",
                "v1secret",
                "had again",
            ),
        ] {
            let error = made("EXPRESSION", &props(encrypt, decrypt)).encrypt(plain.as_bytes());
            let told = error.unwrap_err().to_string();
            assert!(told.contains(why) && !told.contains("cret"), "{encrypt}: {told}");
        }
    }

    #[test]
    fn expressions_that_are_none_are_told() {
        for (encrypt, decrypt, why) in [
            ("value.size()", "value", "`encrypt`: expected a text, found a number"),
            ("value", "'x'", "`decrypt` does not look at `value`"),
            ("card", "value", "unknown variable `card`"),
        ] {
            let told = problem("EXPRESSION", &props(encrypt, decrypt));
            assert!(told.contains(why), "{told}");
        }
        assert!(problem("EXPRESSION", &[("encrypt", "value")]).contains("`decrypt`"));
    }
}
