//! Logging in: handshake, TLS, authentication, session.

use std::borrow::Cow;
use std::sync::Arc;

use pando_kernel::runtime::Stream;
use pando_kernel::session::{Doorway, Login, Session, Settings};
use pando_kernel::{Channel, Error, ErrorKind};

use super::Door;
use super::auth::{Claim, prove};
use super::charset::Charset;
use super::end::End;
use super::wire::Wire;
use crate::auth::{Plugin, SCRAMBLE_LEN, new_scramble};
use crate::catalog::version::REPLICAS;
use crate::codec::{
    Capabilities, ChangeUser, Handshake, HandshakeResponse, Malformed, OkHeader, OkPacket,
    SessionChange, SslRequest, Status,
};
use crate::dialect::{AT_LOGIN, MySql, SERVER_VERSION, collation_of_login};
use crate::error::ClientError;
use crate::types::{FAMILY, TEXT_CHARSET};

/// What every door can do.
const OFFERED: Capabilities = Capabilities(
    Capabilities::LONG_PASSWORD.0
        | Capabilities::FOUND_ROWS.0
        | Capabilities::LONG_FLAG.0
        | Capabilities::CONNECT_WITH_DB.0
        | Capabilities::LOCAL_FILES.0
        | Capabilities::PROTOCOL_41.0
        | Capabilities::INTERACTIVE.0
        | Capabilities::TRANSACTIONS.0
        | Capabilities::SECURE_CONNECTION.0
        | Capabilities::MULTI_STATEMENTS.0
        | Capabilities::MULTI_RESULTS.0
        | Capabilities::PS_MULTI_RESULTS.0
        | Capabilities::PLUGIN_AUTH.0
        | Capabilities::CONNECT_ATTRS.0
        | Capabilities::PLUGIN_AUTH_LENENC.0
        | Capabilities::SESSION_TRACK.0
        | Capabilities::DEPRECATE_EOF.0,
);

/// What a door can do that says this version.
///
/// MariaDB's own flags are read only where bit 0 is unset, so a door before MariaDB servers leaves it unset as they do.
fn offered(version: &str) -> Capabilities {
    if version.contains("MariaDB") {
        OFFERED.without(Capabilities::LONG_PASSWORD) | Capabilities::EXTENDED_METADATA
    } else {
        OFFERED
    }
}

/// A client who has logged in.
pub(super) struct Entered<S> {
    pub(super) wire: Wire,
    pub(super) session: S,
    pub(super) facts: Facts,
}

/// What is known of a client and stays so, COM_CHANGE_USER or not.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) capabilities: Capabilities,
    pub(super) host: String,
    /// What TLS has told; COM_CHANGE_USER asks for it again.
    pub(super) channel: Arc<Channel>,
    /// The number of the collation that the login named.
    pub(super) collation: u16,
    pub(super) scramble: [u8; SCRAMBLE_LEN],
    id: u32,
}

pub(super) async fn log_in<D: Doorway>(
    door: &Door<D>,
    stream: Box<dyn Stream>,
    host: String,
    settings: &Settings,
) -> Result<Entered<D::Session>, End> {
    let mut wire = Wire::new(stream, door.doorway.runtime(), settings.idle_timeout);
    let version = door.doorway.server_version(FAMILY, None);
    let version = version.as_deref().unwrap_or(SERVER_VERSION);
    let offered = offered(version);
    let mut facts = Facts {
        capabilities: offered,
        host,
        channel: Arc::default(),
        collation: 0,
        scramble: new_scramble().map_err(|error| End::Told(error.to_string()))?,
        id: door.doorway.announce(),
    };
    greet(&mut wire, &facts, version, settings).await?;
    let mut packet = wire.exact_packet().await?;
    if SslRequest::is_one(&packet.payload) {
        let Some(acceptor) = &settings.tls else {
            return Err(wire.last_words(&bad_handshake()).await);
        };
        let (sequence, runtime) = (wire.input.expected(), door.doorway.runtime());
        let secured = acceptor.accept(wire.into_stream()).await?;
        wire = Wire::new(secured.stream, runtime, settings.idle_timeout);
        wire.input.expect(sequence);
        facts.channel = Arc::new(secured.channel);
        packet = wire.packet().await?;
    }
    let response = match HandshakeResponse::decode(&packet.payload) {
        Ok(response) => response,
        Err(fault) => return Err(wire.last_words(&malformed_login(fault)).await),
    };
    // Some clients set flags they were not offered, and do not mean them.
    facts.capabilities = response.head.capabilities & offered;
    let claim = Claim {
        user: response.user,
        database: response.database,
        plugin: response.plugin,
        answer: response.auth,
        collation: u16::from(response.head.charset),
    };
    let session = enter(door, &mut wire, &mut facts, &claim).await?;
    wire.input.limit_to(settings.max_message);
    Ok(Entered { wire, session, facts })
}

