//! Booleans and UUIDs, as PostgreSQL reads them.

use pando_kernel::Value;
use pando_kernel::error::Result;

use super::Reader;

impl Reader<'_> {
    /// <https://www.postgresql.org/docs/current/datatype-boolean.html>
    pub(super) fn boolean(&self, value: &Value) -> Result<String> {
        let is = match value {
            Value::Bool(is) => *is,
            Value::Text(text) => {
                let word = text.trim().to_lowercase();
                let is_short =
                    |of: &str, least: usize| word.len() >= least && of.starts_with(&word);
                match word.as_str() {
                    "1" | "on" => true,
                    "0" => false,
                    _ if is_short("true", 1) || is_short("yes", 1) => true,
                    _ if is_short("false", 1) || is_short("no", 1) || is_short("off", 2) => false,
                    _ => return Err(self.unreadable("boolean", text)),
                }
            }
            Value::Null
            | Value::Int(_)
            | Value::UInt(_)
            | Value::Float(_)
            | Value::Decimal(_)
            | Value::Bytes(_) => {
                return Err(self.wrong("something else than a boolean", "give it TRUE or FALSE"));
            }
        };
        Ok(is.to_string())
    }

    /// <https://www.postgresql.org/docs/current/datatype-uuid.html>
    pub(super) fn uuid(&self, value: &Value) -> Result<String> {
        let Value::Text(text) = value else {
            return Err(self.wrong("something else than a UUID", "give it a text"));
        };
        let own = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(text);
        let digits: String =
            own.chars().filter(|one| *one != '-').collect::<String>().to_lowercase();
        let is_uuid = digits.len() == 32 && digits.bytes().all(|one| one.is_ascii_hexdigit());
        if !is_uuid {
            return Err(self.unreadable("uuid", text));
        }
        let parts =
            [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| digits.get(part).unwrap_or_default());
        Ok(parts.join("-"))
    }
}
