//! A command in its current spelling, or in the old one where there is no other. What is printed parses to the same command.

mod own;
mod piece;
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
use piece::{Like, List, Maybe, MaybeIn, Properties, Text, Truth, from};

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
