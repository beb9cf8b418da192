//! Running executions on an open connection. All of this happens in the connection's thread and may block.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pando_kernel::session::TransactionState;
use pando_kernel::{Completion, Description, Event, Execution, Native, Parameter};
use rusqlite::hooks::Action;
use rusqlite::{CachedStatement, Connection, InterruptHandle, Statement};

use crate::catalog::MARK;
use crate::compat::{Translation, Verb, translate};
use crate::error::{cancelled, message, refuse, server};
use crate::infer;
use crate::line::{Line, Stop};
use crate::parameters::{bind, count};
use crate::shape::{Chunk, Shape, weight};
use crate::tongue::Tongue;
use crate::worker::STATEMENT_CACHE;

/// The first row a statement inserted: its table and rowid.
type FirstInsert = Arc<Mutex<Option<(String, i64)>>>;

/// An open connection and what is remembered along with it.
pub(crate) struct Session {
    connection: Connection,
    line: Arc<Line>,
    tongue: Tongue,
    first_insert: FirstInsert,
    /// Translations of prepared texts.
    translations: HashMap<(Tongue, Arc<str>), Arc<Translation>>,
    /// Whether a table's rowid is a column of it.
    keyed: HashMap<String, bool>,
}

/// A statement as it came and as SQLite runs it, with what kind it is.
#[derive(Clone, Copy)]
struct Rewritten<'a> {
    original: &'a str,
    sql: &'a str,
    verb: Verb,
}

/// Whether a statement's preparation is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Yes,
    No,
}

impl Session {
    pub(crate) fn new(mut connection: Connection, line: Arc<Line>) -> rusqlite::Result<Self> {
        let first_insert = FirstInsert::default();
        let seen = Arc::clone(&first_insert);
        connection.update_hook(Some(move |action, database: &str, table: &str, rowid| {
            let mut first = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if action == Action::SQLITE_INSERT && first.is_none() && database == "main" {
                *first = Some((table.to_owned(), rowid));
            }
        }))?;
        let (translations, keyed) = (HashMap::new(), HashMap::new());
        let tongue = Tongue::Any;
        Ok(Self { connection, line, tongue, first_insert, translations, keyed })
    }

    pub(crate) fn interrupt_handle(&self) -> InterruptHandle {
        self.connection.get_interrupt_handle()
    }

    pub(crate) fn transaction(&self) -> TransactionState {
        if self.connection.is_autocommit() {
            TransactionState::Idle
        } else {
            TransactionState::Open
        }
    }

    /// Runs one execution; its pieces go to the line.
    pub(crate) fn run(&mut self, execution: Execution) -> Result<(), Stop> {
        match execution {
            Execution::Text(sql) | Execution::Aside(sql) | Execution::Lifted { text: sql, .. } => {
                let translation = translate(&sql, self.tongue)?;
                self.play(&sql, &translation, &[], Keep::No)
            }
            Execution::Prepared { sql, parameters, .. } => {
                let translation = self.translation(Arc::clone(&sql))?;
                self.play(&sql, &translation, &parameters, Keep::Yes)
            }
            Execution::Describe { sql, .. } => {
                let translation = self.translation(Arc::clone(&sql))?;
                self.describe(&sql, &translation)
            }
            Execution::Reset | Execution::Scrub => self.reset(),
            Execution::Ping => Ok(()),
        }
    }

    fn translation(&mut self, sql: Arc<str>) -> Result<Arc<Translation>, Stop> {
        let key = (self.tongue, sql);
        if let Some(known) = self.translations.get(&key) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(translate(&key.1, self.tongue)?);
        if self.translations.len() >= STATEMENT_CACHE {
            self.translations.clear();
        }
        self.translations.insert(key, Arc::clone(&made));
        Ok(made)
    }

