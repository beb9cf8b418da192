//! A model among real rooms.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use pando_config::{Database, Errors, Vendor};
use pando_distsql::command::{Metadata, MetadataSource, Ral};
use pando_distsql::{Command, Language, Statement};
use pando_kernel::feature::LogicTable;
use pando_model::{
    Around, Change, ComputeNode, Conversion, Facts, Kind, Model, ReadUnit, Refusal, Rows,
    SingleTable,
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

/// The statements there are with the rooms of the house.
pub(crate) fn language() -> &'static Language {
    static LANGUAGE: LazyLock<Language> = LazyLock::new(|| Language::of(pando_rooms::ROOMS));
    &LANGUAGE
}

pub(crate) fn around() -> Around<'static> {
    let (vendor, settings) = (Vendor::MySql, &pando_rooms::check_global);
    Around { environment: &environment, vendor, language: language(), rooms: &rooms, settings }
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
        algorithms: &pando_kernel::room::algorithms(pando_rooms::ROOMS),
        now: "2026-11-21T20:30:00",
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
        Command::Ral(Ral::Metadata(Metadata::ImportDatabase { file })) => {
            let change = model.import(&read(file)?, &around())?;
            Ok(Outcome::Changed(Box::new(change)))
        }
        Command::Ral(Ral::Metadata(Metadata::ConvertYaml { file })) => {
            let conversion = Conversion::of(&read(file)?, &around())?;
            Ok(Outcome::Shown(Rows::from(&conversion)))
        }
        Command::Ral(Ral::Metadata(Metadata::Import(source))) => everything(model, source),
        Command::Ral(ral) => model.show(database, ral, &facts).map(Outcome::Shown),
        Command::Rul(_) => panic!("no statement of the model"),
    }
}

/// As whoever runs statements does: files are read there. Here they stand in `cases/given`.
fn read(file: &str) -> Result<String, Refusal> {
    let name = Path::new(file).file_name().unwrap_or_default();
    let given = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/given").join(name);
    fs::read_to_string(given).map_err(|_| Refusal {
        kind: Kind::InvalidDocument,
        message: format!("there is no file `{file}`"),
    })
}

/// The changes of IMPORT METADATA as one.
fn everything(model: &Model, source: &MetadataSource) -> Result<Outcome, Refusal> {
    let text = match source {
        MetadataSource::Text(text) => text.clone(),
        MetadataSource::File(file) => read(file)?,
    };
    let changes = model.import_metadata(&text, &around())?;
    let last = changes.last().map_or(model, |change| &change.model).clone();
    let checks = changes.iter().flat_map(|change| change.checks.clone()).collect();
    let tasks = changes.iter().flat_map(|change| change.tasks.clone()).collect();
    Ok(Outcome::Changed(Box::new(Change { model: last, database: None, checks, tasks })))
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
