//! COPY FROM STDIN: data from the client.
//! <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY>

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use bytes::Bytes;
use pando_kernel::dialect::Language;
use pando_kernel::session::{Doorway, Session};
use pando_kernel::{CopyForm, CopyInput, Error, Format, Request};
use pando_sql::ast::{Kind, Statement};

use super::client::Client;
use super::end::{End, Halt};
use super::reply::response;
use super::wire::Frame;
use crate::codec::copy::Direction;
use crate::codec::frontend::Frontend;
use crate::dialect::Postgres;
use crate::encoding::Encoding;

/// Whose encoding a copy's data has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Data {
    /// The client's.
    Clients,
    /// One that the statement names, whatever the client's is.
    Statements,
}

impl Data {
    pub(super) fn of(stmt: &Statement) -> Data {
        let Kind::Copy(copy) = &stmt.kind else { return Data::Clients };
        let is_named = copy.options.iter().any(|(name, _)| name.eq_ignore_ascii_case("encoding"));
        if is_named { Data::Statements } else { Data::Clients }
    }
}

/// Refuses data that is not known to be text of the client's encoding.
///
/// # Errors
/// `Refused`.
pub(super) fn refuse_unturned(
    encoding: Encoding,
    form: &CopyForm,
    data: Data,
) -> Result<(), Error> {
    let is_text = form.format == Format::Text;
    if encoding.is_plain() || is_text && data == Data::Clients {
        return Ok(());
    }
    let name = encoding.name();
    let (what, instead) = match is_text {
        true => ("with an encoding of its own", "leave out ENCODING"),
        false => ("of binary data", "copy text"),
    };
    let reason = format!("COPY {what} is not supported while the client's encoding is {name}");
    Err(Error::unsupported(30001, reason, format!("{instead}, or set client_encoding to UTF8")))
}

impl<D: Doorway> Client<D> {
    /// Whose encoding the data of a text's statement has that stands behind so many others.
    pub(super) fn data_of_text(&self, text: &str, done: usize) -> Data {
        if self.wire.encoding.is_plain() {
            return Data::Clients;
        }
        let syntax = Postgres.syntax();
        let spans = pando_sql::split(text, syntax).unwrap_or_default();
        let stmt = spans.get(done).and_then(|span| pando_sql::parse(span.of(text), syntax).ok());
        stmt.map_or(Data::Statements, |stmt| Data::of(&stmt))
    }

    /// Asks for data and hands it on until the client is done. The reply then goes on.
    pub(super) async fn copy_in(&mut self, form: CopyForm, data: Data) -> Result<(), Halt> {
        let encoding = self.wire.encoding;
        if let Err(refusal) = refuse_unturned(encoding, &form, data) {
            self.give_up(&refusal.to_string()).await?;
            return Err(refusal.into());
        }
        response(form).encode(self.wire.output.buffer(), Direction::In)?;
        self.wire.flush().await?;
        loop {
            let Some(frame) = self.data_or_refusal().await? else {
                // Nothing is sent any more, and the session says why.
                self.run(Request::Copy(CopyInput::Data(Bytes::new()))).await?;
                continue;
            };
            let message = match Frontend::decode(frame.tag, &frame.body) {
                Ok(message) => message,
                Err(malformed) => {
                    self.give_up(&malformed.to_string()).await?;
                    return Err(malformed.into());
                }
            };
            match message {
                Frontend::CopyData(_) => {
                    let data = match encoding.decode(&frame.body) {
                        Ok(Cow::Borrowed(_)) => frame.body.clone(),
                        Ok(Cow::Owned(data)) => data.into(),
                        Err(error) => {
                            self.give_up(&error.to_string()).await?;
                            return Err(error.into());
                        }
                    };
                    self.run(Request::Copy(CopyInput::Data(data))).await?;
                }
                Frontend::CopyDone => return self.run(Request::Copy(CopyInput::Done)).await,
                Frontend::CopyFail(reason) => {
                    return self.run(Request::Copy(CopyInput::Fail(reason.to_owned()))).await;
                }
                // They were sent before the client knew that data is wanted.
                Frontend::Flush | Frontend::Sync => {}
                Frontend::Terminate => {
                    self.give_up("the client left").await?;
                    return Err(End::Quit.into());
                }
                Frontend::Query(_)
                | Frontend::Parse(_)
                | Frontend::Bind(_)
                | Frontend::Describe(_)
                | Frontend::Execute(_)
                | Frontend::Close(_)
                | Frontend::Password(_)
                | Frontend::FunctionCall => {
                    let tag = frame.tag;
                    let message =
                        format!("unexpected message type 0x{tag:02X} during COPY from stdin");
                    self.give_up(&message).await?;
                    return Err(Error::protocol(message).into());
                }
            }
        }
    }

    /// The client's next message; `None` when the data has been refused before it came. Loaders, who send for hours, hear of that at once.
    async fn data_or_refusal(&mut self) -> Result<Option<Frame>, Halt> {
        let mut refused = pin!(self.session.refused());
        let mut frame = pin!(self.wire.frame());
        poll_fn(|cx| match refused.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Ok(None)),
            Poll::Pending => frame.as_mut().poll(cx).map(|frame| Ok(frame.map(Some)?)),
        })
        .await
    }

    /// LOCAL INFILE is not part of this protocol.
    pub(super) async fn refuse_file(&mut self) -> Result<(), Halt> {
        let reason = "this protocol cannot ask a client for a file";
        self.give_up(reason).await?;
        Err(Error::unsupported(30001, reason, "use COPY … FROM STDIN").into())
    }

    /// Ends the copy as failed. The error that follows from it is no news: the caller has its own.
    async fn give_up(&mut self, reason: &str) -> Result<(), Halt> {
        let fail = Request::Copy(CopyInput::Fail(reason.to_owned()));
        match self.run(fail).await {
            Ok(()) | Err(Halt::Failed(_)) => {}
            Err(Halt::End(end)) => return Err(end.into()),
        }
        loop {
            match self.next().await {
                Ok(Some(_)) => {}
                Ok(None) | Err(Halt::Failed(_)) => return Ok(()),
                Err(Halt::End(end)) => return Err(end.into()),
            }
        }
    }
}
