//! Calls of the gateway: JSON both ways, the login, and which member to ask.
//! <https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/>

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::Response;
use hyper::body::Incoming;
use pando_kernel::runtime::{SharedRuntime, within};
use pando_repository::Error;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::http::{Connection, Failed, read_all};
use crate::options::Options;

/// Requests under way at once, each on a connection of its own.
const MAX_CONNECTIONS: usize = 8;

/// A call that did not do what it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There is no answer.
    Transport(Failed),
    /// The member refuses, with a gRPC status code.
    Status { code: i64, message: String },
}

impl From<Failed> for Fault {
    fn from(failed: Failed) -> Self {
        Self::Transport(failed)
    }
}

/// gRPC status codes, <https://grpc.io/docs/guides/status-codes/>.
pub(crate) mod code {
    pub(crate) const INVALID_ARGUMENT: i64 = 3;
    pub(crate) const NOT_FOUND: i64 = 5;
    pub(crate) const PERMISSION_DENIED: i64 = 7;
    pub(crate) const RESOURCE_EXHAUSTED: i64 = 8;
    pub(crate) const FAILED_PRECONDITION: i64 = 9;
    pub(crate) const UNAUTHENTICATED: i64 = 16;
}

impl Fault {
    pub(crate) fn has_code(&self, wanted: i64) -> bool {
        matches!(self, Self::Status { code, .. } if *code == wanted)
    }

    /// The repository's refusal, when asking again would not help.
    pub(crate) fn refusal(&self) -> Option<Error> {
        let Self::Status { code, message } = self else { return None };
        let is_final = matches!(
            *code,
            code::INVALID_ARGUMENT
                | code::PERMISSION_DENIED
                | code::RESOURCE_EXHAUSTED
                | code::FAILED_PRECONDITION
                | code::UNAUTHENTICATED
        );
        is_final.then(|| Error::Refused(format!("etcd says: {message}")))
    }

    pub(crate) fn text(self) -> String {
        match self {
            Self::Transport(Failed::NotSent(why) | Failed::InDoubt(why)) => why,
            Self::Status { code, message } => format!("etcd says: {message} (code {code})"),
        }
    }
}

pub(crate) struct Gateway {
    pub(crate) runtime: SharedRuntime,
    pub(crate) options: Options,
    /// The endpoint that is asked now; any number stands for one of them.
    current: AtomicUsize,
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
    token: Mutex<Option<String>>,
}

/// A connection, the right to use it, and the login to use it with.
pub(crate) struct Ready<'a> {
    connection: Connection,
    token: Option<String>,
    _permit: SemaphorePermit<'a>,
}

impl Gateway {
    pub(crate) fn new(options: Options, runtime: SharedRuntime) -> Self {
        Self {
            runtime,
            options,
            // Instances that start together need not all begin with the same member.
            current: AtomicUsize::new(std::process::id() as usize),
            idle: Mutex::default(),
            permits: Semaphore::new(MAX_CONNECTIONS),
            token: Mutex::default(),
        }
    }

