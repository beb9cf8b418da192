//! From a fresh stream to an open session.
//! <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-START-UP>

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes};
use pando_kernel::runtime::Stream;
use pando_kernel::session::{Doorway, Key, Login, Session, Settings};
use pando_kernel::{Channel, Error, ErrorKind};

use super::auth::authenticate;
use super::end::{End, own};
use super::greeting;
use super::wire::Wire;
use crate::auth::verifiers::Verifiers;
use crate::codec::backend::Negotiate;
use crate::codec::startup::{self, Opening, PROTOCOL, Startup};
use crate::dialect::Postgres;
use crate::types::FAMILY;

/// The longest message of a login, bytes on the wire: as PostgreSQL's `PG_MAX_AUTH_TOKEN_LENGTH`.
const LOGIN_LIMIT: usize = 65_535;
/// Requests before the login: one for TLS and one for GSSAPI.
const PRELUDES: usize = 2;

/// A client that has not logged in yet.
pub(super) struct Entrance<'a, D> {
    pub(super) doorway: &'a D,
    pub(super) verifiers: &'a Verifiers,
    pub(super) host: String,
    pub(super) wire: Wire,
    /// What TLS has told; nothing yet, or a stream in clear.
    pub(super) channel: Channel,
}

/// Lets a client in: TLS, start-up packet, authentication, session, greeting.
pub(super) async fn log_in<D: Doorway>(
    doorway: &D,
    verifiers: &Verifiers,
    stream: Box<dyn Stream>,
    host: String,
    settings: &Settings,
) -> Result<(Wire, D::Session), End> {
    let wire = fresh(doorway, stream, settings);
    let channel = Channel::default();
    let mut entrance = Entrance { doorway, verifiers, host, wire, channel };
    let packet = match opening(&mut entrance, settings).await? {
        Some(packet) => packet,
        None => return Err(End::Quit),
    };
    // Decoded a second time: the first look was for what comes before a login.
    let startup = match startup::decode(&packet) {
        Ok(Opening::Startup(startup)) => startup,
        Ok(Opening::Ssl | Opening::GssEnc | Opening::Cancel(_)) => return Err(End::Quit),
        Err(malformed) => return Err(entrance.wire.last_words(&malformed.into()).await),
    };
    negotiate(&mut entrance, &startup).await?;
    let asked = asked(&mut entrance, &startup).await?;
    authenticate(&mut entrance, &asked.user).await?;
    let variables = asked.variables.clone();
    let user = asked.user.clone();
    let version = doorway.server_version(FAMILY, asked.database.as_deref());
    let session = match doorway.open(asked) {
        Ok(session) => session,
        Err(error) => return Err(entrance.wire.last_words(&error).await),
    };
    let mut wire = entrance.wire;
    let told = greeting::Told { user: &user, version: version.as_deref(), variables: &variables };
    wire.encoding = greeting::encoding(&variables);
    greeting::encode(wire.output.buffer(), &told, session.key());
    wire.flush().await?;
    wire.set_limit(settings.max_message);
    Ok((wire, session))
}

fn fresh<D: Doorway>(doorway: &D, stream: Box<dyn Stream>, settings: &Settings) -> Wire {
    // The whole login has its own time limit; from then on a silent client has the idle limit.
    let patience = settings.idle_timeout.max(Duration::from_secs(1));
    Wire::new(stream, doorway.runtime(), patience, LOGIN_LIMIT)
}

/// The first packet that is a login; `None` when the client only wanted to cancel something.
async fn opening<D: Doorway>(
    entrance: &mut Entrance<'_, D>,
    settings: &Settings,
) -> Result<Option<Bytes>, End> {
    for _ in 0..=PRELUDES {
        let packet = entrance.wire.startup().await?;
        let opening = match startup::decode(&packet) {
            Ok(opening) => opening,
            Err(malformed) => return Err(entrance.wire.last_words(&malformed.into()).await),
        };
        match opening {
            Opening::Startup(_) => return Ok(Some(packet)),
            Opening::Cancel(cancel) => {
                // Only protocol 3.0 is spoken, so that all our secrets have four bytes.
                if let Ok(secret) = cancel.key.try_into().map(u32::from_be_bytes) {
                    entrance.doorway.cancel(Key { id: cancel.process, secret });
                }
                return Ok(None);
            }
            Opening::GssEnc => refuse(entrance).await?,
            Opening::Ssl => match settings.tls.as_ref().filter(|_| !entrance.channel.is_secured) {
                None => refuse(entrance).await?,
                Some(acceptor) => {
                    entrance.wire.output.buffer().put_u8(b'S');
                    entrance.wire.flush().await?;
                    let nothing = Box::new(tokio::io::empty()) as Box<dyn Stream>;
                    let empty = fresh(entrance.doorway, nothing, settings);
                    let wire = std::mem::replace(&mut entrance.wire, empty);
                    // What came before the handshake was sent by who knows whom.
                    let Some(stream) = wire.into_stream() else {
                        return Err(End::Told(
                            "received unencrypted data after SSL request".into(),
                        ));
                    };
                    let secured = acceptor.accept(stream).await?;
                    entrance.wire = fresh(entrance.doorway, secured.stream, settings);
                    entrance.channel = secured.channel;
                }
            },
        }
    }
    let error = Error::protocol("too many requests before the start-up packet");
    Err(entrance.wire.last_words(&error).await)
}

async fn refuse<D: Doorway>(entrance: &mut Entrance<'_, D>) -> Result<(), End> {
    entrance.wire.output.buffer().put_u8(b'N');
    entrance.wire.flush().await
}

/// Agrees on protocol 3.0: other majors are refused, other minors and options are talked down.
async fn negotiate<D: Doorway>(
    entrance: &mut Entrance<'_, D>,
    startup: &Startup<'_>,
) -> Result<(), End> {
    if startup.major() != 3 {
        let (major, minor) = (startup.major(), startup.minor());
        let message =
            format!("unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.0");
        return Err(entrance.wire.last_words(&own("0A000", message)).await);
    }
    let unknown: Vec<&str> = startup
        .parameters
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| name.starts_with("_pq_."))
        .collect();
    if startup.minor() > 0 || !unknown.is_empty() {
        Negotiate { version: PROTOCOL, unknown }.encode(entrance.wire.output.buffer());
    }
    Ok(())
}

/// Reads off the start-up packet who wants in, where to, and with which settings.
async fn asked<D: Doorway>(
    entrance: &mut Entrance<'_, D>,
    startup: &Startup<'_>,
) -> Result<Login, End> {
    let user = startup.get("user").unwrap_or_default();
    if user.is_empty() {
        let error = own("28000", "no PostgreSQL user name specified in startup packet".into());
        return Err(entrance.wire.last_words(&error).await);
    }
    let replication = startup.get("replication").unwrap_or("off").to_ascii_lowercase();
    if !matches!(replication.as_str(), "off" | "false" | "no" | "0") {
        let error = Error::unsupported(30001, "replication connections are not served", "");
        return Err(entrance.wire.last_words(&error).await);
    }
    let database = startup.get("database").filter(|name| !name.is_empty()).unwrap_or(user);
    let variables = match greeting::variables(startup) {
        Ok(variables) => variables,
        Err(message) => {
            let error = Error::new(ErrorKind::Variable(message));
            return Err(entrance.wire.last_words(&error).await);
        }
    };
    Ok(Login {
        user: user.to_owned(),
        host: entrance.host.clone(),
        database: Some(database.to_owned()),
        family: FAMILY,
        language: Some(Arc::new(Postgres)),
        variables,
        ..Login::default()
    })
}
