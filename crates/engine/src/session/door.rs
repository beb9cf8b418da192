//! The session as its door sees it: opened, asked, dropped.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::sync::Arc;

use pando_kernel::Statements;
use pando_kernel::dialect::{Dialect, Facts};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Description, Event, Whole};
use pando_kernel::request::{Prepared, Request};
use pando_kernel::runtime::LONG;
use pando_kernel::session::{Key, Login, State, TransactionState};
use pando_transaction::Transaction;

use crate::house::Engine;
use crate::snapshot::{LiveDatabase, Settings, Snapshot};
use crate::templates::AtHand;
use crate::variables::Variables;

use super::reply::Reply;
use super::{Opened, Session, home};

impl Session {
    pub(crate) fn open(engine: &Engine, login: Login) -> Result<Self> {
        let snapshot = engine.snapshot();
        let databases = home::visible(&snapshot, &login);
        let home = home::home(&snapshot, &login, &databases);
        let (live, database) = match &login.database {
            Some(name) => {
                let (live, name) = home::move_to((&snapshot, &login), name, home)?;
                (Some(live), Some(name))
            }
            None => (home, None),
        };
        let handle = engine.inner.registry.register(&login);
        let id = handle.key.id;
        let facts = Facts {
            database,
            databases,
            user: login.user.clone(),
            host: login.host.clone(),
            id: handle.key.id,
            version: live.as_ref().and_then(|live| live.version()).map(Arc::from),
            autocommit: true,
            ..Facts::default()
        };
        let facts = Arc::new(facts);
        let mut session = Self {
            engine: engine.clone(),
            handle,
            transaction_type: None,
            snapshot,
            live,
            transaction: Transaction::default(),
            base: super::Base::default(),
            opened: Opened::Client,
            autocommit: true,
            next_modes: Vec::new(),
            session_modes: Vec::new(),
            variables: Variables::default(),
            variables_at_begin: None,
            modes_at_begin: Vec::new(),
            marks: Vec::new(),
            settings: 0,
            defined: None,
            defining: false,
            touched: super::altered::Touched::default(),
            local_settings: Vec::new(),
            facts,
            // Sessions of one statement each must not all meet the same replica.
            ticket: u64::from(id),
            queue: VecDeque::new(),
            pending: VecDeque::new(),
            reply: Reply::Idle,
            ahead: VecDeque::new(),
            encoder: None,
            window: None,
            cursors: HashMap::new(),
            named: Statements::default(),
            kept: crate::reading::Kept::default(),
            sql_cursors: HashMap::new(),
            last_suspended: None,
            warnings: super::warnings::Warnings::default(),
            text_request: false,
            planning: super::view::Planning::default(),
            at_hand: AtHand::default(),
            names_tables: false,
            temporary: None,
            login,
        };
        session.start_variables()?;
        Ok(session)
    }

    pub(super) fn start_variables(&mut self) -> Result<()> {
        let Some(live) = self.live.clone() else { return Ok(()) };
        if let Some(language) = live.client_language {
            self.variables.set(pando_kernel::dialect::CLIENT_LANGUAGE, language);
        }
        for (name, value) in self.login.variables.clone() {
            self.startup_variable(live.database.dialect.as_ref(), &name, &value)?;
        }
        Ok(())
    }

    pub(super) fn live(&self) -> Result<Arc<LiveDatabase>> {
        self.live.clone().ok_or_else(|| ErrorKind::NoDatabase.into())
    }

    /// What the session knows of itself, to be changed. Nobody else holds it between statements, so nothing is copied.
    pub(super) fn facts_mut(&mut self) -> &mut Facts {
        Arc::make_mut(&mut self.facts)
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.snapshot.settings
    }

    /// Takes the newest snapshot; inside a transaction the one it began with stays.
    pub(super) fn refresh(&mut self) -> Result<()> {
        if self.handle.is_killed() {
            return Err(ErrorKind::Shutdown.into());
        }
        if !self.stands_free() || self.waits_in_cursor() {
            return Ok(());
        }
        let newest = self.engine.inner.snapshot.load();
        if Arc::ptr_eq(&newest, &self.snapshot) {
            return Ok(());
        }
        drop(newest);
        self.look_again()
    }

