//! Connecting: handshake, TLS, authentication.

use std::sync::Arc;

use bytes::{BufMut, BytesMut};
use pando_kernel::runtime::{Address, SharedRuntime, TlsMode};
use pando_kernel::{ClientTls, Error, Result};

use super::connection::Connection;
use super::wire::Wire;
use super::{Count, Options};
use crate::auth::{ClientLogin, ClientStep, Privacy};
use crate::codec::{
    Capabilities, ErrPacket, Handshake, HandshakeResponse, OkPacket, Query, SslRequest, Status,
    put_lenenc_bytes,
};
use crate::error::{malformed, server_error};
use crate::modes::without_reading;

/// What was agreed at login and stays for the connection's life.
#[derive(Debug, Clone)]
pub(super) struct Agreement {
    pub(super) capabilities: Capabilities,
    pub(super) thread: u32,
    pub(super) version: String,
    pub(super) collation: Collation,
    pub(super) scramble: Vec<u8>,
    pub(super) plugin: Vec<u8>,
    pub(super) privacy: Privacy,
}

/// The collation of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Collation {
    /// The default of MySQL 8, so that literals compare as they do for other clients.
    Utf8mb4_0900,
    /// For every other server.
    Utf8mb4General,
}

impl Collation {
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Utf8mb4_0900 => 255,
            Self::Utf8mb4General => 45,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Utf8mb4_0900 => "utf8mb4_0900_ai_ci",
            Self::Utf8mb4General => "utf8mb4_general_ci",
        }
    }

    /// MariaDB writes its name into the version, some releases behind a fake `5.5.5-`.
    fn of_version(version: &[u8]) -> Self {
        let text = String::from_utf8_lossy(version);
        let major = text.split('.').next().and_then(|major| major.parse::<u32>().ok());
        if major.is_some_and(|major| major >= 8) && !text.contains("MariaDB") {
            Self::Utf8mb4_0900
        } else {
            Self::Utf8mb4General
        }
    }
}

/// Capabilities asked for where the server has them.
const WANTED: Capabilities = Capabilities(
    Capabilities::LONG_FLAG.0
        | Capabilities::LOCAL_FILES.0
        | Capabilities::PROTOCOL_41.0
        | Capabilities::TRANSACTIONS.0
        | Capabilities::SECURE_CONNECTION.0
        | Capabilities::MULTI_RESULTS.0
        | Capabilities::PS_MULTI_RESULTS.0
        | Capabilities::PLUGIN_AUTH.0
        | Capabilities::PLUGIN_AUTH_LENENC.0
        | Capabilities::CONNECT_ATTRS.0
        | Capabilities::SESSION_TRACK.0
        | Capabilities::DEPRECATE_EOF.0
        | Capabilities::EXTENDED_METADATA.0,
);

pub(super) async fn connect(options: &Arc<Options>, runtime: &SharedRuntime) -> Result<Connection> {
    let stream = runtime
        .connect(&options.address)
        .await
        .map_err(|error| options.unavailable(&error).caused_by(error))?;
    let mut wire = Wire::new(options.unit.clone(), stream, options.max_packet);
    let (mut agreement, offered) = greet(&mut wire, options).await?;
    if agreement.capabilities.has(Capabilities::SSL) {
        wire = secure(wire, options, runtime, &agreement).await?;
        agreement.privacy = Privacy::Private;
    } else if !matches!(options.tls, TlsMode::Off | TlsMode::Prefer) {
        let offers = offered.has(Capabilities::SSL);
        return Err(
            options.unavailable(format!("TLS is required, offered by the server: {offers}"))
        );
    }
    log_in(&mut wire, options, &agreement).await?;
    let status = agree_on_reading(&mut wire, &agreement).await?;
    Ok(Connection::new(options.clone(), wire, agreement, status))
}

async fn greet(wire: &mut Wire, options: &Options) -> Result<(Agreement, Capabilities)> {
    let packet = wire.packet().await?;
    if packet.payload.first() == Some(&0xFF) {
        return Err(server_error(&ErrPacket::decode(&packet.payload).map_err(malformed)?));
    }
    let mut scramble = Vec::new();
    let handshake = Handshake::decode(&packet.payload, &mut scramble).map_err(malformed)?;
    let offered = handshake.capabilities;
    if !offered.has(Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION) {
        return Err(Error::protocol("the server is older than MySQL 4.1"));
    }
    let mut capabilities = WANTED & offered;
    // This bit means `long passwords` to MySQL and `not MariaDB's own extensions` to MariaDB.
    if capabilities.extended() == 0 {
        capabilities = capabilities | Capabilities::LONG_PASSWORD;
    }
    if !options.database.is_empty() {
        capabilities = capabilities | Capabilities::CONNECT_WITH_DB;
    }
    if options.count == Count::Found {
        capabilities = capabilities | Capabilities::FOUND_ROWS;
    }
    if options.tls != TlsMode::Off && offered.has(Capabilities::SSL) {
        capabilities = capabilities | Capabilities::SSL;
    }
    let agreement = Agreement {
        capabilities,
        thread: handshake.connection,
        version: String::from_utf8_lossy(handshake.version).into_owned(),
        collation: Collation::of_version(handshake.version),
        plugin: handshake.plugin.to_vec(),
        privacy: match options.address {
            Address::Unix(_) => Privacy::Private,
            Address::Tcp(..) => Privacy::Open,
        },
        scramble,
    };
    wire.output.restart(wire.input.expected());
    wire.input.expect(wire.input.expected().wrapping_add(1));
    Ok((agreement, offered))
}

