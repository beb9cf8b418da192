//! How a statement is run so that its changes can be taken back. Pure: texts out of a statement and what is known of its table.

mod about;
mod asked;
mod inserted;
mod locking;
mod reading;
mod returning;
mod work;

use about::About;
pub(crate) use returning::packed as row_of;
pub(crate) use work::{After, Counted, Told, Work};

use std::sync::Arc;

use pando_kernel::dialect::Dialect;
use pando_kernel::error::Result;
use pando_kernel::request::Parameter;
use pando_kernel::undo::Telling;
use pando_sql::ast::{Kind, Statement};

use crate::concern::refused;
use crate::table::{Table, undo_of};
use crate::text::Text;

/// A statement of one storage unit, made ready.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) table: Arc<Table>,
    pub(crate) work: Work,
    /// The name of the only row it can find, when its condition says so.
    pub(crate) asked: Option<String>,
}

impl Plan {
    /// Everything that is known of it before rows are read: what each text is for, the text, and which of the statement's parameters it takes. For PREVIEW.
    pub fn texts(&self) -> Vec<(&'static str, String, Vec<u32>)> {
        let open =
            |text: &Text, end: &str| (format!("{}{end}", text.text), text.parameters.clone());
        let mut list = Vec::new();
        let mut add = |what, (text, parameters)| list.push((what, text, parameters));
        match &self.work {
            Work::Returning { text, .. } => add("change", open(text, "")),
            Work::Locking { text, .. } => add("lock", open(text, "")),
            Work::Rows { before, change, .. } => {
                add("before", open(before, ""));
                add("change", open(&change.0.and(" WHERE …", &change.1), ""));
            }
            Work::Insert { before, change, after, .. } => {
                before.iter().for_each(|text| add("before", open(text, ") FOR UPDATE")));
                add("change", open(change, ""));
                match after {
                    After::Query(text) => add("after", open(text, " …) FOR UPDATE")),
                    After::Generated { query, column } => {
                        add("after", (format!("{query}{column} IN (…) FOR UPDATE"), Vec::new()));
                    }
                }
            }
        }
        list
    }

    /// Makes a statement ready that changes or locks rows of this table.
    ///
    /// # Errors
    /// `Refused` with the reason when its changes could not be taken back for certain.
    pub fn of(
        stmt: &Statement,
        table: &Arc<Table>,
        parameters: &[Parameter],
        dialect: &dyn Dialect,
    ) -> Result<Self> {
        let about = About { stmt, table, parameters, dialect };
        let telling = undo_of(dialect)?.telling();
        let work = match (&stmt.kind, telling) {
            (Kind::Select(query), _) => locking::work(&about, query, telling)?,
            (Kind::Insert(insert), Telling::Returning) => returning::insert(&about, insert)?,
            (Kind::Update(update), Telling::Returning) => returning::update(&about, update)?,
            (Kind::Delete(delete), Telling::Returning) => returning::delete(&about, delete)?,
            (Kind::Insert(insert), Telling::Reading) => inserted::work(&about, insert)?,
            (Kind::Update(update), Telling::Reading) => reading::update(&about, update)?,
            (Kind::Delete(delete), Telling::Reading) => reading::delete(&about, delete)?,
            _ => return Err(refused("this statement")),
        };
        Ok(Self { table: Arc::clone(table), work, asked: asked::asked(&about) })
    }
}
