//! From an open socket to a connection that takes executions.
//! <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-START-UP>

use bytes::Buf;
use pando_kernel::runtime::{Address, SharedRuntime, TlsMode};
use pando_kernel::{CancelToken, Channel, Error, ErrorKind, Result, Secured};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::connection::Connection;
use super::wire::Wire;
use super::{Options, request, unavailable};
use crate::auth::scram;
use crate::codec::backend::{Authentication, Backend};
use crate::codec::startup;
use crate::error;

/// No message of a login is longer, bytes on the wire: who is at the other end is not known yet.
const LOGIN_LIMIT: usize = 256 * 1024;

/// Lets the C library of the server's process keep the memory that a statement frees for the next one. What glibc has lent up to 128 kB from the end of its heap it
/// gives back to the kernel at once, and fetches again page by page: 5 to 6 page faults for each run of a statement over five tables, if it so happens that
/// nothing lasting lies behind, as it does on some connections and not on others. Once something larger has been freed its limit is twice as large as that
/// (mallopt(3), M_MMAP_THRESHOLD and M_TRIM_THRESHOLD): half a megabyte here, so that a process keeps one at most.
const KEEP_MEMORY: &str =
    "SELECT pg_catalog.length(pg_catalog.repeat('x', 524288)) /* Pando: memory freed is kept */";

/// Connects and logs in. Gives the server's version as well, where it tells it.
pub(super) async fn connect(
    options: &Options,
    runtime: &SharedRuntime,
) -> Result<(Connection, Option<String>)> {
    let Secured { stream, channel } = open(options, runtime).await?;
    let wire = Wire::new(stream, LOGIN_LIMIT);
    let mut login = Login { options, wire, channel, version: None };
    startup::encode(&mut login.wire.output, &options.startup());
    login.authenticate().await?;
    let token = login.settle().await?;
    login.keep_memory().await?;
    let (mut wire, version) = (login.wire, login.version);
    wire.set_limit(options.max_frame);
    Ok((Connection::new(options, wire, token), version))
}

/// Opens the stream and secures it as the options ask.
pub(super) async fn open(options: &Options, runtime: &SharedRuntime) -> Result<Secured> {
    let lost =
        |error: std::io::Error| unavailable(&options.unit, error.to_string()).caused_by(error);
    let mut stream = runtime.connect(&options.address).await.map_err(lost)?;
    if options.tls == TlsMode::Off || matches!(options.address, Address::Unix(_)) {
        return Ok(Secured { stream, channel: Channel::default() });
    }
    let mut request = bytes::BytesMut::new();
    startup::encode_ssl(&mut request);
    stream.write_all(&request).await.map_err(lost)?;
    stream.flush().await.map_err(lost)?;
    // One byte and no more: what follows it must already be encrypted.
    match stream.read_u8().await.map_err(lost)? {
        b'S' => runtime.secure(stream, options.host(), &options.client_tls()).await.map_err(lost),
        b'N' if options.tls == TlsMode::Prefer => {
            Ok(Secured { stream, channel: Channel::default() })
        }
        b'N' => Err(unavailable(&options.unit, "the server does not offer TLS")),
        _ => Err(unavailable(&options.unit, "the server does not understand a request for TLS")),
    }
}

pub(super) struct Login<'a> {
    pub(super) options: &'a Options,
    pub(super) wire: Wire,
    pub(super) channel: Channel,
    version: Option<String>,
}

/// A message of the login that is of interest.
pub(super) enum Step {
    Ok,
    Cleartext,
    Md5([u8; 4]),
    /// The mechanisms offered.
    Sasl(Offered),
    Continue(Vec<u8>),
    Final(Vec<u8>),
    Unknown(u32),
    Version(String),
    Key(CancelToken),
    Ready,
}

/// Which of the mechanisms that we know a server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Offered {
    pub(super) plain: bool,
    pub(super) plus: bool,
}

