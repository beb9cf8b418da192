//! Makes statements of which it knows each use of a column of interest.

use pando_sql::Span;

/// A column of interest, as `table.column`.
pub type Of = Option<&'static str>;

/// Decisions, read off random bytes; zero when they are used up, which ends every recursion.
pub struct Choices<'a> {
    bytes: &'a [u8],
    at: usize,
}

#[derive(Clone)]
struct Column {
    name: String,
    of: Of,
}

#[derive(Clone)]
struct Factor {
    label: String,
    columns: Vec<Column>,
}

/// A statement, and where it uses which column of interest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Made {
    pub sql: String,
    pub uses: Vec<(Span, &'static str)>,
}

pub struct Maker<'a> {
    choices: Choices<'a>,
    family: &'a str,
    made: Made,
    scopes: Vec<Vec<Factor>>,
    common: Vec<Factor>,
    labels: usize,
    depth: usize,
}

impl Choices<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % bound
    }
}

const TABLES: [(&str, &[(&str, Of)]); 3] = [
    ("t_plain", &[("id", None), ("phone", None), ("note", None)]),
    (
        "t_user",
        &[
            ("id", None),
            ("name", None),
            ("phone", Some("t_user.phone")),
            ("mail", Some("t_user.mail")),
        ],
    ),
    ("t_card", &[("id", None), ("user_id", None), ("phone", Some("t_card.phone")), ("note", None)]),
];

/// A statement of a family from random bytes.
pub fn make(family: &str, bytes: &[u8]) -> Made {
    let choices = Choices { bytes, at: 0 };
    let (made, scopes, common) = (Made::default(), Vec::new(), Vec::new());
    let mut maker = Maker { choices, family, made, scopes, common, labels: 0, depth: 0 };
    maker.statement();
    maker.made
}

