//! A command in its current spelling, or in the old one where there is no other. What is printed parses to the same command.

mod ral;
mod rdl;
mod rql;
mod rules;
mod sharding;

use std::fmt::{self, Display, Formatter};

use crate::command::{
    Algorithm, AlgorithmUse, Command, Name, NamedAlgorithm, Property, Rul, Value,
};
use crate::ebnf::grammar;
use crate::tables::RESERVED;

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rdl(statement) => statement.fmt(f),
            Self::Rql(statement) => statement.fmt(f),
            Self::Ral(statement) => statement.fmt(f),
            Self::Rul(statement) => statement.fmt(f),
        }
    }
}

impl Display for Rul {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preview(statement) => write!(f, "PREVIEW {}", statement.text),
            Self::Parse(statement) => write!(f, "PARSE {}", statement.text),
            Self::Format(statement) => write!(f, "FORMAT {}", statement.text),
            Self::Help(like) => write!(f, "HELP DISTSQL{}", Like(like.as_deref())),
        }
    }
}

/// As an identifier: bare where that is safe, in backticks otherwise. A keyword of the grammar is never bare.
impl Display for Name {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let upper = self.text.to_ascii_uppercase();
        let is_plain = self.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && self.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !RESERVED.contains(&upper.as_str())
            && !grammar().is_keyword(&upper);
        match is_plain {
            true => f.write_str(&self.text),
            false => write!(f, "`{}`", self.text.replace('`', "``")),
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => Text(text).fmt(f),
            Self::Number(number) => f.write_str(number),
            Self::Boolean(truth) => Truth(*truth).fmt(f),
        }
    }
}

impl Display for Algorithm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = Text(&self.kind.text);
        write!(f, "TYPE(NAME={kind}{})", Properties(", ", &self.properties))
    }
}

impl Display for AlgorithmUse {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inline(algorithm) => algorithm.fmt(f),
            Self::Named(name) => write!(f, "GENERATOR={name}"),
        }
    }
}

impl Display for NamedAlgorithm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name, self.algorithm)
    }
}

impl Display for Property {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", Text(&self.key), Text(&self.value))
    }
}

/// A text in double quotes, as ShardingSphere's own statements have it.
struct Text<'a>(&'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.replace('"', "\"\""))
    }
}

struct Truth(bool);

impl Display for Truth {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 { "TRUE" } else { "FALSE" })
    }
}

/// Things with commas between them.
struct List<'a, T>(&'a [T]);

impl<T: Display> Display for List<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, item) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

/// A thing behind its introduction, or nothing.
struct Maybe<'a, T>(&'a str, Option<T>);

impl<T: Display> Display for Maybe<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.1 {
            Some(thing) => write!(f, "{}{thing}", self.0),
            None => Ok(()),
        }
    }
}

/// A thing between an introduction and a closing parenthesis, or nothing.
struct MaybeIn<'a, T>(&'a str, &'a Option<T>);

impl<T: Display> Display for MaybeIn<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(thing) => write!(f, "{}{thing})", self.0),
            None => Ok(()),
        }
    }
}

/// PROPERTIES behind an introduction, or nothing.
struct Properties<'a>(&'a str, &'a [Property]);

impl Display for Properties<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.1.is_empty() {
            return Ok(());
        }
        write!(f, "{}PROPERTIES({})", self.0, List(self.1))
    }
}

/// ` FROM database`, or nothing.
fn from(database: &Option<Name>) -> Maybe<'_, &Name> {
    Maybe(" FROM ", database.as_ref())
}

/// ` LIKE 'pattern'`, or nothing.
struct Like<'a>(Option<&'a str>);

impl Display for Like<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(pattern) => write!(f, " LIKE '{}'", pattern.replace('\'', "''")),
            None => Ok(()),
        }
    }
}
