//! A client that sends and reads bytes as it likes.

use bytes::{Bytes, BytesMut};
use pando_mysql::auth::Plugin;
use pando_mysql::codec::{
    Capabilities, ErrPacket, Handshake, HandshakeResponse, Inbound, Outbound, SslRequest,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

pub struct Raw {
    pub stream: DuplexStream,
    pub input: Inbound,
    pub scramble: Vec<u8>,
    pub thread: u32,
    pub version: String,
    pub offered: Capabilities,
}

pub const BASE: Capabilities = Capabilities(
    Capabilities::PROTOCOL_41.0
        | Capabilities::SECURE_CONNECTION.0
        | Capabilities::PLUGIN_AUTH.0
        | Capabilities::TRANSACTIONS.0
        | Capabilities::MULTI_RESULTS.0,
);

impl Raw {
    /// A client that has read the handshake.
    pub async fn greeted(stream: DuplexStream) -> Self {
        let mut raw = Self {
            stream,
            input: Inbound::new(64 << 20),
            scramble: vec![],
            thread: 0,
            version: String::new(),
            offered: Capabilities::default(),
        };
        let payload = raw.read().await.unwrap();
        let mut scramble = Vec::new();
        let handshake = Handshake::decode(&payload, &mut scramble).unwrap();
        (raw.thread, raw.offered) = (handshake.connection, handshake.capabilities);
        raw.version = String::from_utf8_lossy(handshake.version).into_owned();
        raw.scramble = scramble;
        raw
    }

    /// A client that has logged in as `any`.
    pub async fn entered(stream: DuplexStream, capabilities: Capabilities) -> Self {
        let mut raw = Self::greeted(stream).await;
        let answer = Plugin::Native.answer(b"secret", &raw.scramble);
        let response = HandshakeResponse {
            head: SslRequest {
                capabilities: BASE | capabilities,
                max_packet: 1 << 24,
                charset: 45,
            },
            user: b"any",
            auth: &answer,
            database: b"shop",
            plugin: b"mysql_native_password",
            attributes: b"",
        };
        let mut payload = BytesMut::new();
        response.encode(&mut payload);
        raw.send(1, &payload).await;
        assert_eq!(raw.read().await.unwrap()[0], 0);
        raw
    }

    /// All that the door answers to a login of this user with a wrong password by the plugin that it does not ask for first, as text.
    pub async fn refused(stream: DuplexStream, user: &str) -> String {
        let mut raw = Self::greeted(stream).await;
        let response = HandshakeResponse {
            head: SslRequest { capabilities: BASE, max_packet: 1 << 24, charset: 45 },
            user: user.as_bytes(),
            auth: &[7; 32],
            database: b"",
            plugin: b"caching_sha2_password",
            attributes: b"",
        };
        let mut payload = BytesMut::new();
        response.encode(&mut payload);
        raw.send(1, &payload).await;
        let mut seen = String::new();
        let mut sequence = 3;
        while let Some(packet) = raw.read().await {
            // The scramble is another one each time.
            let told = if packet[0] == 0xFE { &packet[..22] } else { &packet[..] };
            seen.push_str(&told.escape_ascii().to_string());
            if packet[0] != 0xFF {
                raw.send(sequence, &[7; 20]).await;
                sequence += 2;
            }
        }
        seen
    }

    pub async fn send(&mut self, sequence: u8, payload: &[u8]) {
        let mut out = Outbound::new();
        out.restart(sequence);
        out.payload(payload);
        self.input.expect(out.sequence());
        self.stream.write_all(out.buffer_mut()).await.unwrap();
    }

    pub async fn bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// The next packet; `None` when the door has closed the connection.
    pub async fn read(&mut self) -> Option<Bytes> {
        loop {
            if let Some(packet) = self.input.next_packet().unwrap() {
                return Some(packet.payload);
            }
            if self.stream.read_buf(self.input.buffer_mut()).await.unwrap() == 0 {
                return None;
            }
        }
    }

    /// The first bytes of the packets of a reply up to and including the one that ends it.
    pub async fn command(&mut self, payload: &[u8]) -> Bytes {
        self.send(0, payload).await;
        self.read().await.unwrap()
    }

    /// The next packet, which must be an error: its number.
    pub async fn error(&mut self) -> u16 {
        let payload = self.read().await.expect("an ERR packet before the end");
        ErrPacket::decode(&payload).unwrap().code
    }
}
