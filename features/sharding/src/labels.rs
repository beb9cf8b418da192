//! Columns of labels (ENUM and SET): a value has one form, whatever it is written as.
//! <https://dev.mysql.com/doc/refman/8.0/en/enum.html>, <https://dev.mysql.com/doc/refman/8.0/en/set.html>

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not known to be safe")]

use pando_kernel::Value;
use pando_kernel::dialect::Equality;

/// A column's labels.
#[derive(Debug)]
pub(crate) struct Labels {
    list: Vec<String>,
    /// A value has any number of them.
    is_set: bool,
    equality: Equality,
}

/// Why a value has no place.
const NONE: &str = "is written as none of the column's labels";

impl Labels {
    /// Of a type as servers write it; `None` for other types. `equality` is that of a text of the column's collation.
    pub(crate) fn of(type_name: &str, equality: impl FnOnce() -> Equality) -> Option<Self> {
        let (kind, rest) = type_name.split_once('(')?;
        let is_set = match kind {
            "enum" => false,
            "set" => true,
            _ => return None,
        };
        Some(Self { list: quoted(rest), is_set, equality: equality() })
    }

    /// The value that a row keeps.
    ///
    /// # Errors
    /// Why that cannot be told.
    pub(crate) fn stored(&self, value: &Value) -> Result<Value, &'static str> {
        let text = match value {
            Value::Text(text) => text,
            Value::Int(number) => return self.numbered(u64::try_from(*number).map_err(|_| NONE)?),
            Value::UInt(number) => return self.numbered(*number),
            _ => return Err(NONE),
        };
        let text = text.trim_end_matches(' ');
        let known = match self.is_set {
            true => self.several(text),
            false => self.one(text).map(str::to_owned),
        };
        match known {
            Some(label) => Ok(Value::Text(label)),
            None => self.numbered(text.parse().map_err(|_| NONE)?),
        }
    }

    /// The value of the rows that a comparison finds, where that is certain.
    pub(crate) fn equal(&self, value: &Value) -> Option<Value> {
        let kept = self.stored(value).ok()?;
        match (value, &kept) {
            (Value::Text(text), Value::Text(label)) => self.are_equal(text, label).then_some(kept),
            _ => Some(kept),
        }
    }

    /// By its number: of a label from 1 on, of a set one bit for each of its labels.
    fn numbered(&self, number: u64) -> Result<Value, &'static str> {
        if self.is_set {
            if number.checked_shr(u32::try_from(self.list.len()).unwrap_or(u32::MAX)) > Some(0) {
                return Err(NONE);
            }
            let has = |at: &usize| number >> at & 1 == 1;
            let labels: Vec<&str> =
                (0..self.list.len()).filter(has).map(|at| self.list[at].as_str()).collect();
            return Ok(Value::Text(labels.join(",")));
        }
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let label = at.and_then(|at| self.list.get(at)).ok_or(NONE)?;
        Ok(Value::Text(label.clone()))
    }

    fn one(&self, text: &str) -> Option<&str> {
        let same = self.list.iter().find(|label| *label == text);
        let label = same.or_else(|| self.list.iter().find(|label| self.are_equal(text, label)));
        label.map(String::as_str)
    }

    /// The labels of a list in the order of the column's own, each once.
    fn several(&self, text: &str) -> Option<String> {
        if text.is_empty() {
            return Some(String::new());
        }
        let given: Vec<&str> = text.split(',').map(|one| self.one(one)).collect::<Option<_>>()?;
        let own = self.list.iter().map(String::as_str).filter(|label| given.contains(label));
        Some(own.collect::<Vec<_>>().join(","))
    }

    fn are_equal(&self, text: &str, label: &str) -> bool {
        match self.equality {
            Equality::Exact | Equality::Loose => text == label,
            Equality::Padded => text.trim_end_matches(' ') == label.trim_end_matches(' '),
            Equality::Folded(folding) => {
                let folded = folding.folded(text);
                text == label || folded.is_some() && folded == folding.folded(label)
            }
        }
    }
}

/// The strings of a list, quotes doubled in them, up to its closing parenthesis.
fn quoted(list: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), list);
    while let Some(body) = rest.strip_prefix('\'') {
        let mut label = String::new();
        let mut letters = body.char_indices().peekable();
        let end = loop {
            match letters.next() {
                Some((at, '\'')) => match letters.next_if(|(_, next)| *next == '\'') {
                    Some((_, quote)) => label.push(quote),
                    None => break at + 1,
                },
                Some((_, letter)) => label.push(letter),
                None => return found,
            }
        };
        found.push(label);
        rest = body[end..].trim_start_matches(',');
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    #[test]
    fn a_label_has_one_form() {
        let labels = Labels::of("enum('a','b','it''s, C','7')", || Equality::Padded).unwrap();
        for (value, expected) in [
            (text("a"), Some("a")),
            (text("b  "), Some("b")),
            (text("it's, C"), Some("it's, C")),
            (text("A"), None),
            (text("2"), Some("b")),
            // A label before a number.
            (text("7"), Some("7")),
            (text("5"), None),
            (Value::Int(1), Some("a")),
            (Value::UInt(4), Some("7")),
            (Value::Int(0), None),
            (Value::Int(-1), None),
            (Value::Int(5), None),
            (Value::Float(1.0), None),
        ] {
            assert_eq!(labels.stored(&value).ok(), expected.map(text), "{value:?}");
        }
        assert_eq!(labels.equal(&text("a ")), Some(text("a")));
        // A text is no number when it is compared.
        assert_eq!(
            (labels.equal(&text("2")), labels.equal(&Value::Int(2))),
            (None, Some(text("b")))
        );
        assert!(Labels::of("varchar(5)", || Equality::Exact).is_none());
    }

    #[test]
    fn a_set_is_written_in_the_order_of_its_column() {
        let labels = Labels::of("set('x','Y','z')", || Equality::Exact).unwrap();
        for (value, expected) in [
            (text("z,x,z"), Some("x,z")),
            (text(""), Some("")),
            (text("x,w"), None),
            (text("3"), Some("x,Y")),
            (Value::Int(6), Some("Y,z")),
            (Value::Int(0), Some("")),
            (Value::Int(8), None),
        ] {
            assert_eq!(labels.stored(&value).ok(), expected.map(text), "{value:?}");
        }
        assert_eq!(
            (labels.equal(&text("z,x")), labels.equal(&text("x,z"))),
            (None, Some(text("x,z")))
        );
    }
}