    /// `original` is the statement as the client wrote it.
    fn play(
        &mut self,
        original: &str,
        translation: &Translation,
        parameters: &[Parameter],
        keep: Keep,
    ) -> Result<(), Stop> {
        match translation {
            Translation::Empty => self.line.piece(Event::Empty),
            Translation::Nothing => self.line.piece(Event::Complete(Completion::default())),
            Translation::Speak(tongue) => {
                self.tongue = *tongue;
                self.line.piece(Event::Complete(Completion::default()))
            }
            Translation::One(sql, verb) => {
                let rewritten = Rewritten { original, sql, verb: *verb };
                let completion = self.one(rewritten, parameters, keep)?;
                self.line.piece(Event::Complete(completion))
            }
            Translation::Several(list) => {
                self.several(list)?;
                self.line.piece(Event::Complete(Completion::default()))
            }
        }
    }

    fn one(
        &mut self,
        rewritten: Rewritten<'_>,
        parameters: &[Parameter],
        keep: Keep,
    ) -> Result<Completion, Stop> {
        let Rewritten { original, sql, verb } = rewritten;
        self.forget_first_insert();
        let (readonly, columns, rows) = {
            let mut cached: CachedStatement<'_>;
            let mut fresh: Statement<'_>;
            let statement: &mut Statement<'_> = if keep == Keep::Yes {
                cached =
                    self.connection.prepare_cached(sql).map_err(|e| self.unreadable(sql, &e))?;
                &mut cached
            } else {
                fresh = self.connection.prepare(sql).map_err(|e| self.unreadable(sql, &e))?;
                &mut fresh
            };
            bind(statement, parameters)?;
            let (readonly, columns) = (statement.readonly(), statement.column_count());
            let rows = if columns == 0 {
                statement.raw_execute().map_err(|e| self.failed(&e))?;
                0
            } else {
                self.stream(original, statement)?
            };
            statement.clear_bindings();
            (readonly, columns, rows)
        };
        if verb == Verb::Define {
            self.keyed.clear();
        }
        let changes =
            matches!(verb, Verb::Insert | Verb::Change) || (verb == Verb::With && !readonly);
        let affected =
            if changes { Some(self.connection.changes()) } else { (columns > 0).then_some(rows) };
        let last_insert_id = if verb == Verb::Insert || (verb == Verb::With && !readonly) {
            self.generated_key()
        } else {
            0
        };
        Ok(Completion { affected, last_insert_id, ..Completion::default() })
    }

    /// Several statements that stand for one of the client's: all or none.
    fn several(&mut self, list: &[String]) -> Result<(), Stop> {
        const BEGIN: &str = "SAVEPOINT pando_several";
        const UNDO: &str = "ROLLBACK TO pando_several; RELEASE pando_several";
        self.keyed.clear();
        let connection = &self.connection;
        connection.execute_batch(BEGIN).map_err(|e| self.failed(&e))?;
        let done = list
            .iter()
            .try_for_each(|sql| connection.execute_batch(sql))
            .and_then(|()| connection.execute_batch("RELEASE pando_several"));
        done.map_err(|error| {
            let failed = self.failed(&error);
            // When even this fails, SQLite has rolled the whole transaction back already.
            let _ = connection.execute_batch(UNDO);
            failed
        })
    }

    /// The columns, as far as they are known before there are rows.
    fn shape(&self, original: &str, statement: &Statement<'_>) -> Shape {
        let mut shape = Shape::of(statement);
        if shape.is_open() {
            let width = shape.width();
            shape.learn(&infer::columns(&self.connection, original, self.tongue, width));
        }
        shape
    }

    /// Hands the rows over in chunks; returns how many there were.
    fn stream(&self, original: &str, statement: &mut Statement<'_>) -> Result<u64, Stop> {
        let columns = statement.column_count();
        let (mut shape, mut first, mut size) = (None, Vec::new(), 0);
        let mut rows = statement.raw_query();
        let more = loop {
            let Some(row) = rows.next().map_err(|e| self.failed(&e))? else { break false };
            let shape = shape.get_or_insert_with(|| self.shape(original, row.as_ref()));
            size += weight(row, columns);
            first.push(shape.read(row).map_err(|e| self.failed(&e))?);
            if first.len() >= Chunk::ROWS as usize || size >= Chunk::BYTES {
                break true;
            }
        };
        let Some(mut shape) = shape else {
            drop(rows);
            self.line.piece(Event::Columns(self.shape(original, statement).columns()))?;
            return Ok(0);
        };
        shape.settle(&mut first);
        self.line.piece(Event::Columns(shape.columns()))?;
        let (mut total, mut chunk) = (0, Chunk::default());
        for row in &first {
            chunk.add(&shape, row)?;
            total += 1;
        }
        drop(first);
        self.hand_over(&mut chunk)?;
        if more {
            while let Some(row) = rows.next().map_err(|e| self.failed(&e))? {
                let row = shape.read(row).map_err(|e| self.failed(&e))?;
                chunk.add(&shape, &row)?;
                total += 1;
                if chunk.full() {
                    self.hand_over(&mut chunk)?;
                }
            }
            self.hand_over(&mut chunk)?;
        }
        Ok(total)
    }

    fn hand_over(&self, chunk: &mut Chunk) -> Result<(), Stop> {
        chunk.take().map_or(Ok(()), |rows| self.line.piece(Event::Rows(rows)))
    }

    fn describe(&self, original: &str, translation: &Translation) -> Result<(), Stop> {
        let mut description = Description { parameters: Vec::new(), columns: None };
        if let Translation::One(sql, _) = translation {
            let statement =
                self.connection.prepare_cached(sql).map_err(|e| self.unreadable(sql, &e))?;
            description.parameters = vec![Native::default(); count(&statement)?];
            let returns_rows = statement.column_count() > 0;
            description.columns = returns_rows.then(|| self.shape(original, &statement).columns());
        }
        self.line.piece(Event::Described(description))
    }

    /// As after login: no transaction, no temporary tables. There are no settings that a client could have changed.
    fn reset(&mut self) -> Result<(), Stop> {
        self.tongue = Tongue::Any;
        const TEMPORARY: &str =
            "SELECT 'DROP ' || type || ' temp.\"' || replace(name, '\"', '\"\"') || '\"' FROM temp.sqlite_master
             WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
        let work = || -> rusqlite::Result<()> {
            if !self.connection.is_autocommit() {
                self.connection.execute_batch("ROLLBACK")?;
            }
            let drops: Vec<String> = self
                .connection
                .prepare_cached(TEMPORARY)?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            drops.iter().try_for_each(|sql| self.connection.execute_batch(sql))
        };
        work().map_err(|e| self.failed(&e))
    }

    /// The first key the statement generated: the first inserted rowid, where that is a column of the table.
    fn generated_key(&mut self) -> u64 {
        let first = self.first_insert.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((table, rowid)) = first else { return 0 };
        let keyed = match self.keyed.get(&table) {
            Some(known) => *known,
            None => {
                let keyed = self.rowid_is_column(&table).unwrap_or(false);
                if self.keyed.len() >= STATEMENT_CACHE {
                    self.keyed.clear();
                }
                self.keyed.insert(table, keyed);
                keyed
            }
        };
        if keyed { u64::try_from(rowid).unwrap_or(0) } else { 0 }
    }

    fn rowid_is_column(&self, table: &str) -> rusqlite::Result<bool> {
        const QUERY: &str = "SELECT count(*) = 1 AND max(upper(type)) = 'INTEGER' FROM pragma_table_info(?1) WHERE pk > 0";
        self.connection.prepare_cached(QUERY)?.query_row([table], |row| row.get(0))
    }

    fn forget_first_insert(&self) {
        *self.first_insert.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// A text that SQLite cannot prepare. Of a question about the catalogue it read a translation, so its own message would puzzle.
    fn unreadable(&self, sql: &str, error: &rusqlite::Error) -> Stop {
        if !sql.contains(MARK) || self.line.stopping() {
            return self.failed(error);
        }
        let message = format!(
            "this question about the catalogue cannot be answered: the storage units are SQLite, which lacks a part of it ({})",
            message(error)
        );
        Stop::Failed(refuse("0A000", message))
    }

    fn failed(&self, error: &rusqlite::Error) -> Stop {
        if self.line.stopping() {
            return Stop::Failed(cancelled());
        }
        Stop::Failed(server(error))
    }
}
