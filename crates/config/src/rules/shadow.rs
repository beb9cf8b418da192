//! `!SHADOW`: statements of a load test go to databases of their own.

use crate::algorithm::{Algorithm, Named};
use crate::node::{Entry, Node};
use crate::place::{At, Placed, Report};
use crate::read::{self, Fields};

/// The section as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shadow {
    /// Where it stands.
    pub at: At,
    /// Pairs of production and shadow storage units by name, in file order.
    pub data_sources: Named<ShadowDataSource>,
    /// Tables by logic name, in file order.
    pub tables: Named<ShadowTable>,
    /// The algorithm of tables without one.
    pub default_algorithm: Option<Placed<String>>,
    /// Shadow algorithms by name.
    pub algorithms: Named<Algorithm>,
}

/// A storage unit and its shadow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowDataSource {
    /// Where it stands.
    pub at: At,
    /// The storage unit in production.
    pub production: Placed<String>,
    /// The storage unit of the load test.
    pub shadow: Placed<String>,
}

/// One table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowTable {
    /// Where it stands.
    pub at: At,
    /// Names of pairs.
    pub data_sources: Vec<Placed<String>>,
    /// Names of algorithms; one that matches is enough.
    pub algorithms: Vec<Placed<String>>,
}

impl Shadow {
    pub(crate) fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let mut fields = Fields::of_tagged(node, report)?;
        let data_sources = fields.map("dataSources", pair).into_iter().collect();
        let tables = fields.map("tables", table).into_iter().collect();
        let default_algorithm = fields.optional_name("defaultShadowAlgorithmName");
        let algorithms = Named::read(&mut fields, "shadowAlgorithms");
        let shadow =
            Self { at: node.at.clone(), data_sources, tables, default_algorithm, algorithms };
        shadow.check(fields.report());
        fields.finish();
        Some(shadow)
    }

    fn check(&self, report: &mut Report) {
        for (_, table) in self.tables.iter() {
            for name in &table.data_sources {
                self.data_sources.check(name, "shadow data source", report);
            }
        }
        let of_tables = self.tables.iter().flat_map(|(_, table)| &table.algorithms);
        for name in of_tables.chain(&self.default_algorithm) {
            self.algorithms.check(name, "shadow algorithm", report);
        }
    }
}

fn pair(entry: &Entry, report: &mut Report) -> Option<(Placed<String>, ShadowDataSource)> {
    let mut fields = Fields::of(&entry.value, report)?;
    let production = fields.name("productionDataSourceName");
    let shadow = fields.name("shadowDataSourceName");
    let at = fields.at();
    fields.finish();
    Some((read::key(entry), ShadowDataSource { at, production: production?, shadow: shadow? }))
}

fn table(entry: &Entry, report: &mut Report) -> Option<(Placed<String>, ShadowTable)> {
    let mut fields = Fields::of(&entry.value, report)?;
    let data_sources = fields.names("dataSourceNames");
    let algorithms = fields.names("shadowAlgorithmNames");
    let at = fields.at();
    fields.finish();
    Some((read::key(entry), ShadowTable { at, data_sources, algorithms }))
}