    /// Stands in the newest snapshot where it stood in the one before.
    ///
    /// # Errors
    /// `UnknownDatabase` and `Refused` when that is no longer possible; the session is then in no database.
    pub(super) fn look_again(&mut self) -> Result<()> {
        self.snapshot = self.engine.snapshot();
        self.facts_mut().databases = home::visible(&self.snapshot, &self.login);
        let home = home::home(&self.snapshot, &self.login, &self.facts.databases);
        let Some(name) = self.facts.database.clone() else {
            self.stand_in(home);
            return Ok(());
        };
        match home::stand(&self.snapshot, (&name, &self.login), home.clone()) {
            Ok((live, _)) => {
                self.stand_in(Some(live));
                Ok(())
            }
            Err(gone) => {
                self.leave_database(home);
                Err(gone)
            }
        }
    }

    /// From now on the session is in no database.
    pub(super) fn leave_database(&mut self, home: Option<Arc<LiveDatabase>>) {
        self.handle.uses(None);
        self.facts_mut().database = None;
        self.stand_in(home);
    }

    /// Goes to a database, or where there is none. Its units are told of the door's language when they take several.
    pub(super) fn stand_in(&mut self, live: Option<Arc<LiveDatabase>>) {
        let spoken = |live: &Option<Arc<LiveDatabase>>| live.as_ref()?.client_language;
        let (before, now) = (spoken(&self.live), spoken(&live));
        let version = live.as_ref().and_then(|live| live.version());
        if version.as_deref() != self.facts.version.as_deref() {
            self.facts_mut().version = version.map(Arc::from);
        }
        self.live = live;
        match now {
            _ if before == now => {}
            Some(language) => {
                self.variables.set(pando_kernel::dialect::CLIENT_LANGUAGE, language);
            }
            None => self.variables.unset(pando_kernel::dialect::CLIENT_LANGUAGE),
        }
    }

    /// Whether no storage unit of the current configuration is held: outside a transaction, and in one that a request opened around its statements
    /// while none of them has reached a unit.
    pub(super) fn stands_free(&self) -> bool {
        match self.transaction.state() {
            TransactionState::Idle => true,
            TransactionState::Open => self.opened == Opened::Pipeline && self.has_reached_none(),
            TransactionState::Failed => false,
        }
    }

    /// Whether a transaction is open that has not met a storage unit yet.
    pub(super) fn has_begun_only(&self) -> bool {
        self.transaction.state() == TransactionState::Open && self.has_reached_none()
    }

    /// Whether no statement of the transaction has been at a storage unit. One of type BASE holds no connection to those it has changed.
    pub(super) fn has_reached_none(&self) -> bool {
        self.transaction.units().is_empty() && !self.base.has_changed()
    }

    /// What a failed transaction still accepts.
    pub(super) fn refuse_if_failed(&self, ends: bool) -> Result<()> {
        if self.transaction.state() == TransactionState::Failed && !ends {
            return Err(ErrorKind::TransactionFailed.into());
        }
        Ok(())
    }

    /// Answers a statement that has changed no rows.
    pub(super) fn complete(&mut self, tag: &str) {
        self.counts_rows(0);
        let completion = Completion {
            tag: tag.to_owned().into(),
            more: !self.queue.is_empty(),
            ..Completion::default()
        };
        self.pending.push_back(Event::Complete(completion));
    }

    /// What `ROW_COUNT()` tells from now on: rows changed, or -1 after a statement that gives some or fails.
    /// <https://dev.mysql.com/doc/refman/8.0/en/information-functions.html#function_row-count>
    pub(super) fn counts_rows(&mut self, count: i64) {
        if self.facts.row_count != count {
            self.facts_mut().row_count = count;
        }
    }

    pub(super) fn dialect(&self) -> Option<Arc<dyn Dialect>> {
        self.live.as_ref().map(|live| Arc::clone(&live.database.dialect))
    }
}

/// A database by name that speaks the door's language.
pub(super) fn find(snapshot: &Snapshot, name: &str, login: &Login) -> Result<Arc<LiveDatabase>> {
    let family = login.family;
    let live = snapshot
        .database(name)
        .cloned()
        .ok_or_else(|| Error::new(ErrorKind::UnknownDatabase(name.to_owned())))?
        .at_door(login);
    let units = live.database.dialect.family();
    if family.is_empty() || units == family || live.database.dialect.serves_every_door() {
        return Ok(live);
    }
    Err(Error::refused(
        30001,
        format!("database `{name}` is made of {units} storage units"),
        format!("connect to Pando's {units} port"),
    ))
}

