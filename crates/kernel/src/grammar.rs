//! How the rules of a room's section are written as statements, as data.
//!
//! DistSQL's CREATE, ALTER, DROP, SHOW and COUNT of the rules follow from it, with their help, and so does where in the
//! section stands what they say.

/// The grammar of one sort of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleGrammar {
    /// What stands before RULE, in capitals, as `ENCRYPT` or `MASK TABLE`. The first word must be none that a vendor's
    /// CREATE, ALTER, DROP or SHOW goes on with.
    pub words: &'static str,
    /// What a rule is found by.
    pub key: Key,
    /// What stands in a rule's parentheses, in this order; where there is none, a rule is its key alone.
    pub fields: &'static [Field],
    /// The field of the section that holds the rules: a list of keys where rules have no fields, else a mapping by key.
    pub stored: &'static str,
    /// The columns of SHOW in their order: some of those that key and fields give, or all. LIKE asks the first.
    pub columns: &'static [&'static str],
    /// What a rule does, a sentence.
    pub help: &'static str,
    /// A rule as it stands behind RULE, for people; it must be read by this grammar.
    pub example: &'static str,
}

/// What a rule, or a part of one, is found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// What it names.
    pub named: Named,
    /// Its column in SHOW.
    pub column: &'static str,
}

/// What a name is the name of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// A table; names that differ in case are one.
    Table,
    /// A column; names that differ in case are one.
    Column,
    /// A storage unit, or a group of them. It must be there when a statement names it.
    Unit,
    /// Anything else that has its name from the rule.
    Rule,
}

/// One thing that a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The word before its `=` or `(`, in capitals. Algorithms and parts may do without, one field of a level at most;
    /// such parts are the last field.
    pub word: &'static str,
    /// What it says.
    pub form: Form,
    /// Whether it may be left out.
    pub presence: Presence,
    /// Where it stands in the rule's mapping: a key, or several with dots between, as `cipher.name`.
    pub stored: &'static str,
    /// Its column in SHOW. An algorithm has two, with `_type` and `_props` behind this; parts have their own.
    pub column: &'static str,
}

/// Whether something may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It must be there.
    Required,
    /// It may be missing.
    Optional,
}

/// What a field says, and how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `WORD=name`.
    Name(Named),
    /// `WORD="text"`, or a bare word.
    Text,
    /// `WORD=4`: a whole number between these, both included.
    Number {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// `WORD=TRUE`.
    Boolean,
    /// `WORD(name, name)`: a list, never empty.
    Names(Named),
    /// `WORD(TYPE(NAME="…", PROPERTIES("…"="…")))`, or TYPE without word and parentheses around.
    Algorithm(&'static Algorithms),
    /// The same with several of them, never none; of each, SHOW has a row.
    Algorithms(&'static Algorithms),
    /// `WORD(part, part)`, or the parts without word and parentheses around: a mapping, never empty; of each, SHOW has a
    /// row.
    Parts(&'static Part),
}

/// Where a section keeps algorithms. A rule has their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Algorithms {
    /// The field of the section that holds the definitions by name.
    pub stored: &'static str,
    /// What the names that statements give begin with. Behind it stand the keys of the rule and the part, and the type.
    pub prefix: &'static str,
}

/// One of several things of a kind within a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// `(WORD=key, …)`; where it is empty, `key(…)`.
    pub word: &'static str,
    /// What it is found by; no two of a rule have the same.
    pub key: Key,
    /// What stands behind the key; never empty.
    pub fields: &'static [Field],
}

impl RuleGrammar {
    /// Rules that are the names of tables and nothing else, in the section's field `tables`. What they do, and an
    /// example, are still to be said.
    pub const fn tables(words: &'static str) -> Self {
        Self {
            words,
            key: Key { named: Named::Table, column: "table_name" },
            fields: &[],
            stored: "tables",
            columns: &["table_name"],
            help: "",
            example: "",
        }
    }

    /// The word for the rules in messages, as `mask tables`.
    pub fn what(&self) -> String {
        let words = self.words.strip_suffix(" TABLE").unwrap_or(self.words);
        format!("{} {}", words.to_lowercase(), self.key.named.plural())
    }

    /// What COUNT calls them, as `mask_table`.
    pub fn counted(&self) -> String {
        self.words.to_lowercase().replace(' ', "_")
    }
}

impl Named {
    /// The form by which names are compared: equal ones are one.
    pub fn folded(self, name: &str) -> String {
        match self {
            Self::Table | Self::Column => name.to_lowercase(),
            Self::Unit | Self::Rule => name.to_owned(),
        }
    }

    /// The word for several of them.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Table => "tables",
            Self::Column => "columns",
            Self::Unit => "storage units",
            Self::Rule => "rules",
        }
    }
}

impl Field {
    /// The columns that it gives by itself, without those of parts.
    pub fn columns(&self) -> Vec<String> {
        match self.form {
            Form::Name(_) | Form::Text | Form::Number { .. } | Form::Boolean | Form::Names(_) => {
                vec![self.column.to_owned()]
            }
            Form::Algorithm(_) | Form::Algorithms(_) => {
                vec![format!("{}_type", self.column), format!("{}_props", self.column)]
            }
            Form::Parts(_) => Vec::new(),
        }
    }
}
