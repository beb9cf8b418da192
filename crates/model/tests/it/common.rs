//! A model among real rooms.

use std::path::Path;

use pando_config::{Database, Errors, Vendor};
use pando_distsql::command::Ral;
use pando_distsql::{Command, Statement};
use pando_kernel::feature::LogicTable;
use pando_model::{
    Around, Change, ComputeNode, Facts, Model, ReadUnit, Refusal, Rows, SingleTable,
};

/// The rooms of the house. Sections that it reads and does not serve yet are left out: whether they are served is not this crate's question.
pub(crate) fn rooms(database: &Database) -> Result<Vec<LogicTable>, Errors> {
    let mut database = database.clone();
    database.rules.encrypt = None;
    database.rules.mask = None;
    database.rules.shadow = None;
    let built = pando_rooms::build(&database, Path::new("."))?;
    Ok(built.database.features.iter().flat_map(|room| room.tables()).collect())
}

pub(crate) fn environment(name: &str) -> Option<String> {
    (name == "PASSWORD").then(|| "from-the-environment".to_owned())
}

pub(crate) fn around() -> Around<'static> {
    let (vendor, settings) = (Vendor::MySql, &pando_rooms::check_global);
    Around { environment: &environment, vendor, rooms: &rooms, settings }
}

/// What a statement led to.
pub(crate) enum Outcome {
    Changed(Box<Change>),
    Shown(Rows),
}

pub(crate) fn run(
    model: &Model,
    database: &str,
    statement: &Statement,
) -> Result<Outcome, Refusal> {
    let single = |table: &str, unit: &str| SingleTable {
        table: table.into(),
        unit: unit.into(),
        schema: Some("public".into()),
    };
    let tables = [single("t_conf", "ds_0"), single("t_note", "ds_1")];
    let unloaded = [single("t_old", "ds_1")];
    let node = ComputeNode {
        id: "pando-1".into(),
        kind: "PROXY".into(),
        host: "10.0.0.1".into(),
        port: 3307,
        status: "OK".into(),
        mode: "Cluster".into(),
        worker_id: Some(0),
        labels: vec!["a".into(), "b".into()],
        version: "0.1.0".into(),
        repository: Some(("ZooKeeper".into(), vec![("namespace".into(), "gov".into())])),
    };
    let off = ReadUnit { database: "shop".into(), group: "rw".into(), unit: "r1".into() };
    let facts = Facts {
        single_tables: &tables,
        unloaded: &unloaded,
        nodes: &[node],
        disabled: &[off],
        ..Facts::none(around())
    };
    match &statement.command {
        Command::Rdl(rdl) => {
            model.apply(database, rdl, &around()).map(Box::new).map(Outcome::Changed)
        }
        Command::Rql(rql) => model.answer(database, rql, &facts).map(Outcome::Shown),
        Command::Ral(ral) if is_change(ral) => {
            model.administer(ral, &around()).map(Box::new).map(Outcome::Changed)
        }
        Command::Ral(ral) => model.show(database, ral, &facts).map(Outcome::Shown),
        Command::Rul(_) => panic!("no statement of the model"),
    }
}

fn is_change(ral: &Ral) -> bool {
    matches!(
        ral,
        Ral::SetVariable { .. }
            | Ral::AlterTransactionRule(_)
            | Ral::AlterParserRule(_)
            | Ral::AlterFederationRule(_)
            | Ral::AlterTranslatorRule(_)
            | Ral::AlterClockRule(_)
    )
}