impl pando_kernel::session::Session for Session {
    async fn run(&mut self, request: Request) -> Result<()> {
        if let Request::Copy(input) = request {
            let taken = Box::pin(self.copy_input(input)).await;
            if taken.is_err() {
                Box::pin(self.end_failed_text()).await;
            }
            let taken = self.or_doomed(taken).await;
            return self.or_idle(taken);
        }
        self.abandon().await;
        self.handle.works();
        let answered = self.answer(request).await;
        let answered = self.or_doomed(answered).await;
        self.or_idle(answered)
    }

    async fn answer(&mut self, request: Request) -> Result<Option<Whole>> {
        let is_statement = matches!(request, Request::Execute(_) | Request::Query(_));
        self.run(request).await?;
        if is_statement { self.take_whole().await } else { Ok(None) }
    }

    async fn next(&mut self) -> Result<Option<Event>> {
        let event = self.next_event().await;
        if event.is_err() {
            Box::pin(self.end_failed_text()).await;
        }
        let event = self.or_doomed(event).await;
        if matches!(event, Ok(None)) && !matches!(self.reply, Reply::CopyIn(_)) {
            self.handle.idles();
        }
        self.or_idle(event)
    }

    fn ahead(&mut self) -> Option<Result<Option<Event>>> {
        self.ahead.pop_front()
    }

    async fn refused(&mut self) {
        match &mut self.reply {
            Reply::Pass(pass) if pass.refusal.is_some() => {}
            Reply::Pass(pass) => {
                let refusal = poll_fn(|cx| pass.channel.poll_refused(cx)).await;
                pass.refusal = Some(Box::new(refusal));
            }
            // What is refused of lines that go to several shards is told with the batch that has them.
            Reply::Idle | Reply::Merged(_) | Reply::CopyIn(_) | Reply::CopyOut(_) => {
                std::future::pending().await
            }
        }
    }

    async fn prepare(&mut self, sql: Arc<str>, declared: Vec<u32>) -> Result<Arc<Prepared>> {
        // What counts here is that few are read at once; what is kept of it is counted by itself.
        let _counted = match sql.len() > LONG {
            true => {
                let engine = Arc::clone(&self.engine.inner);
                Box::pin(engine.reading.begin(&*engine.runtime, &sql)).await?
            }
            false => None,
        };
        self.refresh()?;
        Box::pin(self.settle_text(&sql)).await?;
        self.make_prepared(sql, declared)
    }

    async fn describe(&mut self, prepared: &Arc<Prepared>) -> Result<Description> {
        self.abandon().await;
        self.handle.works();
        let described = match self.refresh() {
            Ok(()) => Box::pin(self.describe_prepared(prepared)).await,
            Err(error) => Err(error),
        };
        let described = self.or_doomed(described).await;
        self.handle.idles();
        described
    }

    fn statements(&mut self) -> &mut Statements {
        &mut self.named
    }

    fn state(&self) -> State<'_> {
        State {
            transaction: match self.opened {
                Opened::Statement | Opened::Steps | Opened::Pipeline => TransactionState::Idle,
                Opened::Client => self.transaction.state(),
            },
            autocommit: self.autocommit,
            database: self.facts.database.as_deref(),
        }
    }

    fn key(&self) -> Key {
        self.handle.key
    }
}

impl Session {
    /// After an error nothing more comes: the session waits for its client.
    fn or_idle<T>(&self, result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.handle.idles();
        }
        result
    }

    async fn answer(&mut self, request: Request) -> Result<()> {
        if matches!(request, Request::Fail) {
            // Whatever has become of the configuration.
            self.fail_with_door();
            return Ok(());
        }
        self.refresh()?;
        match request {
            Request::Query(text) => self.begin_text(&text).await,
            Request::Execute(execute) => self.begin_execute(execute).await,
            Request::Fetch { cursor, limit } => self.fetch(cursor, limit),
            Request::CloseCursor(cursor) => Box::pin(self.end_cursor(cursor)).await,
            Request::Sync => self.sync().await,
            Request::Use(name) => Box::pin(self.use_database(&name)).await,
            Request::Reset => {
                // COM_RESET_CONNECTION goes back to the server's values, and not to the collation of the login; DISCARD ALL to those of the start-up packet.
                self.login.variables.clear();
                Box::pin(self.reset()).await
            }
            Request::Fields { table } => Box::pin(self.fields(&table)).await,
            Request::Copy(_) | Request::Fail => Ok(()),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.handle.idles();
        self.take_back_in_base();
        self.engine.inner.registry.remove(self.handle.key.id);
    }
}
