//! The session as its door sees it: opened, asked, dropped.

use std::sync::Arc;
use std::task::{Context, Poll};

use pando_kernel::error::Result;
use pando_kernel::event::{Description, Event, Whole};
use pando_kernel::request::{Prepared, Request};
use pando_kernel::runtime::LONG;
use pando_kernel::session::{Key, Login, State, TransactionState};
use pando_kernel::{Notification, Statements};

use crate::house::Engine;
use crate::meant::Meant;

use crate::session::Session;
use crate::session::bulk::copy;
use crate::session::connections::channels;
use crate::session::cursors::{Cursors, fetch, settle};
use crate::session::memory::Memory;
use crate::session::place::Place;
use crate::session::reply::Outbox;
use crate::session::reply::pieces::Reply;
use crate::session::reply::pull::{finish, whole};
use crate::session::request::{executable, execute, text};
use crate::session::settings::{Settings, shown};
use crate::session::statement::{prepare, reset, stand};
use crate::session::transaction::temporary::TemporaryTables;
use crate::session::transaction::{Opened, Work, base, commit, deadlock, end};

impl Session {
    pub(crate) fn open(engine: &Engine, login: Login) -> Result<Self> {
        let mut session = Self {
            place: Place::of_login(engine, login)?,
            settings: Settings::default(),
            work: Work::default(),
            outbox: Outbox::default(),
            cursors: Cursors::default(),
            memory: Memory::default(),
            temporary: TemporaryTables::default(),
            meant: Meant::default(),
        };
        stand::start_variables(&mut session)?;
        session.settings.shown_mut().is_known();
        Ok(session)
    }
}

impl pando_kernel::session::Session for Session {
    async fn run(&mut self, request: Request) -> Result<()> {
        if let Request::Copy(input) = request {
            let taken = Box::pin(copy::copy_input(self, input)).await;
            if taken.is_err() {
                Box::pin(commit::end_failed_text(self)).await;
            }
            let taken = deadlock::or_doomed(self, taken).await;
            return self.place.or_idle(taken);
        }
        finish::abandon(self).await;
        self.place.handle().works();
        let answered = ask(self, request).await;
        let answered = deadlock::or_doomed(self, answered).await;
        self.place.or_idle(answered)
    }

    async fn answer(&mut self, request: Request) -> Result<Option<Whole>> {
        let is_statement = matches!(request, Request::Execute(_) | Request::Query(_));
        self.run(request).await?;
        if is_statement { whole::take_whole(self).await } else { Ok(None) }
    }

    async fn next(&mut self) -> Result<Option<Event>> {
        let event = text::next_event(self).await;
        if event.is_err() {
            Box::pin(commit::end_failed_text(self)).await;
        }
        let event = deadlock::or_doomed(self, event).await;
        if matches!(event, Ok(None)) && !matches!(self.outbox.reply(), Reply::CopyIn(_)) {
            self.place.handle().idles();
        }
        self.place.or_idle(event)
    }

    fn ahead(&mut self) -> Option<Result<Option<Event>>> {
        self.outbox.next_ahead()
    }

    async fn refused(&mut self) {
        self.outbox.copy_refused().await;
    }

    async fn prepare(&mut self, sql: Arc<str>, declared: Vec<u32>) -> Result<Arc<Prepared>> {
        // What counts here is that few are read at once; what is kept of it is counted by itself.
        let _counted = match sql.len() > LONG {
            true => {
                let engine = Arc::clone(&self.place.engine().inner);
                Box::pin(engine.reading.begin(&*engine.runtime, &sql)).await?
            }
            false => None,
        };
        stand::refresh(self)?;
        Box::pin(executable::settle_text(self, &sql)).await?;
        prepare::make_prepared(self, sql, declared)
    }

    async fn describe(&mut self, prepared: &Arc<Prepared>) -> Result<Description> {
        finish::abandon(self).await;
        self.place.handle().works();
        let described = match stand::refresh(self) {
            Ok(()) => Box::pin(prepare::describe_prepared(self, prepared)).await,
            Err(error) => Err(error),
        };
        let described = deadlock::or_doomed(self, described).await;
        self.place.handle().idles();
        described
    }

    fn statements(&mut self) -> &mut Statements {
        self.memory.named_mut()
    }

    fn state(&self) -> State<'_> {
        State {
            transaction: match self.work.opened() {
                Opened::Statement | Opened::Steps | Opened::Pipeline => TransactionState::Idle,
                Opened::Client => self.work.transaction().state(),
            },
            autocommit: self.work.autocommit(),
            database: self.place.facts().database.as_deref(),
            told: &self.place.facts().told,
        }
    }

    fn changed_parameters(&mut self) -> Vec<(String, String)> {
        shown::changed_parameters(self)
    }

    fn poll_notified(&mut self, cx: &mut Context<'_>) -> Poll<Result<Vec<Notification>>> {
        channels::poll_notified(self, cx)
    }

    async fn notified(&mut self) -> Result<Vec<Notification>> {
        match self.work.channels().mailbox() {
            Some(_) => Box::pin(channels::notified(self)).await,
            None => Ok(Vec::new()),
        }
    }

    fn key(&self) -> Key {
        self.place.handle().key
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.place.handle().idles();
        base::take_back_in_base(self);
        self.place.engine().inner.registry.remove(self.place.handle().key.id);
    }
}

/// A request of the door, up to the first piece of its reply.
async fn ask(session: &mut Session, request: Request) -> Result<()> {
    if matches!(request, Request::Fail) {
        // Whatever has become of the configuration.
        end::fail_with_door(session);
        return Ok(());
    }
    stand::refresh(session)?;
    match request {
        Request::Query(text) => text::begin_text(session, &text).await,
        Request::Execute(execute) => execute::begin_execute(session, execute).await,
        Request::Fetch { cursor, limit } => fetch::fetch(session, cursor, limit),
        Request::CloseCursor(cursor) => Box::pin(settle::end_cursor(session, cursor)).await,
        Request::Sync => commit::sync(session).await,
        Request::Use(name) => Box::pin(stand::use_database(session, &name)).await,
        Request::Reset => Box::pin(reset::reset_connection(session)).await,
        Request::Fields { table } => Box::pin(prepare::fields(session, &table)).await,
        Request::Copy(_) | Request::Fail => Ok(()),
    }
}
