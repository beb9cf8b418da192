//! What only a session can do of a statement about the configuration: read a statement as it would, and tell what it
//! knows of tables.

use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::administration::Errand;
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::feature::Catalog;
use pando_kernel::route::Need;

use crate::plan::{unread as syntax_error, without_units};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::errors::unknown_table;
use crate::session::given::Given;
use crate::session::reply::made;
use crate::session::reply::pull::{finish, piece};
use crate::session::reply::warnings::decoded;
use crate::session::run::{find_out, on_units};
use crate::session::statement::{beside, parse_tree};
use crate::session::transaction::{definition, units};

/// Rows that may tell of one table's indexes.
const MAX_INDEX_ROWS: usize = 100_000;

/// Does what the administration leaves to the session, and answers.
pub(in crate::session) async fn run_errand(session: &mut Session, errand: Errand) -> Result<()> {
    match errand {
        Errand::Parse(text) => {
            let syntax = *session.place.syntax()?;
            let read = move |text: &str| {
                let parsed = pando_sql::parse(text, &syntax)?;
                Ok([parse_tree::name(&parsed.kind), parse_tree::tree(&parsed.kind)])
            };
            let row = beside::beside(session, text, read).await?.map_err(syntax_error)?;
            made::text_rows(
                session,
                &["parsed_statement", "parsed_statement_detail"],
                vec![row.into()],
            )
        }
        Errand::Format(text) => {
            let syntax = *session.place.syntax()?;
            let format = move |text: &str| pando_sql::format(text, &syntax);
            let formatted = beside::beside(session, text, format).await?.map_err(syntax_error)?;
            made::text_rows(session, &["formatted_result"], vec![vec![formatted]])
        }
        Errand::ForgetTables => {
            let live = session.place.live()?;
            definition::forget_tables(session, &live).await;
            made::complete(session, "REFRESH TABLE METADATA");
            Ok(())
        }
        Errand::ChooseTransactionType(kind) => {
            units::choose_type(session, kind)?;
            made::complete(session, "SET");
            Ok(())
        }
        Errand::ShowTransactionType => {
            let row =
                vec!["transaction_type".to_owned(), units::transaction_type(session).to_string()];
            made::text_rows(session, &["variable_name", "variable_value"], vec![row])
        }
        Errand::ShowInDoubt => Box::pin(units::show_doubts(session)).await,
        Errand::ShowTransactionStatus => units::show_transaction_status(session),
        Errand::Resolve { global, verdict } => {
            Box::pin(units::resolve(session, &global, verdict)).await
        }
        Errand::ShowTables { database, tables } => {
            let rows = Box::pin(about_tables(session, database, &tables)).await?;
            made::text_rows(session, &["schema_name", "table_name", "type", "name"], rows)
        }
    }
}

/// Columns and indexes of tables of the current database, or of another that is stood in meanwhile.
async fn about_tables(
    session: &mut Session,
    database: Option<String>,
    tables: &[String],
) -> Result<Vec<Vec<String>>> {
    let current = session.place.facts().database.clone();
    let name = database.or_else(|| current.clone()).ok_or(ErrorKind::NoDatabase)?;
    if !session.place.facts().databases.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
        return Err(ErrorKind::UnknownDatabase(name).into());
    }
    let there = session.place.find(&name)?;
    if !there.has_units() {
        return Err(without_units(&there.database.name));
    }
    let away = session.place.go_to(&there);
    let mut rows = Vec::new();
    let mut told = Ok(());
    for table in tables {
        told = about_table(session, &there, table, &mut rows).await;
        if told.is_err() {
            break;
        }
    }
    session.place.come_back(Some(away));
    told.map(|()| rows)
}

async fn about_table(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    table: &str,
    rows: &mut Vec<Vec<String>>,
) -> Result<()> {
    // Whoever asks need not know in which case the statements write it.
    let mut columns = None;
    for key in [live.database.dialect.syntax().table_key(table), table.to_lowercase()] {
        if columns.is_none() && session.work.catalog(live).columns(&key).is_none() {
            find_out::find_out(session, live, Need::Columns(key.clone())).await?;
        }
        let known = session.work.catalog(live).columns(&key).filter(|columns| !columns.is_empty());
        columns = columns.or(known);
    }
    let columns = columns.ok_or_else(|| unknown_table(table))?;
    let schema = live.database.dialect.default_schema().unwrap_or(&live.database.name);
    let mut row = |what: &str, name: String| {
        rows.push(vec![schema.to_owned(), table.to_owned(), what.to_owned(), name]);
    };
    columns.iter().for_each(|column| row("column", column.name.clone()));
    if let Some((text, label)) = live.database.dialect.indexes_of(table) {
        let indexes = names_in(session, live, &text, label).await?;
        indexes.into_iter().for_each(|index| row("index", index));
    }
    Ok(())
}

/// The texts in one column of a statement's answer, each once.
async fn names_in(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    text: &str,
    label: &str,
) -> Result<Vec<String>> {
    let stmt = pando_sql::parse(text, live.database.dialect.syntax()).map_err(syntax_error)?;
    let window = session.outbox.take_window();
    on_units::run_as_one(session, &stmt, Given::default()).await?;
    let (mut names, mut columns, mut seen) = (Vec::new(), None, 0);
    while let Some(event) = piece::next_of_reply(session).await? {
        if let Event::Columns(found) = event {
            columns = Some(found);
        } else if let (Event::Rows(chunk), Some(columns)) = (event, &columns) {
            let at = columns.list.iter().position(|column| column.name == label);
            for row in decoded(columns, &chunk)? {
                if let Some(Value::Text(name)) = at.and_then(|at| row.get(at))
                    && !names.contains(name)
                {
                    names.push(name.clone());
                }
                seen += 1;
            }
            if seen > MAX_INDEX_ROWS {
                finish::abandon(session).await;
                return Err(ErrorKind::TooLarge("too many indexes".into()).into());
            }
        }
    }
    session.outbox.limit_again(window);
    Ok(names)
}
