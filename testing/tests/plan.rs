//! Plan goldens as data: each folder of `cases/` has a configuration, perhaps a file of table columns, and `.case` files.
//!
//! A case is a name, a statement, its parameters and what comes of it:
//!
//! ```text
//! == name of the case
//! SELECT * FROM t WHERE id = ?
//! with 1
//! -> ds_0: SELECT * FROM t_1 WHERE id = ? [0]
//! ```
//!
//! A line `under sql_select_limit = 2` gives the session a variable; a line `described` plans the statement as it is described, not run. `-> ` is an actual statement in order, `[0]` the parameters it takes; `<- ` what is read first for a statement over rows (`pando_relation_0`, …); `!! ` a part of the refusal's text; `~~ ` says that rows
//! are merged in a way whose debug text contains this.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and says what it skips"
)]

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pando_engine::plan::{Planned, Purpose, plan};
use pando_fake::{Still, table_column};
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Context, Names, OwnNames, Spellings};
use pando_kernel::relation::{Inline, PREFIX};
use pando_kernel::request::Parameter;
use pando_kernel::route::UnitName;
use pando_kernel::{Kind, Value};

/// Columns of `columns.txt`: `table: name kind, name kind`, or the units of a table: `table: in ds_0, ds_1`, or what an actual table's indexes,
/// constraints and triggers are called: `table: has index a, constraint b, trigger c`.
#[derive(Debug, Default)]
struct Known {
    columns: HashMap<String, Arc<Vec<TableColumn>>>,
    tables: Arc<HashMap<String, Vec<UnitName>>>,
    spellings: Arc<Spellings>,
    names: Arc<Names>,
}

impl Catalog for Known {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        Some(self.columns.get(table).cloned().unwrap_or_default())
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        Some(Arc::clone(&self.tables))
    }

    fn spellings(&self) -> Option<Arc<Spellings>> {
        Some(Arc::clone(&self.spellings))
    }

    fn names(&self, _: &[UnitName]) -> Option<Arc<Names>> {
        Some(Arc::clone(&self.names))
    }
}

fn own_names(list: &str) -> OwnNames {
    let mut own = OwnNames::default();
    for one in list.split(',') {
        match one.trim().split_once(' ') {
            Some(("index", name)) => own.indexes.insert(name.to_owned()),
            Some(("constraint", name)) => own.constraints.insert(name.to_owned()),
            Some(("trigger", name)) => own.triggers.insert(name.to_owned()),
            _ => panic!("unknown kind of name {one}"),
        };
    }
    own
}

fn column(text: &str) -> TableColumn {
    let (name, kind) = text.trim().split_once(' ').expect("a column has a name and a kind");
    let kind = match kind.trim() {
        "int" => Kind::Int,
        "text" => Kind::Text,
        "decimal" => Kind::Decimal,
        "date" => Kind::Date,
        other => panic!("unknown kind {other}"),
    };
    let is_text = kind == Kind::Text;
    let type_name = match kind {
        Kind::Text => "varchar(8)",
        Kind::Int => "bigint",
        _ => "",
    };
    TableColumn {
        type_name: type_name.to_owned(),
        collation: if is_text { "utf8mb4_bin".to_owned() } else { String::new() },
        ..table_column(name, kind)
    }
}

fn known(folder: &Path) -> Known {
    let mut known = Known::default();
    let (mut tables, mut spellings, mut names) = (HashMap::new(), Spellings::new(), Names::new());
    for line in std::fs::read_to_string(folder.join("columns.txt")).unwrap_or_default().lines() {
        let Some((table, rest)) = line.split_once(':') else { continue };
        if let Some(units) = rest.trim().strip_prefix("in ") {
            let units = units.split(',').map(|unit| UnitName::from(unit.trim())).collect();
            let key = table.trim().to_lowercase();
            if key != table.trim() {
                spellings.entry(key).or_insert_with(HashSet::new).insert(table.trim().to_owned());
            }
            tables.insert(table.trim().to_owned(), units);
        } else if let Some(list) = rest.trim().strip_prefix("has ") {
            names.insert(table.trim().to_owned(), own_names(list));
        } else {
            let columns = rest.split(',').map(column).collect();
            known.columns.insert(table.trim().to_owned(), Arc::new(columns));
        }
    }
    (known.tables, known.names) = (Arc::new(tables), Arc::new(names));
    known.spellings = Arc::new(spellings);
    known
}

fn value(text: &str) -> Value {
    match text.trim() {
        "NULL" => Value::Null,
        text => match text.parse() {
            Ok(number) => Value::Int(number),
            Err(_) => Value::Text(text.trim_matches('\'').to_owned()),
        },
    }
}