impl Login<'_> {
    /// Reads until the server is ready.
    async fn settle(&mut self) -> Result<CancelToken> {
        let mut token = CancelToken::default();
        loop {
            match self.step().await? {
                Step::Key(key) => token = key,
                Step::Ready => return Ok(token),
                Step::Ok
                | Step::Cleartext
                | Step::Md5(_)
                | Step::Sasl(_)
                | Step::Continue(_)
                | Step::Final(_)
                | Step::Unknown(_)
                | Step::Version(_) => {
                    return Err(Error::protocol("the server breaks the order of the login"));
                }
            }
        }
    }

    /// Runs [`KEEP_MEMORY`]. A server that does not like it may say so and go on; one that ends the connection meanwhile is heard.
    async fn keep_memory(&mut self) -> Result<()> {
        let lost = |error: std::io::Error| {
            unavailable(&self.options.unit, error.to_string()).caused_by(error)
        };
        request::query(&mut self.wire.output, KEEP_MEMORY)?;
        self.wire.write().await.map_err(lost)?;
        loop {
            while let Some((header, body)) = self.wire.frame()? {
                let message = Backend::decode(header.tag, body)?;
                let is_over = matches!(message, Backend::ReadyForQuery(_));
                if let Backend::Error(notice) = message {
                    let error = error::read(&notice);
                    if matches!(error.severity.as_str(), "FATAL" | "PANIC") {
                        return Err(Error::new(ErrorKind::Server(Box::new(error))));
                    }
                }
                self.wire.input.advance(header.total);
                if is_over {
                    return Ok(());
                }
            }
            self.wire.read().await.map_err(lost)?;
        }
    }

    /// Writes what is queued and reads up to the next message of interest.
    pub(super) async fn step(&mut self) -> Result<Step> {
        let unit = &self.options.unit;
        let lost = |error: std::io::Error| unavailable(unit, error.to_string()).caused_by(error);
        self.wire.write().await.map_err(lost)?;
        loop {
            let taken = match self.wire.frame()? {
                None => None,
                Some((header, body)) => {
                    Some((header.total, interpret(Backend::decode(header.tag, body)?)?))
                }
            };
            match taken {
                None => self.wire.read().await.map_err(lost)?,
                Some((total, step)) => {
                    self.wire.input.advance(total);
                    match step {
                        Some(Step::Version(version)) => self.version = Some(version),
                        Some(step) => return Ok(step),
                        None => {}
                    }
                }
            }
        }
    }

    pub(super) fn refused(&self, message: &str) -> Error {
        unavailable(&self.options.unit, message)
    }
}

fn interpret(message: Backend<'_>) -> Result<Option<Step>> {
    Ok(match message {
        Backend::Authentication(step) => Some(match step {
            Authentication::Ok => Step::Ok,
            Authentication::Cleartext => Step::Cleartext,
            Authentication::Md5(salt) => Step::Md5(salt),
            Authentication::Sasl(names) => Step::Sasl(Offered {
                plain: names.offers(scram::MECHANISM),
                plus: names.offers(scram::MECHANISM_PLUS),
            }),
            Authentication::SaslContinue(data) => Step::Continue(data.to_vec()),
            Authentication::SaslFinal(data) => Step::Final(data.to_vec()),
            Authentication::Other(code) => Step::Unknown(code),
        }),
        Backend::KeyData(key) => {
            // Protocol 3.0, which we ask for, has keys of four bytes.
            let secret = key.key.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
            Some(Step::Key(CancelToken { id: key.process.into(), secret }))
        }
        Backend::ReadyForQuery(_) => Some(Step::Ready),
        Backend::Error(notice) => {
            return Err(Error::new(ErrorKind::Server(Box::new(error::read(&notice)))));
        }
        Backend::ParameterStatus(status) if super::reply::misreads(&status) => {
            return Err(Error::protocol(format!(
                "the server does not take the setting `{}` it was given at the login",
                status.name
            )));
        }
        // Settings are as we asked for; warnings at login concern the operator of the unit.
        Backend::ParameterStatus(status) if status.name == "server_version" => {
            Some(Step::Version(String::from_utf8_lossy(status.value).into_owned()))
        }
        Backend::ParameterStatus(_) | Backend::Notice(_) | Backend::Negotiate(_) => None,
        Backend::RowDescription(_)
        | Backend::DataRow(_)
        | Backend::CommandComplete(_)
        | Backend::EmptyQuery
        | Backend::Notification(_)
        | Backend::ParseComplete
        | Backend::BindComplete
        | Backend::CloseComplete
        | Backend::NoData
        | Backend::PortalSuspended
        | Backend::ParameterDescription(_)
        | Backend::CopyIn(_)
        | Backend::CopyOut(_)
        | Backend::CopyBoth(_)
        | Backend::CopyData(_)
        | Backend::CopyDone => {
            return Err(Error::protocol("the server sent a message that has no place in a login"));
        }
    })
}
