//! MySQL's and MariaDB's catalogue as the logical database's: sub-queries in the place of its tables, SHOW as queries of them.

mod columns;
mod create;
mod declared;
mod definitions;
mod figures;
mod labels;
mod maintained;
mod relation;
mod relations;
mod show;
mod told;
pub(crate) mod version;

use std::sync::Arc;

use pando_kernel::dialect::Facts;
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::presentation::{Asked, Holding, Maintained, Presentation, Presented, View};
use pando_kernel::route::Need;
use pando_kernel::{ActualNames, Parameter, ServerError};
use pando_sql::ast::{Ident, ObjectName, Show, Statement};
use pando_sql::visit::{self, Refers};
use pando_sql::{Edits, Release, Span};

use crate::dialect::MySql;
use crate::error::ClientError;

impl Presentation for MySql {
    fn database_part<'a>(&self, parts: &'a [Ident]) -> Option<&'a Ident> {
        match parts {
            [database, _] if !relations::is_vendors(&database.value) => Some(database),
            _ => None,
        }
    }

    fn holding(&self, name: &ObjectName) -> Option<Holding> {
        let is_vendors = match &name.parts[..] {
            [only] => only.value.eq_ignore_ascii_case("dual"),
            [schema, _] => relations::is_vendors(&schema.value),
            _ => false,
        };
        let known = relations::find(name).map_or(Holding::Shared, |(relation, _)| relation.holding);
        is_vendors.then_some(known)
    }

    fn asked(&self, _stmt: &Statement, _parameters: &[Parameter]) -> Asked {
        Asked::Anyone
    }

    fn present(&self, stmt: &Statement, view: &View<'_>) -> Result<Presented> {
        columns::check(stmt, view)?;
        let mut edits = Edits::default();
        let mut replaced: Vec<Span> = Vec::new();
        let mut named: Vec<String> = Vec::new();
        let apart = relation::Apart::of(stmt, view);
        for occurrence in visit::tables(&stmt.kind) {
            let Some((known, name)) = relations::find(occurrence.name) else { continue };
            let Some(table) = occurrence.table else { continue };
            let key = format!("information_schema.{name}");
            let Some(columns) = view.catalog.columns(&key) else {
                return Ok(Presented::Needs(Need::Columns(key)));
            };
            if columns.is_empty() {
                // This server has no such table, and says so itself.
                continue;
            }
            let known = relation::Known { relation: known, name, columns: &columns };
            let text = match relation::sub_query(stmt, view, &known) {
                Ok(text) => text,
                Err(need) => return Ok(Presented::Needs(need)),
            };
            let own = occurrence.name.parts.last().map_or(name, |part| part.value.as_str());
            let alias = match table.alias {
                Some(_) => String::new(),
                None => format!(" AS `{}`", own.replace('`', "``")),
            };
            edits.replace(occurrence.name.span, format!("{text}{alias}"));
            replaced.push(occurrence.name.span);
            named.extend(columns.iter().map(|column| column.name.clone()));
        }
        labels::keep(stmt, view, apart, &named, &mut edits);
        for owner in visit::column_owners(&stmt.kind) {
            if let (Refers::Table(name), [_, last]) = (owner.refers, owner.parts)
                && replaced.contains(&name.span)
            {
                edits.replace(Span::new(owner.span.start, last.span.start), "");
            }
        }
        Ok(Presented::Edits(edits))
    }

    fn restate(&self, text: &str, show: &Show, facts: &Facts) -> Result<Option<String>> {
        show::restate(text, show, facts)
    }

    fn found_rows(&self) -> Option<&'static str> {
        Some("SELECT FOUND_ROWS()")
    }

    fn error_told(&self, kind: &ErrorKind) -> Option<(u32, String)> {
        let told = ClientError::of(kind);
        Some((told.code.into(), told.message.into_owned()))
    }

    fn own_database(&self, name: &str) -> Option<&'static str> {
        relations::vendors(name)
    }

    fn maintained(&self, verb: &str) -> Option<Maintained> {
        maintained::answer(verb)
    }

    fn warnings(&self) -> Option<&'static str> {
        Some("SHOW WARNINGS")
    }

    fn version(&self, servers: &[Arc<str>]) -> Option<String> {
        version::told(servers)
    }

    fn release(&self, server: &str) -> Option<Release> {
        version::release(server)
    }

    fn missing_table(&self, database: &str, table: &str) -> Option<ServerError> {
        (!table.contains('.')).then(|| told::missing(&format!("{database}.{table}")))
    }

    fn missing_to_drop(&self, database: &str, names: &[String]) -> Option<ServerError> {
        Some(told::missing_to_drop(database, names))
    }

    fn in_logic_names(&self, told: &mut ServerError, names: &ActualNames) {
        told::in_logic_names(told, names);
    }
}

#[cfg(test)]
mod tests;
