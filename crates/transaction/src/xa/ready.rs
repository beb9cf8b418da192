//! Whether a storage unit can take part in XA transactions, and who it is.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pando_kernel::TwoPhase;
use pando_kernel::backend::Connector;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::two_phase::{Isolation, Standing};
use pando_kernel::value::Value;
use pando_pool::Connection;

use crate::aside::{Aside, no_two_phase, rows};

/// Those who make the same ledger at once get in each other's way: so often, and with ever longer pauses, it is looked whether it is there.
const ATTEMPTS: u32 = 12;
const PAUSE: Duration = Duration::from_millis(5);

/// A storage unit that can take part in XA transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// Who it is, for as long as its data lives; `None` for one that takes no writes.
    pub identity: Option<Arc<str>>,
    /// Where it is now. Two units with one identity are one place, or one is a copy of the other.
    pub place: String,
    /// The level at which a transaction sees one state of the data, where its user's transactions have it although
    /// nobody has named one.
    pub level: Option<Isolation>,
    /// When it was asked. Connections that were opened before, and live, speak to the server that answered; later ones may speak to one that was
    /// started anew with other settings.
    pub asked: Instant,
}

impl Ready {
    /// Asks a storage unit, and makes its ledger where it has none.
    ///
    /// # Errors
    /// `Refused` with what is to be set or granted on the server; `Unavailable` and `Timeout` when it cannot be asked.
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    pub async fn ask(connector: &Arc<dyn Connector>, runtime: &SharedRuntime) -> Result<Self> {
        let asked = runtime.now();
        let mut aside = Aside::open(Arc::clone(connector), Arc::clone(runtime)).await?;
        let query = aside.two_phase(|family| Ok(family.standing_query()))?;
        let rows = aside.rows(query).await?;
        let row = rows.first().ok_or_else(|| Error::internal("a standing without a row"))?;
        if aside.two_phase(|family| family.read_standing(row))? == Standing::ReadOnly {
            let level = level(row);
            return Ok(Self { identity: None, place: String::new(), level, asked });
        }
        let level = level(row);
        let query = aside.two_phase(|family| Ok(family.prepared_query()))?;
        aside.rows(query).await.map_err(|error| lacks(&error, "list prepared transactions"))?;
        let ready = Self::identify(&mut aside, asked).await?;
        Ok(Self { level, ..ready })
    }

    /// Asks the server of a connection that was opened after the unit was asked, over that connection, whether the unit still stands as it did.
    ///
    /// # Errors
    /// As [`Ready::ask`]; `Unavailable` when the connection is lost.
    ///
    /// # Cancel safety
    /// When dropped, the connection has a reply outstanding.
    pub async fn again(&self, connection: &mut Connection, now: Instant) -> Result<Self> {
        let connector = connection.connector();
        let connector = connector.ok_or_else(|| Error::internal("a connection of no pool"))?;
        let dialect = connector.dialect();
        let family = dialect.two_phase().ok_or_else(|| no_two_phase(dialect.family()))?;
        // Where a session has set its own level already, it says nothing of others.
        let is_bare = connection.session_state() == 0;
        let answer = rows(&mut **connection, family.standing_query()).await?;
        let still = self.still(family, &answer, now)?;
        Ok(Self { level: if is_bare { still.level } else { self.level }, ..still })
    }

    /// As [`Ready::again`], over a connection that is opened for it: the others may all be those of a server that is gone.
    ///
    /// # Errors
    /// As [`Ready::again`].
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    pub async fn afresh(
        &self,
        connector: &Arc<dyn Connector>,
        runtime: &SharedRuntime,
    ) -> Result<Self> {
        let now = runtime.now();
        let mut aside = Aside::open(Arc::clone(connector), Arc::clone(runtime)).await?;
        let query = aside.two_phase(|family| Ok(family.standing_query()))?;
        let answer = aside.rows(query).await?;
        aside.two_phase(|family| self.still(family, &answer, now))
    }

    fn still(&self, family: &dyn TwoPhase, answer: &[Vec<Value>], now: Instant) -> Result<Self> {
        let row = answer.first().ok_or_else(|| Error::internal("a standing without a row"))?;
        let level = level(row);
        Ok(match (family.read_standing(row)?, &self.identity) {
            (Standing::ReadOnly, _) => {
                Self { identity: None, place: String::new(), level, asked: now }
            }
            // Who it is has to be asked as well, and is, before long.
            (Standing::Able, None) => self.clone(),
            (Standing::Able, Some(_)) => Self { asked: now, level, ..self.clone() },
        })
    }

    /// Who a storage unit is that decides on transactions without preparing any, and makes its ledger where it has none.
    ///
    /// # Errors
    /// `Refused` with what is to be granted on the server, or because it takes no writes; `Unavailable` and `Timeout` when it cannot be asked.
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    pub async fn decider(
        connector: &Arc<dyn Connector>,
        runtime: &SharedRuntime,
    ) -> Result<Arc<str>> {
        let mut aside = Aside::open(Arc::clone(connector), Arc::clone(runtime)).await?;
        let known = Self::identify(&mut aside, runtime.now()).await?;
        known.identity.ok_or_else(|| Error::internal("a ledger without an identity"))
    }

    async fn identify(aside: &mut Aside, asked: Instant) -> Result<Self> {
        let present = aside.two_phase(|family| Ok(family.ledger().present_query()))?;
        let query = aside.two_phase(|family| Ok(family.ledger().identity_query()))?;
        let setup = aside.two_phase(|family| Ok(family.ledger().setup()))?;
        let mut made = Ok(());
        for attempt in 0..ATTEMPTS {
            if is_true(&aside.rows(present).await?)
                && let [Value::Text(identity), Value::Text(place)] =
                    &aside.rows(query).await?.concat()[..]
            {
                let identity = Some(Arc::from(identity.as_str()));
                return Ok(Self { identity, place: place.clone(), level: None, asked });
            }
            made = Ok(());
            for text in &setup {
                if let Err(error) = aside.rows(text).await {
                    made = made.and(Err(lacks(&error, "keep a ledger of decisions")));
                }
            }
            if made.is_err() {
                aside.pause(PAUSE * attempt).await;
            }
        }
        made?;
        Err(Error::internal("a ledger that was made is not there"))
    }
}

/// The level that an answer to [`TwoPhase::standing_query`] tells.
fn level(row: &[Value]) -> Option<Isolation> {
    match row.last() {
        Some(Value::Text(name)) => Isolation::read(name),
        Some(Value::Bytes(name)) => Isolation::read(std::str::from_utf8(name).ok()?),
        _ => None,
    }
}

fn is_true(rows: &[Vec<Value>]) -> bool {
    matches!(rows.first().and_then(|row| row.first()), Some(Value::Bool(true) | Value::Int(1)))
}

/// The unit does not let its user do what is needed.
fn lacks(error: &Error, what: &str) -> Error {
    if matches!(error.kind(), ErrorKind::Server(_)) {
        return Error::unsupported(
            30001,
            format!("its user cannot {what} there: {error}"),
            "grant the user the rights that XA transactions need: CREATE and, on MySQL 8, XA_RECOVER_ADMIN",
        );
    }
    ErrorKind::Timeout(format!("it cannot be asked whether it can take part: {error}")).into()
}