    /// Everything up to the sending, within a third of the deadline for each connection.
    pub(crate) async fn ready(&self) -> Result<Ready<'_>, Fault> {
        let closed = |_| Failed::NotSent("it is closed".into());
        let permit = self.permits.acquire().await.map_err(closed)?;
        let mut connection = self.connection().await?;
        let mut token = lock(&self.token).clone();
        if let (None, Some(credentials)) = (&token, &self.options.credentials) {
            let login = json!({"name": credentials.user, "password": credentials.password});
            let answer =
                self.exchange(&mut connection, "/v3/auth/authenticate", None, &login).await;
            // A failed login leaves nothing behind that could be in doubt.
            let answer = answer.map_err(|fault| match fault {
                Fault::Transport(Failed::InDoubt(why)) => Fault::Transport(Failed::NotSent(why)),
                Fault::Transport(Failed::NotSent(_)) | Fault::Status { .. } => fault,
            })?;
            token = answer["token"].as_str().map(str::to_owned);
            lock(&self.token).clone_from(&token);
        }
        Ok(Ready { connection, token, _permit: permit })
    }

    /// One request and its whole answer.
    pub(crate) async fn call(
        &self,
        ready: Ready<'_>,
        path: &str,
        body: &Value,
    ) -> Result<Value, Fault> {
        let Ready { mut connection, token, _permit } = ready;
        let answer = self.exchange(&mut connection, path, token.as_deref(), body).await;
        match &answer {
            Err(fault) if fault.has_code(code::UNAUTHENTICATED) => *lock(&self.token) = None,
            Err(Fault::Transport(_) | Fault::Status { .. }) | Ok(_) => {}
        }
        self.keep(connection);
        answer
    }

    /// What may be asked several times: on other members and with a new token, until a member answers or says no.
    pub(crate) async fn ask(&self, path: &str, body: &Value) -> Result<Value, Fault> {
        let attempt = async {
            let ready = self.ready().await?;
            self.call(ready, path, body).await
        };
        let limit = self.patience();
        let answer = within(&*self.runtime, limit, attempt).await;
        let answer = answer.unwrap_or_else(|| {
            self.next_endpoint();
            Err(Failed::InDoubt(format!("no answer within {limit:?}")).into())
        });
        if self.options.credentials.is_some()
            && answer.as_ref().is_err_and(|fault| fault.has_code(code::UNAUTHENTICATED))
        {
            let ready = self.ready().await?;
            return self.call(ready, path, body).await;
        }
        answer
    }

    /// A request whose answer comes piece by piece, on a connection of its own.
    pub(crate) async fn stream(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<(Response<Incoming>, Connection), Fault> {
        let Ready { mut connection, token, _permit } = self.ready().await?;
        let answer = connection.post(path, token.as_deref(), body.to_string().into_bytes()).await?;
        if answer.status().is_success() {
            return Ok((answer, connection));
        }
        let fault = status(&read_all(answer.into_body()).await?);
        if fault.has_code(code::UNAUTHENTICATED) {
            *lock(&self.token) = None;
        }
        Err(fault)
    }

    /// How long one member may take before another one is asked.
    pub(crate) fn patience(&self) -> Duration {
        self.options.deadline / 3
    }

    pub(crate) fn next_endpoint(&self) {
        self.current.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends all waiting for connections; those that stand are closed.
    pub(crate) fn close(&self) {
        self.permits.close();
        lock(&self.idle).clear();
    }

    async fn exchange(
        &self,
        connection: &mut Connection,
        path: &str,
        token: Option<&str>,
        body: &Value,
    ) -> Result<Value, Fault> {
        let answer = self.post(connection, path, token, body).await;
        let is_down = match &answer {
            Err(Fault::Transport(_)) => true,
            Err(fault @ Fault::Status { .. }) => fault.refusal().is_none(),
            Ok(_) => false,
        };
        if is_down && connection.endpoint == self.endpoint() {
            self.next_endpoint();
        }
        answer
    }

    async fn post(
        &self,
        connection: &mut Connection,
        path: &str,
        token: Option<&str>,
        body: &Value,
    ) -> Result<Value, Fault> {
        let answer = connection.post(path, token, body.to_string().into_bytes()).await?;
        let is_good = answer.status().is_success();
        let bytes = read_all(answer.into_body()).await?;
        if !is_good {
            return Err(status(&bytes));
        }
        let odd = |e| Failed::InDoubt(format!("an odd answer: {e}"));
        let value: Value = serde_json::from_slice(&bytes).map_err(odd)?;
        // Streams wrap what they say, good and bad.
        match value.get("error") {
            Some(_) => Err(status(&bytes)),
            None => Ok(value),
        }
    }

    async fn connection(&self) -> Result<Connection, Failed> {
        let index = self.endpoint();
        {
            let mut idle = lock(&self.idle);
            idle.retain(|connection| connection.is_usable() && connection.endpoint == index);
            if let Some(connection) = idle.pop() {
                return Ok(connection);
            }
        }
        let endpoint = &self.options.endpoints[index];
        let roots = self.options.authority.as_deref();
        let patience = self.patience();
        let opened = Connection::open(&self.runtime, index, endpoint, roots, patience).await;
        if opened.is_err() {
            self.next_endpoint();
        }
        opened
    }

    fn endpoint(&self) -> usize {
        self.current.load(Ordering::Relaxed) % self.options.endpoints.len()
    }

    fn keep(&self, connection: Connection) {
        let mut idle = lock(&self.idle);
        if connection.is_usable() && idle.len() < MAX_CONNECTIONS && !self.permits.is_closed() {
            idle.push(connection);
        }
    }
}

/// Members of different age say it in different places.
fn status(bytes: &[u8]) -> Fault {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let places = [&value, &value["error"]];
    let code = places
        .iter()
        .find_map(|place| place["code"].as_i64().or_else(|| place["grpc_code"].as_i64()));
    let message = places
        .iter()
        .find_map(|place| place["message"].as_str().or_else(|| place["error"].as_str()));
    let message = message
        .map(str::to_owned)
        .unwrap_or_else(|| String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned());
    Fault::Status { code: code.unwrap_or(2), message }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_found_wherever_a_member_puts_it() {
        let found = |text: &str| match status(text.as_bytes()) {
            Fault::Status { code, message } => (code, message),
            Fault::Transport(_) => panic!("no status"),
        };
        let lease = (5, "no lease".to_owned());
        assert_eq!(found(r#"{"error":"no lease","code":5}"#), lease);
        assert_eq!(found(r#"{"error":"x","message":"no lease","code":5}"#), lease);
        assert_eq!(found(r#"{"code":5,"message":"no lease","details":[]}"#), lease);
        assert_eq!(
            found(r#"{"error":{"grpc_code":5,"http_code":404,"message":"no lease"}}"#),
            lease
        );
        assert_eq!(found("<html>"), (2, "<html>".to_owned()));
    }
}
