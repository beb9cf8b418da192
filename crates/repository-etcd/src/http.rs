//! HTTP/1.1 with one member: connections, requests, answers of a bounded size.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use pando_kernel::ClientTls;
use pando_kernel::runtime::{Address, SharedRuntime, TlsMode, within};

use crate::options::Endpoint;

/// The largest answer taken: a page of the largest values, as JSON.
pub(crate) const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// A request that got no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failed {
    /// It has not left.
    NotSent(String),
    /// The member may have acted on it.
    InDoubt(String),
}

/// One connection, for one request after the other.
#[derive(Debug)]
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    authority: String,
    /// Which endpoint it leads to.
    pub(crate) endpoint: usize,
}

impl Connection {
    /// Whether another request may be sent.
    pub(crate) fn is_usable(&self) -> bool {
        self.sender.is_ready()
    }

    pub(crate) async fn open(
        runtime: &SharedRuntime,
        index: usize,
        endpoint: &Endpoint,
        roots: Option<&str>,
        limit: Duration,
    ) -> Result<Self, Failed> {
        let opening = async {
            let address = Address::Tcp(endpoint.host.clone(), endpoint.port);
            let mut stream = runtime.connect(&address).await?;
            if endpoint.tls != TlsMode::Off {
                let authority = roots.map(str::to_owned);
                let tls = ClientTls { mode: endpoint.tls, authority, identity: None };
                stream = runtime.secure(stream, &endpoint.host, &tls).await?.stream;
            }
            handshake(TokioIo::new(stream)).await.map_err(std::io::Error::other)
        };
        let failed =
            |why: String| Failed::NotSent(format!("`{}:{}`: {why}", endpoint.host, endpoint.port));
        let (sender, connection) = match within(&**runtime, limit, opening).await {
            Some(Ok(opened)) => opened,
            Some(Err(e)) => return Err(failed(e.to_string())),
            None => return Err(failed(format!("no connection within {limit:?}"))),
        };
        // It ends with the sender, and the request is told why.
        runtime.spawn(Box::pin(async move { drop(connection.await) }));
        let host = &endpoint.host;
        let port = endpoint.port;
        let authority =
            if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        Ok(Self { sender, authority, endpoint: index })
    }

    /// Sends a request and gives the beginning of the answer.
    pub(crate) async fn post(
        &mut self,
        path: &str,
        token: Option<&str>,
        body: Vec<u8>,
    ) -> Result<Response<Incoming>, Failed> {
        let mut request = Request::post(path)
            .header("host", &self.authority)
            .header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", token);
        }
        let request = request.body(Full::new(Bytes::from(body)));
        let request = request.map_err(|e| Failed::NotSent(e.to_string()))?;
        self.sender.try_send_request(request).await.map_err(|mut e| {
            // The request comes back when nothing of it has left.
            let is_unsent = e.take_message().is_some();
            let why = e.error().to_string();
            if is_unsent { Failed::NotSent(why) } else { Failed::InDoubt(why) }
        })
    }
}

/// The whole answer.
pub(crate) async fn read_all(mut body: Incoming) -> Result<Bytes, Failed> {
    let mut all = BytesMut::new();
    while let Some(piece) = next(&mut body).await? {
        all.extend_from_slice(&piece);
        if all.len() > MAX_ANSWER {
            return Err(Failed::InDoubt(format!("an answer of more than {MAX_ANSWER} bytes")));
        }
    }
    Ok(all.freeze())
}

/// The next piece of an answer, which may be empty; `None` at its end.
pub(crate) async fn next(body: &mut Incoming) -> Result<Option<Bytes>, Failed> {
    match body.frame().await {
        None => Ok(None),
        Some(Ok(frame)) => Ok(Some(frame.into_data().unwrap_or_default())),
        Some(Err(e)) => Err(Failed::InDoubt(e.to_string())),
    }
}
