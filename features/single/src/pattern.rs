//! The forms of `!SINGLE` table entries: `unit.table`, `unit.schema.table`, with `*` for all.

/// One entry. The schema says nothing here: Pando knows a table by its name alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// `None` means every place.
    pub(crate) place: Option<String>,
    /// As configured; `None` means every table.
    pub(crate) table: Option<String>,
}

impl Pattern {
    /// `None` when it has not two or three parts.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('.').map(str::trim).collect();
        let (place, table) = match parts[..] {
            [place, table] | [place, _, table] => (place, table),
            _ => return None,
        };
        let unless_star = |part: &str| (part != "*").then(|| part.to_owned());
        Some(Self { place: unless_star(place), table: unless_star(table) })
    }

    /// `table` is its key.
    pub(crate) fn fits(&self, place: &str, table: &str) -> bool {
        self.place.as_deref().is_none_or(|own| own == place) && self.is_for(table)
    }

    /// Whether it speaks of the table of this key: case counts where the key has some.
    pub(crate) fn is_for(&self, table: &str) -> bool {
        self.table.as_deref().is_none_or(|own| own == table || own.to_lowercase() == table)
    }

    /// Place and table when it names exactly one of each.
    pub(crate) fn exact(&self) -> Option<(&str, &str)> {
        self.place.as_deref().zip(self.table.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, place: &str, table: &str, expected: bool) {
        assert_eq!(Pattern::read(text).unwrap().fits(place, table), expected, "{text}");
    }

    #[test]
    fn every_form_is_understood() {
        check("ds_0.T_Conf", "ds_0", "t_conf", true);
        check("ds_0.t_conf", "ds_1", "t_conf", false);
        check("ds_0.public.t_conf", "ds_0", "t_conf", true);
        check("ds_0.*", "ds_0", "anything", true);
        check("ds_0.*.*", "ds_1", "anything", false);
        check("ds_0.public.*", "ds_0", "anything", true);
        check("*.*", "ds_7", "anything", true);
        check("*.*.*", "ds_7", "anything", true);
        check("*.t_conf", "ds_7", "other", false);
        assert_eq!(Pattern::read("t_conf"), None);
        assert_eq!(Pattern::read("a.b.c.d"), None);
    }
}
