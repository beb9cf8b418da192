//! COPY FROM STDIN: data from the client.
//! <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY>

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use bytes::Bytes;
use pando_kernel::session::{Doorway, Session};
use pando_kernel::{CopyForm, CopyInput, Error, Request};

use super::client::Client;
use super::end::{End, Halt};
use super::reply::response;
use super::wire::Frame;
use crate::codec::copy::Direction;
use crate::codec::frontend::Frontend;

impl<D: Doorway> Client<D> {
    /// Asks for data and hands it on until the client is done. The reply then goes on.
    pub(super) async fn copy_in(&mut self, form: CopyForm) -> Result<(), Halt> {
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
                    self.run(Request::Copy(CopyInput::Data(frame.body.clone()))).await?;
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