struct Case<'a> {
    name: &'a str,
    sql: String,
    parameters: Option<Vec<Parameter>>,
    settings: Vec<(String, String)>,
    purpose: Purpose,
    expected: Vec<&'a str>,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("== ") {
            let (sql, purpose) = (String::new(), Purpose::Run);
            let (settings, expected) = (Vec::new(), Vec::new());
            cases.push(Case { name, sql, parameters: None, settings, purpose, expected });
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        if line.starts_with("-> ")
            || line.starts_with("<- ")
            || line.starts_with("!! ")
            || line.starts_with("~~ ")
        {
            case.expected.push(line);
        } else if let Some(list) = line.strip_prefix("with ") {
            let list = list.split(',').map(|text| Parameter::made(value(text))).collect();
            case.parameters = Some(list);
        } else if let Some((name, value)) =
            line.strip_prefix("under ").and_then(|set| set.split_once(" = "))
        {
            case.settings.push((name.to_owned(), value.to_owned()));
        } else if line == "described" {
            case.purpose = Purpose::Describe;
        } else if !line.trim().is_empty() && !line.starts_with('#') {
            if !case.sql.is_empty() {
                case.sql.push('\n');
            }
            case.sql.push_str(line);
        }
    }
    cases
}

/// What planning makes of a case, in the notation of the files.
fn outcome(folder: &Path, case: &Case<'_>) -> Vec<String> {
    let configuration = pando_config::load(folder).expect("the configuration loads");
    let database = configuration.databases.first().expect("a database");
    let built = pando_rooms::build(database, folder).expect("the database builds");
    let dialect = Arc::clone(&built.database.dialect);
    let stmt = match pando_sql::parse(&case.sql, dialect.syntax()) {
        Ok(stmt) => stmt,
        Err(error) => return vec![format!("!! syntax: {}", error.message)],
    };
    let mut session = pando_kernel::feature::SessionView::default();
    Arc::make_mut(&mut session.facts).database = Some(built.database.name.clone());
    Arc::make_mut(&mut session.facts).databases = Arc::from([built.database.name.clone()]);
    Arc::make_mut(&mut session.facts).settings = case.settings.clone().into();
    let known = known(folder);
    let ctx = Context {
        database: &built.database,
        catalog: &known,
        dialect: dialect.as_ref(),
        parameters: case.parameters.as_deref(),
        session: &session,
        source: &Still,
    };
    match plan(&ctx, &stmt, case.purpose) {
        Ok(Planned::Run(plan)) => {
            let units = plan.units.iter().map(|unit| {
                let takes = match &unit.parameters[..] {
                    [] => String::new(),
                    list => format!(" {list:?}"),
                };
                format!("-> {}: {}{takes}", unit.target.unit, unit.sql.replace('\n', " "))
            });
            units.chain([format!("~~ {:?}", plan.merge)]).collect()
        }
        Ok(Planned::Assembly(assembly)) => {
            let reads = assembly.reads.iter().map(|read| format!("<- {}", read.text));
            let named =
                |read: usize| Inline { before: Vec::new(), table: format!("{PREFIX}{read}") };
            let tables: Vec<Inline> = assembly.tables().map(named).collect();
            match assembly.finish(&ctx, &tables, Purpose::Run) {
                Ok(Planned::Run(plan)) => {
                    let units = plan.units.iter();
                    let rest = units.map(|unit| format!("-> {}: {}", unit.target.unit, unit.sql));
                    reads.chain(rest).collect()
                }
                // A change is planned once more, and no room knows the tables that stand here for the rows.
                Err(error) => reads.chain([format!("!! {error}")]).collect(),
                other => panic!("{other:?}"),
            }
        }
        Ok(Planned::Steps(found)) => vec![format!("!! {}", found.refusal)],
        Ok(Planned::Needs(need)) => vec![format!("!! needs {need:?}")],
        Err(error) => vec![format!("!! {error}")],
    }
}

fn agrees(expected: &[&str], seen: &[String]) -> bool {
    let sent = |line: &&str| line.starts_with("-> ") || line.starts_with("<- ");
    let wanted: Vec<&str> = expected.iter().copied().filter(sent).collect();
    let got: Vec<&str> = seen.iter().map(String::as_str).filter(sent).collect();
    wanted == got
        && expected.iter().filter(|line| !sent(line)).all(|line| {
            let (mark, part) = line.split_at(3);
            seen.iter().any(|seen| seen.starts_with(mark) && seen.contains(part))
        })
}

fn check(folder: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases").join(folder);
    let mut count = 0;
    let mut wrong = String::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "case"))
        .collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a case file");
        for case in cases(&text) {
            count += 1;
            let seen = outcome(&folder, &case);
            if case.expected.is_empty() || !agrees(&case.expected, &seen) {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                wrong.push_str(&format!(
                    "\n== {} ({name})\nexpected:\n  {}\nseen:\n  {}\n",
                    case.name,
                    case.expected.join("\n  "),
                    seen.join("\n  ")
                ));
            }
        }
    }
    assert!(count > 0, "no case in {}", folder.display());
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_papers_examples_give_the_papers_units() {
    check("paper");
}

#[test]
fn layouts_of_databases_and_tables_are_planned_as_written() {
    check("layout");
}

#[test]
fn what_only_postgres_can_say_is_planned_as_written() {
    check("postgres");
}

#[test]
fn questions_about_the_catalogue_go_to_the_units_that_can_answer() {
    check("catalogue-mysql");
    check("catalogue-postgres");
}

#[test]
fn statements_with_a_mark_are_planned_for_shadows() {
    check("shadow");
}