async fn greet(
    wire: &mut Wire,
    facts: &Facts,
    version: &str,
    settings: &Settings,
) -> Result<(), End> {
    let tls = if settings.tls.is_some() { Capabilities::SSL } else { Capabilities::default() };
    // As MariaDB does: a driver that reads such a version takes the packets of newer plugins for others.
    let (version, plugin) = match is_hidden(version) {
        true => (Cow::Owned(format!("{REPLICAS}{version}")), Plugin::Native),
        false => (Cow::Borrowed(version), Plugin::CachingSha2),
    };
    let handshake = Handshake {
        version: version.as_bytes(),
        connection: facts.id,
        scramble: &facts.scramble,
        capabilities: facts.capabilities | tls,
        charset: TEXT_CHARSET as u8,
        status: Status::AUTOCOMMIT,
        plugin: plugin.name().as_bytes(),
    };
    wire.output.packet(|out| handshake.encode(out));
    wire.flush().await?;
    wire.input.expect(1);
    Ok(())
}

/// Whether MariaDB's own greeting hides this version behind an old MySQL's, as up to 10.11: MySQL's drivers take it for
/// a MySQL newer than 8 without that, and ask for what it has not.
/// <https://mariadb.com/kb/en/connection/#initial-handshake-packet>
fn is_hidden(version: &str) -> bool {
    version.starts_with("10.") && version.contains("-MariaDB")
}

/// `ER_HANDSHAKE_ERROR`.
fn bad_handshake() -> ClientError<'static> {
    ClientError::new(1043, b"08S01", "Bad handshake")
}

fn malformed_login(fault: Malformed) -> ClientError<'static> {
    ClientError::new(1043, b"08S01", format!("Bad handshake: {fault}"))
}

/// Serves COM_CHANGE_USER: the same exchange on a living connection, whose session has ended. A failure ends the
/// connection.
pub(super) async fn change_user<D: Doorway>(
    door: &Door<D>,
    mut wire: Wire,
    mut facts: Facts,
    payload: &[u8],
) -> Result<Entered<D::Session>, End> {
    let body = payload.get(1..).unwrap_or_default();
    let request = match ChangeUser::decode(body, facts.capabilities) {
        Ok(request) => request,
        Err(fault) => return Err(wire.last_words(&malformed_login(fault)).await),
    };
    let claim = Claim {
        user: request.user,
        database: request.database,
        plugin: request.plugin,
        answer: request.auth,
        collation: request.charset,
    };
    let session = enter(door, &mut wire, &mut facts, &claim).await?;
    Ok(Entered { wire, session, facts })
}

/// Checks who it is, opens the session and says OK.
async fn enter<D: Doorway>(
    door: &Door<D>,
    wire: &mut Wire,
    facts: &mut Facts,
    claim: &Claim<'_>,
) -> Result<D::Session, End> {
    let Some(charset) = Charset::of_collation(claim.collation) else {
        return Err(wire.last_words(&unknown_charset(claim.collation)).await);
    };
    facts.collation = claim.collation;
    wire.charsets = charset.into();
    let (user, database) = (charset.read(claim.user), charset.read(claim.database));
    let (Some(user), Some(database)) = (user, database) else {
        return Err(wire.last_words(&bad_handshake()).await);
    };
    let (user, database) = (&*user, &*database);
    let credential = door.doorway.credential(user, &facts.host, &facts.channel);
    if !prove(door, wire, facts, claim, credential).await? {
        let using = if claim.answer.len() > 1 { "YES" } else { "NO" };
        let host = &facts.host;
        let text = format!("Access denied for user '{user}'@'{host}' (using password: {using})");
        return Err(wire.last_words(&ClientError::new(1045, b"28000", text)).await);
    }
    let login = Login {
        user: user.to_owned(),
        host: facts.host.clone(),
        database: (!database.is_empty()).then(|| database.to_owned()),
        family: FAMILY,
        language: Some(Arc::new(MySql)),
        variables: Vec::from_iter(
            collation_of_login(claim.collation).map(|name| (AT_LOGIN.to_owned(), name)),
        ),
        found_rows: facts.capabilities.has(Capabilities::FOUND_ROWS),
        id: facts.id,
        ..Login::default()
    };
    let session = match door.doorway.open(login) {
        Ok(session) => session,
        Err(error) => return Err(wire.last_words(&refusal(&error, database)).await),
    };
    let mut tracked = bytes::BytesMut::new();
    if !database.is_empty() {
        SessionChange::Schema(database.as_bytes()).encode(&mut tracked);
    }
    let status = if session.state().autocommit { Status::AUTOCOMMIT } else { Status::default() };
    let ok = OkPacket { status, session_state: &tracked, ..OkPacket::default() };
    wire.output.packet(|out| ok.encode(OkHeader::Ok, facts.capabilities, out));
    wire.flush().await?;
    Ok(session)
}

/// `ER_UNKNOWN_CHARACTER_SET`.
fn unknown_charset(collation: u16) -> ClientError<'static> {
    let text = format!(
        "Unknown character set: that of collation {collation} of the login; Pando speaks utf8mb4 \
         and latin1"
    );
    ClientError::new(1115, b"42000", text)
}

fn refusal<'a>(error: &'a Error, database: &str) -> ClientError<'a> {
    if matches!(error.kind(), ErrorKind::UnknownDatabase(_)) {
        return ClientError::new(1049, b"42000", format!("Unknown database '{database}'"));
    }
    ClientError::of(error.kind())
}
