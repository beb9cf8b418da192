//! A refusal says why, and planning goes by that alone: what a room forbids is refused whatever its number, and what a room cannot route is
//! answered over rows that are read first.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use pando_engine::plan::{Planned, Purpose, plan};
use pando_fake::{Still, table_column};
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Context, Feature, Room, SessionView};
use pando_kernel::route::{Route, UnitName};
use pando_kernel::{Because, Error, ErrorKind, Kind, Result};
use pando_sql::ast::Statement;

/// Codes that the rooms' refusals of routing have, too.
const CODES: [u32; 5] = [30001, 20030, 20034, 20035, 20101];
/// Which is answered over rows that are read first, where nobody forbids it.
const QUERY: &str = "SELECT COUNT(DISTINCT status) + 1 FROM t_order";

/// A room that refuses everything.
#[derive(Debug)]
struct Refuses(Because, u32);

impl Room for Refuses {
    fn name(&self) -> &'static str {
        "refuses"
    }
}

impl Feature for Refuses {
    fn route(&self, _: &Context<'_>, _: &Statement, _: &mut Route) -> Result<()> {
        Err(Error::refused(self.0, self.1, "the room says no", ""))
    }
}

#[derive(Debug)]
struct Known;

impl Catalog for Known {
    fn columns(&self, _: &str) -> Option<Arc<Vec<TableColumn>>> {
        Some(Arc::new(vec![table_column("order_id", Kind::Int), table_column("status", Kind::Int)]))
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        Some(Arc::default())
    }
}

/// What planning makes of the query in the layout of the cases, with a room in front that refuses it.
fn planned(because: Because, code: u32) -> Result<Planned> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases/layout");
    let configuration = pando_config::load(&folder).expect("the configuration loads");
    let database = configuration.databases.first().expect("a database");
    let mut built = pando_rooms::build(database, &folder).expect("the database builds").database;
    built.features.insert(0, Arc::new(Refuses(because, code)));
    let dialect = Arc::clone(&built.dialect);
    let stmt = pando_sql::parse(QUERY, dialect.syntax()).expect("the query is read");
    let ctx = Context {
        database: &built,
        catalog: &Known,
        dialect: dialect.as_ref(),
        parameters: None,
        session: &SessionView::default(),
        source: &Still,
    };
    plan(&ctx, &stmt, Purpose::Run)
}

#[test]
fn what_a_room_forbids_is_refused_whatever_its_code() {
    for because in [Because::Forbidden, Because::Unsupported] {
        for code in CODES {
            let error = planned(because, code).expect_err("it is refused");
            let ErrorKind::Refused { because: told, code: shown, reason, .. } = error.kind() else {
                unreachable!("{error}");
            };
            assert_eq!((*told, *shown, &**reason), (because, code, "the room says no"));
        }
    }
}

#[test]
fn what_a_room_cannot_route_is_answered_over_rows_whatever_its_code() {
    for because in [Because::SpansShards, Because::Unmerged, Because::Uncarried] {
        for code in [30001, 1] {
            let planned = planned(because, code).expect("it is planned");
            assert!(matches!(planned, Planned::Assembly(_)), "{planned:?}");
        }
    }
}
