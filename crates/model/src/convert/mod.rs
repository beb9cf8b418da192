//! CONVERT YAML CONFIGURATION: a document of one database → the DistSQL that makes it.

mod algorithm;
mod features;
mod normal;
mod own;
mod resolved;
mod sharding;
mod units;

use std::fmt;

use pando_config::{Database, Node, Vendor};
use pando_distsql::command::{Change as How, Command, Definition, Name, Rdl};

use crate::around::Around;
use crate::model::{Model, document};
use crate::refusal::{Kind, Refusal, Result};
use crate::rows::Rows;
use crate::scrub;

/// A document as statements.
#[derive(Clone, PartialEq, Eq)]
pub struct Conversion {
    /// CREATE DATABASE and USE, which are SQL, then DistSQL; in the order to run them. Passwords stand in them, or their placeholders.
    pub statements: Vec<String>,
    /// Key paths of what the document has and no statement can say, sorted.
    pub unsaid: Vec<String>,
}

/// Without secrets.
impl fmt::Debug for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Conversion");
        shown.field("statements", &self.statements.len()).field("unsaid", &self.unsaid).finish()
    }
}

/// As the statement answers it: comments about what is unsaid, then each statement on a line.
impl fmt::Display for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for path in &self.unsaid {
            writeln!(f, "-- no statement says `{path}`")?;
        }
        for statement in &self.statements {
            writeln!(f, "{statement};")?;
        }
        Ok(())
    }
}

impl Conversion {
    /// The statements of a document. Run one after the other they lead to the document's model, apart from what is `unsaid` and from names
    /// of algorithms that statements give themselves: auditors, load balancers, encryptors, mask and shadow algorithms, and those of AutoTables.
    ///
    /// # Errors
    /// `InvalidDocument` with all problems of the document.
    pub fn of(text: &str, around: &Around<'_>) -> Result<Self> {
        let plain = document("document", text)?;
        let read = Database::from_tree(&plain, around.environment);
        let (read, _) =
            read.map_err(|errors| scrub::refusal(Kind::InvalidDocument, &errors, &plain))?;
        let wanted = normal::form(&plain, &read, around.language);
        let name = read.name.value.as_str();
        let mut statements: Vec<String> = Vec::new();
        let commands = units::said(&wanted)
            .into_iter()
            .chain(features::said(&wanted))
            .chain(own::said(&wanted, around.language))
            .chain(sharding::said(&wanted));
        statements.extend(commands.map(|rdl| Command::Rdl(rdl).to_string()));
        let made = carried_out(name, &statements, around)?;
        let unsaid = resolved::missing(&wanted, &made, around.language);
        let quoted = quoted(name, around.vendor);
        statements.splice(0..0, [format!("CREATE DATABASE {quoted}"), format!("USE {quoted}")]);
        Ok(Self { statements, unsaid })
    }
}

impl From<&Conversion> for Rows {
    fn from(conversion: &Conversion) -> Self {
        let mut rows = Self::of("CONVERT YAML CONFIGURATION");
        rows.push([&conversion.to_string()]);
        rows
    }
}

/// What the statements make of an empty database. The rooms are not asked, so that rules can be converted that this version does not serve.
fn carried_out(name: &str, statements: &[String], around: &Around<'_>) -> Result<Node> {
    let around = Around { rooms: &|_| Ok(Vec::new()), ..*around };
    let mut model = Model::default().create_database(name)?.model;
    for text in statements {
        let invalid = |why: String| Refusal::new(Kind::InvalidDocument, why);
        // The message would name no secret, but the place of a text that nobody has seen yet.
        let statement = around.language.parse(text).map_err(|_| {
            let words: Vec<&str> = text.split(' ').take(3).collect();
            invalid(format!(
                "the document has a name or text that `{}` cannot hold",
                words.join(" ")
            ))
        })?;
        let Command::Rdl(rdl) = statement.command else {
            return Err(invalid(format!("the document leads to `{}`", statement.entry.name)));
        };
        model = model.apply(name, &rdl, &around)?.model;
    }
    Ok(model.database(name)?.1.clone())
}

/// A database's name in SQL.
fn quoted(name: &str, vendor: Vendor) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    match vendor {
        _ if is_plain => name.to_owned(),
        Vendor::MySql | Vendor::MariaDb => format!("`{}`", name.replace('`', "``")),
        Vendor::Postgres | Vendor::OpenGauss | Vendor::Sqlite => {
            format!("\"{}\"", name.replace('"', "\"\""))
        }
    }
}

/// A statement that creates.
fn create(definition: Definition) -> Rdl {
    Rdl::Define { change: How::Create, definition }
}

fn text(node: Option<&Node>) -> &str {
    node.and_then(Node::as_text).unwrap_or_default()
}

fn name(node: Option<&Node>) -> Name {
    Name::new(text(node))
}
