//! Statements of DistSQL about rules that rooms bring, one after the other, and what becomes of each.

use std::path::Path;

use pando_config::{Database, Report, Vendor};
use pando_distsql::{Command, Language, Statement};
use pando_kernel::feature::LogicTable;
use pando_kernel::{NoModules, Offer, States};
use pando_model::{Around, Conversion, Facts, Keeping, Model, Result, Rows};
use pando_rooms::{Ground, rooms};

const SHOP: &str = "databaseName: shop
dataSources:
  ds_0: {url: 'jdbc:postgresql://a/x', username: u}
  ds_1: {url: 'jdbc:postgresql://b/x', username: u}
";

/// Plays the cases of a text, which empty lines part: a statement, then `=>` and what becomes of it, that is the rules
/// (`none` without any), columns and rows, or `error` with its code. Gives the text as it should be.
///
/// Whatever a change leads to is the same again when it comes back from YAML, from entries and from the statements of
/// CONVERT YAML CONFIGURATION.
pub(crate) fn play(cases: &str, offers: &[Offer]) -> String {
    let language = Language::of(offers);
    assert_eq!(language.mistakes(), Vec::<String>::new());
    let build = |database: &Database| {
        let mut report = Report::default();
        let states = States::default();
        let ground = Ground { data: Path::new(""), states: &states, modules: &NoModules };
        let rooms = rooms(offers, database, &ground, &mut report);
        report.finish()?;
        Ok(rooms.iter().flat_map(|room| room.tables()).collect::<Vec<LogicTable>>())
    };
    let around = Around {
        environment: &|_| None,
        vendor: Vendor::Postgres,
        language: &language,
        rooms: &build,
        settings: &|_| Vec::new(),
    };
    let mut model = Model::default().import(SHOP, &around).unwrap().model;
    let mut played = Vec::new();
    for case in cases.split("\n\n").map(str::trim).filter(|case| !case.is_empty()) {
        let (asked, _) = case.split_once("\n=>").unwrap_or((case, ""));
        let text: Vec<&str> = asked.lines().filter(|line| !line.starts_with('#')).collect();
        let told = match language.parse(&text.join("\n")) {
            Err(error) => format!("error {error}"),
            Ok(statement) => match carried_out(&mut model, &statement, &around) {
                Err(refusal) => format!("error {} {}", refusal.kind.code(), refusal.message),
                Ok(told) => told,
            },
        };
        played.push(format!("{asked}\n=> {}\n", told.trim_end()));
        comes_back(&model, &around);
    }
    played.join("\n")
}

fn carried_out(model: &mut Model, statement: &Statement, around: &Around<'_>) -> Result<String> {
    match &statement.command {
        Command::Rdl(change) => {
            *model = model.apply("shop", change, around)?.model;
            let text = model.yaml("shop")?;
            let rules = text.split_once("rules:\n").map_or("none", |(_, rules)| rules);
            Ok(rules.to_owned())
        }
        Command::Rql(question) => {
            let rows = model.answer("shop", question, &Facts::none(*around))?;
            assert!(!rows.columns.is_empty());
            assert_eq!(rows.columns, statement.entry.columns);
            Ok(table(&rows))
        }
        Command::Ral(_) | Command::Rul(_) => panic!("no statement about rules"),
    }
}

fn table(rows: &Rows) -> String {
    let row = |row: &Vec<Option<String>>| {
        row.iter().map(|cell| cell.clone().unwrap_or_default()).collect::<Vec<_>>().join(" | ")
    };
    let lines = [rows.columns.join(" | ")].into_iter().chain(rows.rows.iter().map(row));
    lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn comes_back(model: &Model, around: &Around<'_>) {
    let yaml = model.yaml("shop").unwrap();
    assert_eq!(&Model::default().import(&yaml, around).unwrap().model, model, "{yaml}");
    let entries = model.entries(Keeping::Open).unwrap();
    assert_eq!(&Model::from_entries(&entries, None).unwrap(), model, "{yaml}");
    let conversion = Conversion::of(&yaml, around).unwrap();
    assert_eq!(conversion.unsaid, Vec::<String>::new(), "{yaml}");
    let mut again = Model::default().create_database("shop").unwrap().model;
    for text in &conversion.statements[2..] {
        let Command::Rdl(change) = around.language.parse(text).unwrap().command else {
            panic!("{text} changes nothing")
        };
        again = again.apply("shop", &change, around).unwrap().model;
    }
    let rules = |text: &str| text.split_once("rules:").map(|(_, rules)| rules.to_owned());
    assert_eq!(rules(&again.yaml("shop").unwrap()), rules(&yaml));
}
