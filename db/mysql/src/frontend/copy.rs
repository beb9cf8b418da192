//! LOAD DATA LOCAL: the client's file on its way to the session.

use bytes::BytesMut;
use pando_kernel::session::{Doorway, Session};
use pando_kernel::{CopyInput, Error, Request};

use super::client::Client;
use super::end::End;
use crate::codec::{Capabilities, LocalInfile};

/// Pieces of a file are collected up to this many bytes: clients send them in small packets.
const BATCH: usize = 64 << 10;

impl<D: Doorway> Client<D> {
    /// Asks the client for a file and hands its content on; the reply goes on afterwards. Returns the error of a session that
    /// did not want the content.
    pub(super) async fn send_file(&mut self, file: &str) -> Result<Option<Error>, End> {
        if !self.facts.capabilities.has(Capabilities::LOCAL_FILES) {
            let why = "Loading local data is disabled; this must be enabled on the client side";
            let fail = Request::Copy(CopyInput::Fail(why.to_owned()));
            return Ok(self.session.run(fail).await.err());
        }
        self.wire.output.packet(|out| LocalInfile { file: file.as_bytes() }.encode(out));
        self.wire.input.expect(self.wire.output.sequence());
        self.wire.flush().await?;
        let mut refused = None;
        let mut batch = BytesMut::new();
        loop {
            let packet = self.file_packet().await?;
            let end = packet.is_empty();
            batch.extend_from_slice(&packet);
            if refused.is_some() {
                batch.clear();
            }
            if !batch.is_empty() && (end || batch.len() >= BATCH) {
                let data = CopyInput::Data(batch.split().freeze());
                refused = Box::pin(self.start(Request::Copy(data))).await.err();
            }
            if end {
                break;
            }
        }
        if refused.is_none() {
            refused = Box::pin(self.start(Request::Copy(CopyInput::Done))).await.err();
        }
        Ok(refused)
    }

    async fn file_packet(&mut self) -> Result<bytes::Bytes, End> {
        let runtime = self.door.doorway.runtime();
        let limit = self.settings.idle_timeout;
        match pando_kernel::runtime::within(&*runtime, limit, self.wire.packet()).await {
            Some(packet) => packet.map(|packet| packet.payload),
            None => Err(End::Gone(std::io::ErrorKind::TimedOut.into())),
        }
    }
}