fn head(options: &Options, agreement: &Agreement) -> SslRequest {
    SslRequest {
        capabilities: agreement.capabilities,
        max_packet: u32::try_from(options.max_packet).unwrap_or(u32::MAX),
        charset: agreement.collation.number(),
    }
}

async fn secure(
    mut wire: Wire,
    options: &Options,
    runtime: &SharedRuntime,
    agreement: &Agreement,
) -> Result<Wire> {
    wire.output.packet(|out| head(options, agreement).encode(out));
    wire.flush().await?;
    let sequence = wire.output.sequence();
    let host = match &options.address {
        Address::Tcp(host, _) => host.as_str(),
        Address::Unix(_) => "localhost",
    };
    let plain = wire.into_stream()?;
    let (mode, authority) = (options.tls, options.authority.clone());
    let tls = ClientTls { mode, authority, identity: options.identity.clone() };
    let secured = runtime
        .secure(plain, host, &tls)
        .await
        .map_err(|error| options.unavailable(format!("TLS: {error}")).caused_by(error))?;
    let mut wire = Wire::new(options.unit.clone(), secured.stream, options.max_packet);
    wire.output.restart(sequence);
    wire.input.expect(sequence.wrapping_add(1));
    Ok(wire)
}

/// What decides how the server reads texts, in one statement: the character set, which a server may be told to choose by itself, and the SQL mode.
pub(super) fn reading(agreement: &Agreement) -> String {
    let mode = without_reading("@@SESSION.sql_mode");
    format!("SET NAMES utf8mb4 COLLATE {}, SESSION sql_mode = {mode}", agreement.collation.name())
}

async fn agree_on_reading(wire: &mut Wire, agreement: &Agreement) -> Result<Status> {
    let text = reading(agreement);
    wire.output.restart(0);
    wire.output.packet(|out| Query::encode(text.as_bytes(), agreement.capabilities, out));
    wire.input.expect(wire.output.sequence());
    wire.flush().await?;
    let packet = wire.packet().await?;
    if packet.payload.first() == Some(&0xFF) {
        return Err(server_error(&ErrPacket::decode(&packet.payload).map_err(malformed)?));
    }
    let ok = OkPacket::decode(&packet.payload, agreement.capabilities).map_err(malformed)?;
    match misreads(ok.status, agreement) {
        false => Ok(ok.status),
        true => Err(Error::protocol("the server does not take the SQL mode it was given")),
    }
}

/// Whether a server tells that it reads texts otherwise from now on than they are read here.
pub(super) fn misreads(status: Status, agreement: &Agreement) -> bool {
    let is_mariadb = agreement.version.contains("MariaDB");
    status.has(Status::NO_BACKSLASH_ESCAPES) || is_mariadb && status.has(Status::ANSI_QUOTES)
}

async fn log_in(wire: &mut Wire, options: &Options, agreement: &Agreement) -> Result<()> {
    let mut login = options.login(agreement.privacy);
    let (plugin, answer) = login.begin(&agreement.plugin, &agreement.scramble);
    let attributes = attributes();
    let response = HandshakeResponse {
        head: head(options, agreement),
        user: options.user.as_bytes(),
        auth: &answer,
        database: options.database.as_bytes(),
        plugin: plugin.name().as_bytes(),
        attributes: &attributes,
    };
    wire.output.packet(|out| response.encode(out));
    loop {
        wire.flush().await?;
        let packet = wire.packet().await?;
        match login.read(&packet.payload)? {
            ClientStep::Send(answer) => {
                wire.output.restart(packet.sequence.wrapping_add(1));
                wire.output.payload(&answer);
                wire.input.expect(wire.output.sequence());
            }
            ClientStep::Wait => {}
            ClientStep::Done(_) => return Ok(()),
        }
    }
}

/// Source: <https://dev.mysql.com/doc/refman/8.0/en/performance-schema-connection-attribute-tables.html>
fn attributes() -> BytesMut {
    let mut out = BytesMut::new();
    for (name, value) in [
        ("_client_name", "pando"),
        ("_client_version", env!("CARGO_PKG_VERSION")),
        ("program_name", "pando"),
    ] {
        put_lenenc_bytes(&mut out, name.as_bytes());
        put_lenenc_bytes(&mut out, value.as_bytes());
    }
    out
}

/// Appends the payload of a COM_CHANGE_USER to the same user and database.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_change_user.html>
pub(super) fn put_change_user(
    options: &Options,
    agreement: &Agreement,
    login: &mut ClientLogin,
    out: &mut BytesMut,
) {
    let (plugin, answer) = login.begin(&agreement.plugin, &agreement.scramble);
    out.put_u8(0x11);
    crate::codec::put_nul(out, options.user.as_bytes());
    out.put_u8(answer.len() as u8);
    out.put_slice(&answer);
    crate::codec::put_nul(out, options.database.as_bytes());
    out.put_u16_le(u16::from(agreement.collation.number()));
    if agreement.capabilities.has(Capabilities::PLUGIN_AUTH) {
        crate::codec::put_nul(out, plugin.name().as_bytes());
    }
    if agreement.capabilities.has(Capabilities::CONNECT_ATTRS) {
        put_lenenc_bytes(out, &attributes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_collation_follows_the_servers_version() {
        let cases = [
            (&b"8.0.31"[..], Collation::Utf8mb4_0900),
            (b"9.7.4-2", Collation::Utf8mb4_0900),
            (b"5.7.22-log", Collation::Utf8mb4General),
            (b"5.5.5-10.11.19-MariaDB-log", Collation::Utf8mb4General),
            (b"11.4.2-MariaDB", Collation::Utf8mb4General),
            (b"", Collation::Utf8mb4General),
        ];
        for (version, expected) in cases {
            assert_eq!(Collation::of_version(version), expected);
        }
    }
}
