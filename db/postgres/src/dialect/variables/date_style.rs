//! How dates are written, and read where they are not: the two parts of `DateStyle`.
//! <https://www.postgresql.org/docs/current/datatype-datetime.html#DATATYPE-DATETIME-OUTPUT>

use std::fmt;

use super::unquote;

/// A value of the setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dialect) struct DateStyle {
    style: &'static str,
    order: &'static str,
}

/// What a session begins with.
impl Default for DateStyle {
    fn default() -> Self {
        Self { style: "ISO", order: "MDY" }
    }
}

/// As the server reports it.
impl fmt::Display for DateStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.style, self.order)
    }
}

impl DateStyle {
    /// That of a session with these settings.
    pub(in crate::dialect) fn of(variables: &[(String, String)]) -> Self {
        let own = variables.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case("datestyle"));
        own.and_then(|(_, value)| Self::default().with(&unquote(value))).unwrap_or_default()
    }

    /// Whether dates are written as others read them, whatever their settings.
    pub(in crate::dialect) fn is_iso(self) -> bool {
        self.style == "ISO"
    }

    /// This one behind a SET that may say one part only; `None` where a server takes it for none.
    pub(in crate::dialect) fn with(self, value: &str) -> Option<Self> {
        let (mut style, mut order, mut german) = (None, None, false);
        for word in value.split(',').map(|word| unquote(word).trim().to_ascii_uppercase()) {
            let (part, known) = match word.as_str() {
                "ISO" => (&mut style, "ISO"),
                "SQL" => (&mut style, "SQL"),
                "GERMAN" => {
                    german = true;
                    (&mut style, "German")
                }
                word if word.starts_with("POSTGRES") => (&mut style, "Postgres"),
                "YMD" => (&mut order, "YMD"),
                "DMY" => (&mut order, "DMY"),
                word if word.starts_with("EURO") => (&mut order, "DMY"),
                "MDY" | "US" => (&mut order, "MDY"),
                word if word.starts_with("NONEURO") => (&mut order, "MDY"),
                "DEFAULT" => {
                    let first = Self::default();
                    style.get_or_insert(first.style);
                    order.get_or_insert(first.order);
                    continue;
                }
                _ => return None,
            };
            if part.is_some_and(|before| before != known) {
                return None;
            }
            *part = Some(known);
        }
        let own = if german { "DMY" } else { self.order };
        Some(Self { style: style.unwrap_or(self.style), order: order.unwrap_or(own) })
    }
}

/// The whole value, where a SET may say a part of it; `None` for other settings, and for what is no value.
pub(in crate::dialect) fn completed(
    name: &str,
    value: &str,
    variables: &[(String, String)],
) -> Option<DateStyle> {
    let is_it = name.eq_ignore_ascii_case("datestyle") && !value.eq_ignore_ascii_case("default");
    is_it.then(|| DateStyle::of(variables).with(value)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As PostgreSQL 15 reports them, each set behind `before`.
    #[test]
    fn a_part_that_is_not_said_stays() {
        let cases = [
            ("", "ISO", Some("ISO, MDY")),
            ("ISO, DMY", "iso", Some("ISO, DMY")),
            ("ISO, DMY", "SQL", Some("SQL, DMY")),
            ("ISO, DMY", "sql, us", Some("SQL, MDY")),
            ("", "German", Some("German, DMY")),
            ("", "German, YMD", Some("German, YMD")),
            ("German, DMY", "postgresql", Some("Postgres, DMY")),
            ("SQL, MDY", "European", Some("SQL, DMY")),
            ("SQL, DMY", "noneuropean", Some("SQL, MDY")),
            ("SQL, DMY", "default", Some("ISO, MDY")),
            ("", "ISO, SQL", None),
            ("", "DMY, MDY", None),
            ("", "Swiss", None),
        ];
        for (before, value, expected) in cases {
            let first = DateStyle::default();
            let before = if before.is_empty() { first } else { first.with(before).unwrap() };
            let after = before.with(value).map(|style| style.to_string());
            assert_eq!(after.as_deref(), expected, "{before}: {value}");
        }
    }
}
