//! Values on their way in and out.

use std::sync::Arc;

use pando_kernel::changes::ValueMap;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::{CellTurn, Column, DeclaredType, Value};
use pando_sql::Fold;

use crate::canonical::{Aim, Declared};
use crate::encryptor::Encryptor;

/// A value that is stored.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) column: Arc<str>,
    pub(crate) makes: Arc<dyn Encryptor>,
    /// What its rule declares.
    pub(crate) declared: Option<Declared>,
    /// Whose language it is.
    pub(crate) fold: Fold,
}

/// A value that is compared with what is stored.
#[derive(Debug)]
pub(crate) struct Asked(pub(crate) Stored);

/// A pattern of LIKE.
#[derive(Debug)]
pub(crate) struct Pattern(pub(crate) Stored);

/// A value that is stored in the plain.
#[derive(Debug)]
pub(crate) struct AsIs;

/// Cipher text that a client gets.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) column: Arc<str>,
    pub(crate) makes: Arc<dyn Encryptor>,
    pub(crate) declared: Option<Declared>,
}

impl Stored {
    /// The text of a value; one that no rule has declared is a text of any length.
    fn text(&self, value: &Value, aim: Aim) -> Result<String> {
        let any = Declared { declared: DeclaredType::Text { most: None }, fold: self.fold };
        self.declared.unwrap_or(any).text(&self.column, value, aim)
    }

    fn encrypted(&self, value: &Value, aim: Aim) -> Result<Value> {
        self.makes.encrypt(self.text(value, aim)?.as_bytes()).map(Value::Text)
    }

    fn told(&self) -> Option<DeclaredType> {
        self.declared.map(|own| own.declared)
    }

    fn wrong(&self, what: &str) -> Error {
        let column = &self.column;
        Error::unsupported(
            30001,
            format!("column `{column}` is encrypted and holds texts, and was given {what}"),
            "give it a text",
        )
    }
}

impl ValueMap for Stored {
    fn turned(&self, value: &Value) -> Result<Value> {
        self.encrypted(value, Aim::Store)
    }

    fn declared(&self) -> Option<DeclaredType> {
        self.told()
    }
}

impl ValueMap for Asked {
    fn turned(&self, value: &Value) -> Result<Value> {
        self.0.encrypted(value, Aim::Compare)
    }

    fn declared(&self) -> Option<DeclaredType> {
        self.0.told()
    }
}

impl ValueMap for AsIs {
    fn turned(&self, value: &Value) -> Result<Value> {
        Ok(value.clone())
    }
}

impl ValueMap for Pattern {
    fn turned(&self, value: &Value) -> Result<Value> {
        let Value::Text(text) = value else {
            return Err(self.0.wrong("a pattern that is no text"));
        };
        if text.contains('\\') {
            return Err(self.0.wrong("a pattern with a backslash, which has no digest"));
        }
        let Value::Text(digested) = self.0.encrypted(value, Aim::Compare)? else {
            return Err(Error::internal("a digest that is no text"));
        };
        // A character may become a backslash, which LIKE takes for its escape.
        Ok(Value::Text(digested.replace('\\', "\\\\")))
    }
}

impl CellTurn for Shown {
    /// The column's own name, which some drivers ask for rather than its label, is the logic one as well.
    fn column(&self, column: &mut Column) {
        if !column.origin_name.is_empty() {
            self.column.as_ref().clone_into(&mut column.origin_name);
        }
    }

    fn value(&self, value: Value) -> Result<Value> {
        let plain = if let Value::Text(text) = &value {
            self.makes.decrypt(text)?
        } else if let Value::Bytes(octets) = &value {
            self.makes.decrypt(&String::from_utf8_lossy(octets))?
        } else {
            return Err(Error::new(ErrorKind::Value("cipher text is text".into())));
        };
        let no_text = |_| Error::new(ErrorKind::Value("a decrypted value is no text".into()));
        let text = String::from_utf8(plain).map_err(no_text)?;
        match self.declared {
            Some(declared) => declared.value(text),
            None => Ok(Value::Text(text)),
        }
    }

    fn declared(&self) -> Option<DeclaredType> {
        self.declared.map(|own| own.declared)
    }

    /// A literal of what was told is stored as another text perhaps, but of the same value.
    fn goes_back(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use pando_config::Algorithm;
    use pando_kernel::NoModules;

    use super::*;
    use crate::encryptor::encryptor;

    fn stored(fold: Fold) -> Stored {
        let algorithm = Algorithm::nowhere("AES", [("aes-key-value", "k")]);
        Stored {
            column: "phone".into(),
            makes: encryptor(&algorithm, &NoModules).unwrap(),
            declared: None,
            fold,
        }
    }

    fn told(turned: &Value) -> Value {
        let Stored { column, makes, declared, .. } = stored(Fold::Lower);
        Shown { column, makes, declared }.value(turned.clone()).unwrap()
    }

    #[test]
    fn a_value_is_told_as_the_text_that_a_server_would_have_stored() {
        let text = |text: &str| Value::Text(text.to_owned());
        for (fold, value, expected) in [
            (Fold::Lower, text(""), ""),
            (Fold::Lower, text("ä'\\"), "ä'\\"),
            (Fold::Lower, Value::Int(-5), "-5"),
            (Fold::Keep, Value::UInt(u64::MAX), "18446744073709551615"),
            (Fold::Keep, Value::decimal("12.50").unwrap(), "12.50"),
            (Fold::Lower, Value::Bool(true), "true"),
            (Fold::Keep, Value::Bool(true), "1"),
            (Fold::Keep, Value::Bytes("x".into()), "x"),
        ] {
            let turned = stored(fold).turned(&value).unwrap();
            assert_ne!(turned, text(expected));
            assert_eq!(told(&turned), text(expected), "{value:?}");
        }
    }

    #[test]
    fn what_has_no_one_text_is_refused() {
        let octets = Value::Bytes(vec![0xff].into());
        for value in [Value::Float(1.5), octets] {
            let error = stored(Fold::Keep).turned(&value).unwrap_err().to_string();
            assert!(error.contains("`phone`"), "{error}");
        }
        let asked = Asked(stored(Fold::Keep)).turned(&Value::Int(5)).unwrap_err().to_string();
        assert!(asked.contains("to compare it with"), "{asked}");
        let pattern = Value::Text("a\\%".into());
        assert!(Pattern(stored(Fold::Keep)).turned(&pattern).is_err());
    }

    #[test]
    fn a_digested_backslash_is_no_escape() {
        let algorithm = Algorithm::nowhere("CHAR_DIGEST_LIKE", []);
        let makes = encryptor(&algorithm, &NoModules).unwrap();
        let stored = || Stored {
            column: "note".into(),
            makes: Arc::clone(&makes),
            declared: None,
            fold: Fold::Keep,
        };
        let value = Value::Text("[%".into());
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(stored().turned(&value).unwrap(), text("\\%"));
        assert_eq!(Pattern(stored()).turned(&value).unwrap(), text("\\\\%"));
    }
}
