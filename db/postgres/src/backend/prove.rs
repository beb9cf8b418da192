//! Proving to a server who we are, as far as we are willing to: who answers may not be the server.
//! <https://www.postgresql.org/docs/current/auth-password.html>

use std::future::poll_fn;
use std::task::Poll;

use pando_kernel::runtime::Address;
use pando_kernel::{Error, Result};

use super::login::{Login, Offered, Step};
use super::options::ChannelBinding;
use crate::auth::scram::{Binding, Challenged, Client, Proved};
use crate::auth::{Failure, md5};
use crate::codec::frontend::{SaslInitial, encode_password, encode_sasl};

/// A way to be let in that proves nothing of the server.
enum Unproved {
    Nothing,
    Md5,
    Cleartext,
}

impl Login<'_> {
    /// Answers what the server asks, once, until it lets us in.
    pub(super) async fn authenticate(&mut self) -> Result<()> {
        match self.step().await? {
            // A server that asks nothing cannot be bound to anything.
            Step::Ok => return self.may(Unproved::Nothing),
            Step::Cleartext => self.cleartext()?,
            Step::Md5(salt) => {
                self.may(Unproved::Md5)?;
                let answer = md5::answer(&self.options.user, &self.options.password, salt);
                encode_password(&mut self.wire.output, answer.as_bytes());
            }
            Step::Sasl(offered) => self.scram(offered).await?,
            Step::Unknown(code) => {
                let message = format!("the server asks for authentication method {code}");
                return Err(self.refused(&message));
            }
            Step::Continue(_) | Step::Final(_) | Step::Version(_) | Step::Key(_) | Step::Ready => {
                return Err(broken());
            }
        }
        match self.step().await? {
            Step::Ok => Ok(()),
            // Whoever has had one answer does not get a weaker one.
            Step::Cleartext
            | Step::Md5(_)
            | Step::Sasl(_)
            | Step::Unknown(_)
            | Step::Continue(_)
            | Step::Final(_)
            | Step::Version(_)
            | Step::Key(_)
            | Step::Ready => Err(broken()),
        }
    }

    /// Whether a way that proves nothing of the server may be gone.
    fn may(&self, way: Unproved) -> Result<()> {
        let methods = self.options.methods;
        let (allowed, what) = match way {
            Unproved::Nothing => (methods.nothing, "no password at all"),
            Unproved::Md5 => (methods.md5, "the password by MD5"),
            Unproved::Cleartext => {
                (methods.password || methods.readable_password, "the password in clear")
            }
        };
        if self.options.binding == ChannelBinding::Require {
            let message = format!("the server asks for {what}, and `channelBinding` is `require`");
            return Err(self.refused(&message));
        }
        if allowed {
            return Ok(());
        }
        Err(self.refused(&format!("the server asks for {what}, which `requireAuth` does not name")))
    }

    fn cleartext(&mut self) -> Result<()> {
        let methods = self.options.methods;
        self.may(Unproved::Cleartext)?;
        let is_local = matches!(self.options.address, Address::Unix(_));
        if !(self.channel.is_secured || is_local || methods.readable_password) {
            return Err(self.refused(
                "the server asks for the password in clear on a connection without TLS: use TLS (`sslmode`), \
                 or allow it with `requireAuth=password`",
            ));
        }
        encode_password(&mut self.wire.output, self.options.password.as_bytes());
        Ok(())
    }

    async fn scram(&mut self, offered: Offered) -> Result<()> {
        if !self.options.methods.scram {
            return Err(
                self.refused("the server asks for SCRAM, which `requireAuth` does not name")
            );
        }
        let failed = |failure: Failure, login: &Self| login.refused(&failure.to_string());
        let binding = self.binding(offered)?;
        let mechanism = binding.mechanism();
        let client = Client::new(&self.options.password, binding);
        let client = client.map_err(|failure| failed(failure, self))?;
        let first = client.first();
        SaslInitial { mechanism, data: Some(first.as_bytes()) }.encode(&mut self.wire.output);
        let Step::Continue(data) = self.step().await? else { return Err(broken()) };
        let challenged = client.challenge(&data).map_err(|failure| failed(failure, self))?;
        let (proof, proved) = work(challenged).await;
        encode_sasl(&mut self.wire.output, proof.as_bytes());
        let Step::Final(data) = self.step().await? else { return Err(broken()) };
        // A server that only pretends to know the password could be anybody.
        proved.check(&data).map_err(|failure| failed(failure, self))
    }

    /// What we say of the channel to a server with this offer.
    fn binding(&self, offered: Offered) -> Result<Binding> {
        let endpoint = match self.options.binding {
            ChannelBinding::Disable => None,
            ChannelBinding::Prefer | ChannelBinding::Require => self.channel.endpoint.clone(),
        };
        let binding = match endpoint {
            Some(hash) if offered.plus => Binding::EndPoint(hash),
            Some(_) => Binding::NotOffered,
            None => Binding::None,
        };
        let is_bound = matches!(binding, Binding::EndPoint(_));
        if self.options.binding == ChannelBinding::Require && !is_bound {
            let why = if !self.channel.is_secured {
                "the connection has no TLS"
            } else if offered.plus {
                "the signature of the server's certificate has no hash to bind to"
            } else {
                "the server does not offer it"
            };
            return Err(self.refused(&format!("`channelBinding` is `require`, and {why}")));
        }
        if !is_bound && !offered.plain {
            return Err(self.refused("the server offers no SASL mechanism we know"));
        }
        Ok(binding)
    }
}

fn broken() -> Error {
    Error::protocol("the server breaks the order of the login")
}

/// Salts the password, and lets others have the thread in between: the server says how much work it is.
async fn work(mut challenged: Challenged) -> (String, Proved) {
    poll_fn(|cx| match challenged.work() {
        Some(done) => Poll::Ready(done),
        None => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await
}
