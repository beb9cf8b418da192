//! Where a result's columns come from, and what errors are about, told in logic names.

use std::sync::Arc;

use pando_kernel::feature::Database;
use pando_kernel::oids::ShownRelation;
use pando_kernel::{Column, Columns, Error, ErrorKind, Oids, Presentation, ServerError};

use crate::oids;
use crate::plan::{Plan, Unit};
use crate::snapshot::LiveDatabase;

use crate::session::place::Place;

impl Place {
    /// An error of a storage unit, told in logic names; of a table that is nowhere, in the vendor's words.
    pub(in crate::session) fn in_logic_names(&self, error: Error) -> Error {
        let mut error = error;
        if let Some(live) = self.current()
            && let Some(presentation) = live.database.dialect.presentation()
            && let Some(told) = missing(presentation, &live.database.name, error.kind())
        {
            return Error::new(ErrorKind::Server(Box::new(told))).caused_by(error);
        }
        if let Some(told) = error.server_mut() {
            self.retell(told);
        }
        error
    }

    /// The same of what it says besides.
    pub(in crate::session) fn retell(&self, told: &mut ServerError) {
        if let Some(live) = self.current() {
            live.in_logic_names(told);
        }
    }
}

/// What is needed to tell it for one target.
#[derive(Debug)]
pub(in crate::session) struct Origin {
    live: Arc<LiveDatabase>,
    plan: Arc<Plan>,
    teller: Teller,
}

/// The unit of a plan whose reply is told.
#[derive(Debug)]
pub(in crate::session) struct Teller {
    /// Its place in the plan.
    pub(in crate::session) at: usize,
    /// What its numbers are shown as; `None` where that is not known.
    pub(in crate::session) numbers: Option<Arc<Oids>>,
}

impl Origin {
    /// Of this unit's reply.
    pub(in crate::session) fn of(
        live: &Arc<LiveDatabase>,
        plan: &Arc<Plan>,
        teller: Teller,
    ) -> Self {
        Self { live: Arc::clone(live), plan: Arc::clone(plan), teller }
    }

    /// Actual names of tables and databases become the logic ones, and numbers of relations those that are shown.
    pub(in crate::session) fn rename(&self, columns: &mut Columns) {
        let Some(unit) = self.plan.units.get(self.teller.at) else { return };
        let oid_rules = self.live.database.dialect.oid_rules();
        let first = oid_rules.map_or(u32::MAX, |oid_rules| oid_rules.first_made());
        let are_other =
            self.teller.numbers.as_ref().is_none_or(|numbers| numbers.change_relations());
        let is_made = |column: &Column| column.native.type_id >= first;
        let tells = |column: &Column| {
            let names = [&column.table, &column.origin_table, &column.schema];
            are_other && (column.native.relation != 0 || is_made(column))
                || names.iter().any(|name| !name.is_empty())
        };
        if unit.attributes.is_empty() && !columns.list.iter().any(tells) {
            return;
        }
        if let Some(told) = self.plan.told.get(&columns.list) {
            columns.list = Arc::clone(told);
            return;
        }
        let given = Arc::clone(&columns.list);
        self.rename_anew(unit, columns);
        let is_numbered = self.live.database.dialect.oid_rules().is_some();
        // What is shown without knowing better is shown otherwise the next time.
        if !is_numbered || self.teller.numbers.is_some() {
            columns.list = self.plan.told.set(given, Arc::clone(&columns.list));
        }
    }

    fn rename_anew(&self, unit: &Unit, columns: &mut Columns) {
        let database = &self.live.database;
        let number = oids::place(database, &unit.target.unit);
        let list = Arc::make_mut(&mut columns.list);
        for column in &mut *list {
            for table in &unit.target.tables {
                if column.origin_table.eq_ignore_ascii_case(&table.actual) {
                    column.origin_table = table.logic.to_string();
                }
                if column.table.eq_ignore_ascii_case(&table.actual) {
                    column.table = table.logic.to_string();
                }
            }
            if !column.schema.is_empty() && !column.origin_table.is_empty() {
                database.name.clone_into(&mut column.schema);
            }
            let own = column.native.relation;
            let numbers = self.teller.numbers.as_ref();
            // Where types are known to differ, they were told so as they came.
            if let Some(numbers) = numbers.filter(|numbers| !numbers.change_types()) {
                column.native.type_id = numbers.shown_type(column.native.type_id);
            }
            if let Some(shown) = numbers.and_then(|numbers| numbers.relation(own)) {
                show(column, shown);
            } else if number > 0
                && own != 0
                && let Some(presentation) = database.dialect.presentation()
            {
                column.native.relation = presentation.relation_number(own, number);
            }
        }
        for (column, own) in list.iter_mut().zip(&unit.attributes) {
            column.native.relation = own.relation;
            column.native.attribute = own.number;
        }
    }
}

/// Tells the column as one of a relation that is shown; of one that it does not have, as computed.
fn show(column: &mut Column, shown: &ShownRelation) {
    let native = &mut column.native;
    let other = shown.attributes.iter().find(|(own, _)| *own == native.attribute);
    (native.relation, native.attribute) = match other {
        Some((_, 0)) => (0, 0),
        Some((_, attribute)) => (shown.number, *attribute),
        None => (shown.number, native.attribute),
    };
}

/// What a server says of a table that is nowhere, where it names its database.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all other errors name no table that is nowhere"
)]
fn missing(
    presentation: &dyn Presentation,
    database: &str,
    kind: &ErrorKind,
) -> Option<ServerError> {
    match kind {
        ErrorKind::UnknownTable(table) => presentation.missing_table(database, table),
        ErrorKind::NothingToDrop { names, .. } => presentation.missing_to_drop(database, names),
        _ => None,
    }
}

/// A unit's place among its database's units.
pub(in crate::session) fn number_of(database: &Database, unit: &str) -> usize {
    database.units.iter().position(|known| &**known == unit).unwrap_or(0)
}
