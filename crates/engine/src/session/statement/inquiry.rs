//! What only a session can do of a statement about the configuration: read a statement as it would, and tell what it knows of tables.

use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::administration::Errand;
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::feature::Catalog;
use pando_kernel::route::Need;

use crate::plan::without_units;
use crate::snapshot::LiveDatabase;

use crate::plan::unread as syntax_error;
use crate::session::door::find;
use crate::session::reply::warnings::decoded;
use crate::session::run::find_out::unknown_table;
use crate::session::statement::parse_tree;
use crate::session::{Bound, Session};

/// Rows that may tell of one table's indexes.
const MAX_INDEX_ROWS: usize = 100_000;

impl Session {
    /// Does what the administration leaves to the session, and answers.
    pub(in crate::session) async fn run_errand(&mut self, errand: Errand) -> Result<()> {
        match errand {
            Errand::Parse(text) => {
                let syntax = *self.place.syntax()?;
                let read = move |text: &str| {
                    let parsed = pando_sql::parse(text, &syntax)?;
                    Ok([parse_tree::name(&parsed.kind), parse_tree::tree(&parsed.kind)])
                };
                let row = self.beside(text, read).await?.map_err(syntax_error)?;
                self.text_rows(&["parsed_statement", "parsed_statement_detail"], vec![row.into()])
            }
            Errand::Format(text) => {
                let syntax = *self.place.syntax()?;
                let format = move |text: &str| pando_sql::format(text, &syntax);
                let formatted = self.beside(text, format).await?.map_err(syntax_error)?;
                self.text_rows(&["formatted_result"], vec![vec![formatted]])
            }
            Errand::ForgetTables => {
                let live = self.place.live()?;
                self.forget_tables(&live).await;
                self.complete("REFRESH TABLE METADATA");
                Ok(())
            }
            Errand::ChooseTransactionType(kind) => {
                self.choose_type(kind)?;
                self.complete("SET");
                Ok(())
            }
            Errand::ShowTransactionType => {
                let row = vec!["transaction_type".to_owned(), self.transaction_type().to_string()];
                self.text_rows(&["variable_name", "variable_value"], vec![row])
            }
            Errand::ShowInDoubt => Box::pin(self.show_doubts()).await,
            Errand::ShowTransactionStatus => self.show_transaction_status(),
            Errand::Resolve { global, verdict } => Box::pin(self.resolve(&global, verdict)).await,
            Errand::ShowTables { database, tables } => {
                let rows = Box::pin(self.about_tables(database, &tables)).await?;
                self.text_rows(&["schema_name", "table_name", "type", "name"], rows)
            }
        }
    }

    pub(in crate::session) fn text_rows(
        &mut self,
        labels: &[&str],
        rows: Vec<Vec<String>>,
    ) -> Result<()> {
        let rows: Vec<Vec<Value>> =
            rows.into_iter().map(|row| row.into_iter().map(Value::Text).collect()).collect();
        self.rows("SHOW", labels, &rows)
    }

    /// Columns and indexes of tables of the current database, or of another that is stood in meanwhile.
    async fn about_tables(
        &mut self,
        database: Option<String>,
        tables: &[String],
    ) -> Result<Vec<Vec<String>>> {
        let current = self.place.facts.database.clone();
        let name = database.or_else(|| current.clone()).ok_or(ErrorKind::NoDatabase)?;
        if !self.place.facts.databases.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            return Err(ErrorKind::UnknownDatabase(name).into());
        }
        let there = find(&self.place.snapshot, &name, &self.place.login)?;
        if !there.has_units() {
            return Err(without_units(&there.database.name));
        }
        let here = self.place.live.replace(Arc::clone(&there));
        self.place.facts_mut().database = Some(there.database.name.clone());
        let mut rows = Vec::new();
        let mut told = Ok(());
        for table in tables {
            told = self.about_table(&there, table, &mut rows).await;
            if told.is_err() {
                break;
            }
        }
        self.place.live = here;
        self.place.facts_mut().database = current;
        told.map(|()| rows)
    }

    async fn about_table(
        &mut self,
        live: &Arc<LiveDatabase>,
        table: &str,
        rows: &mut Vec<Vec<String>>,
    ) -> Result<()> {
        // Whoever asks need not know in which case the statements write it.
        let mut columns = None;
        for key in [live.database.dialect.syntax().table_key(table), table.to_lowercase()] {
            if columns.is_none() && self.work.catalog(live).columns(&key).is_none() {
                self.find_out(live, Need::Columns(key.clone())).await?;
            }
            let known = self.work.catalog(live).columns(&key).filter(|columns| !columns.is_empty());
            columns = columns.or(known);
        }
        let columns = columns.ok_or_else(|| unknown_table(table))?;
        let schema = live.database.dialect.default_schema().unwrap_or(&live.database.name);
        let mut row = |what: &str, name: String| {
            rows.push(vec![schema.to_owned(), table.to_owned(), what.to_owned(), name]);
        };
        columns.iter().for_each(|column| row("column", column.name.clone()));
        if let Some((text, label)) = live.database.dialect.indexes_of(table) {
            let indexes = self.names_in(live, &text, label).await?;
            indexes.into_iter().for_each(|index| row("index", index));
        }
        Ok(())
    }

    /// The texts in one column of a statement's answer, each once.
    async fn names_in(
        &mut self,
        live: &Arc<LiveDatabase>,
        text: &str,
        label: &str,
    ) -> Result<Vec<String>> {
        let stmt = pando_sql::parse(text, live.database.dialect.syntax()).map_err(syntax_error)?;
        let window = self.outbox.window.take();
        self.work.planning.learns = false;
        self.start_on_units(&stmt, Bound::default()).await?;
        let (mut names, mut columns, mut seen) = (Vec::new(), None, 0);
        while let Some(event) = self.next_of_reply().await? {
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
                    self.abandon().await;
                    return Err(ErrorKind::TooLarge("too many indexes".into()).into());
                }
            }
        }
        self.outbox.window = window;
        Ok(names)
    }
}