impl Maker<'_> {
    fn say(&mut self, text: &str) {
        self.made.sql.push_str(text);
    }

    /// A name of a column, in one of its spellings.
    fn spell(&mut self, name: &str, of: Of) {
        let quoted = if self.family == "my" { format!("`{name}`") } else { format!("\"{name}\"") };
        let text = match self.choices.below(4) {
            0 | 1 => name.to_owned(),
            2 => name.to_uppercase(),
            _ => quoted,
        };
        let start = self.made.sql.len() as u32;
        self.say(&text);
        let span = Span::new(start, start + text.len() as u32);
        self.made.uses.extend(of.map(|of| (span, of)));
    }

    fn statement(&mut self) {
        match self.choices.below(8) {
            0 => self.update(),
            1 => self.delete(),
            2 => self.insert(),
            3 => {
                self.say("WITH c AS (");
                let columns = self.query();
                self.say(") ");
                self.common.push(Factor { label: "c".to_owned(), columns });
                self.query();
            }
            _ => {
                self.query();
            }
        }
        let note = self.choices.below(3);
        self.say(["", " -- phone", " /* mail */"][note]);
    }

    fn update(&mut self) {
        let table = self.choices.below(3);
        self.say("UPDATE ");
        let factor = self.table(table);
        let targets = factor.columns.clone();
        self.scopes.push(vec![factor]);
        self.say(" SET ");
        let column = targets[self.choices.below(targets.len())].clone();
        self.spell(&column.name, column.of);
        self.say(" = ");
        self.value();
        self.filter();
        self.scopes.pop();
    }

    fn delete(&mut self) {
        let table = self.choices.below(3);
        self.say("DELETE FROM ");
        let (name, columns) = TABLES[table];
        self.say(name);
        self.scopes.push(vec![known(name, columns)]);
        self.filter();
        self.scopes.pop();
    }

    fn insert(&mut self) {
        let (name, columns) = TABLES[self.choices.below(3)];
        self.say(&format!("INSERT INTO {name} ("));
        let (first, second) = (columns[1], columns[2]);
        self.spell(first.0, first.1);
        self.say(", ");
        self.spell(second.0, second.1);
        self.say(")");
        if self.choices.below(2) == 0 {
            self.say(" VALUES ('phone', 1), ('mail', upper('phone'))");
        } else {
            self.say(" ");
            self.select(2);
        }
    }

    /// A query; gives its columns.
    fn query(&mut self) -> Vec<Column> {
        let from = self.made.clone();
        let width = 1 + self.choices.below(3);
        let columns = self.select(width);
        if self.choices.below(6) == 0 {
            // The same once more: each of its uses comes twice.
            let (text, shift) = (self.made.sql[from.sql.len()..].to_owned(), " UNION ALL ".len());
            self.say(" UNION ALL ");
            let by = (text.len() + shift) as u32;
            let again = self.made.uses[from.uses.len()..].iter();
            let again: Vec<_> =
                again.map(|(span, of)| (Span::new(span.start + by, span.end + by), *of)).collect();
            self.made.uses.extend(again);
            self.say(&text);
        }
        columns
    }

    fn select(&mut self, width: usize) -> Vec<Column> {
        self.depth += 1;
        // Items come first in the text and need the factors: these are made apart, and moved behind.
        let before = std::mem::take(&mut self.made);
        let count = 1 + self.choices.below(2);
        let mut factors: Vec<Factor> = Vec::new();
        for at in 0..count {
            self.say(if at == 0 { " FROM " } else { " CROSS JOIN " });
            let factor = self.factor();
            factors.push(factor);
        }
        let from = std::mem::replace(&mut self.made, before);
        self.scopes.push(factors);
        self.say("SELECT ");
        let mut columns: Vec<Column> = Vec::new();
        for at in 0..width {
            if at > 0 {
                self.say(", ");
            }
            let column = self.item(&columns);
            columns.push(column);
        }
        let by = self.made.sql.len() as u32;
        self.say(&from.sql);
        let moved = from.uses.into_iter();
        let moved = moved.map(|(span, of)| (Span::new(span.start + by, span.end + by), of));
        self.made.uses.extend(moved);
        self.filter();
        self.scopes.pop();
        self.depth -= 1;
        columns
    }

    fn item(&mut self, before: &[Column]) -> Column {
        if self.choices.below(4) == 3 {
            let label = self.label();
            self.say("concat(");
            self.value();
            self.say(&format!(", 'phone') AS {label}"));
            return Column { name: label, of: None };
        }
        let column = self.reference();
        let is_taken = before.iter().any(|one| one.name == column.name);
        if is_taken || self.choices.below(3) == 0 {
            let label = self.label();
            self.say(&format!(" AS {label}"));
            return Column { name: label, of: column.of };
        }
        column
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("x{}", self.labels)
    }

    fn table(&mut self, at: usize) -> Factor {
        let (name, columns) = TABLES[at];
        let label = self.label();
        self.say(&format!("{name} {label}"));
        Factor { label, ..known(name, columns) }
    }

    fn factor(&mut self) -> Factor {
        match self.choices.below(8) {
            0 if !self.common.is_empty() => {
                let label = self.label();
                self.say(&format!("c {label}"));
                Factor { label, columns: self.common[0].columns.clone() }
            }
            1 if self.depth < 3 => {
                self.say("(");
                // A derived table sees no factor beside it, and these makers name nothing around it.
                let scopes = std::mem::take(&mut self.scopes);
                let columns = self.query();
                self.scopes = scopes;
                let label = self.label();
                self.say(&format!(") {label}"));
                Factor { label, columns }
            }
            2 | 3 => self.table(0),
            4 | 5 => self.table(2),
            _ => self.table(1),
        }
    }

    fn filter(&mut self) {
        let words = [" WHERE ", " AND ", " OR "];
        let mut count = self.choices.below(3);
        let mut word = words[0];
        while count > 0 {
            self.say(word);
            self.predicate();
            word = words[1 + self.choices.below(2)];
            count -= 1;
        }
    }

    fn predicate(&mut self) {
        match self.choices.below(8) {
            0 => {
                self.reference();
                self.say(" IN ('phone', 'b')");
            }
            1 => {
                self.reference();
                self.say(" IS NULL");
            }
            2 if self.depth < 3 => {
                self.say("EXISTS (");
                self.select(1);
                self.say(")");
            }
            3 if self.depth < 3 => {
                self.reference();
                self.say(" IN (");
                self.select(1);
                self.say(")");
            }
            4 => {
                self.reference();
                self.say(" LIKE 'mail%'");
            }
            5 => {
                self.say("(");
                self.reference();
                self.say(" BETWEEN 'a' AND 'b')");
            }
            _ => {
                self.reference();
                let op = self.choices.below(3);
                self.say([" = ", " <> ", " < "][op]);
                self.value();
            }
        }
    }

    fn value(&mut self) {
        match self.choices.below(3) {
            0 => self.say("'phone'"),
            1 => self.say("7"),
            _ => {
                self.reference();
            }
        }
    }

    /// A column of a factor in scope, bare where that is clear.
    fn reference(&mut self) -> Column {
        let depth = self.scopes.len() - 1 - self.choices.below(self.scopes.len()).min(1);
        let scope = self.scopes[depth].clone();
        let factor = scope[self.choices.below(scope.len())].clone();
        let column = factor.columns[self.choices.below(factor.columns.len())].clone();
        let inner = self.scopes[depth..].iter().flatten();
        let alike = inner.flat_map(|factor| &factor.columns).filter(|one| one.name == column.name);
        if alike.count() > 1 || self.choices.below(2) == 0 {
            self.say(&format!("{}.", factor.label));
        }
        self.spell(&column.name, column.of);
        column
    }
}

fn known(name: &str, columns: &[(&str, Of)]) -> Factor {
    let column = |(name, of): &(&str, Of)| Column { name: (*name).to_owned(), of: *of };
    Factor { label: name.to_owned(), columns: columns.iter().map(column).collect() }
}
