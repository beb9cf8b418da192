//! One watch over the whole namespace: a request whose answer never ends, one line of JSON for each piece of news.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::BytesMut;
use hyper::body::Incoming;
use pando_kernel::runtime::within;
use serde_json::{Value, json};

use crate::gateway::Fault;
use crate::http::{self, Failed, MAX_ANSWER};
use crate::keeper::Shared;
use crate::keys::{Namespace, bytes, encode, number};

const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl Shared {
    /// Runs until it is dropped.
    pub(crate) async fn keep_watching(&self, namespace: &Namespace) {
        let mut pause = PAUSE;
        loop {
            let mut stood = false;
            let renew = self.renew.notified();
            let ended = first(renew, self.one_watch(namespace, &mut stood)).await;
            if stood {
                pause = PAUSE;
            }
            let Some(Err(fault)) = ended else { continue };
            self.speaker.lost();
            tracing::warn!(error = fault.text(), "the watch in etcd has ended");
            self.gateway.next_endpoint();
            self.gateway.runtime.sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            // Whether the session stands is the lease's business.
            self.look.notify_one();
        }
    }

    /// From the beginning of a watch to its end.
    async fn one_watch(&self, namespace: &Namespace, stood: &mut bool) -> Result<(), Fault> {
        let (begin, end) = namespace.range(&pando_repository::Prefix::root());
        let create = json!({"create_request": {
            "key": encode(&begin), "range_end": encode(&end), "fragment": true,
        }});
        // The connection must live as long as its answer.
        let limit = self.gateway.patience();
        let asked = self.gateway.stream("/v3/watch", &create);
        let opened = within(&*self.gateway.runtime, limit, asked).await;
        let late = || Failed::InDoubt("no watch in time".into());
        let (answer, _connection) = opened.ok_or_else(late)??;
        let mut lines = Lines { body: answer.into_body(), buffer: BytesMut::new(), seen: 0 };
        while let Some(line) = lines.next().await? {
            let odd = |e| Failed::InDoubt(format!("an odd line of a watch: {e}"));
            let line: Value = serde_json::from_slice(&line).map_err(odd)?;
            let result = &line["result"];
            if line.get("error").is_some() || result["canceled"].as_bool().unwrap_or(false) {
                return Err(Failed::InDoubt(format!("the watch was ended: {line:.200}")).into());
            }
            self.tell(namespace, result, stood);
        }
        Err(Failed::InDoubt("the watch has ended".into()).into())
    }

    fn tell(&self, namespace: &Namespace, result: &Value, stood: &mut bool) {
        if let Some(revision) = number(&result["header"]["revision"]) {
            self.watched.fetch_max(revision, Ordering::Relaxed);
        }
        if result["created"].as_bool().unwrap_or(false) {
            *stood = true;
            // What happened while there was no watch is not known.
            self.watchers.all_changed();
        }
        for event in result["events"].as_array().into_iter().flatten() {
            match bytes(&event["kv"]["key"]).and_then(|key| namespace.own(&key)) {
                Some(key) => self.watchers.changed(key.as_str()),
                None => self.watchers.all_changed(),
            }
        }
    }
}

/// The lines of an answer.
struct Lines {
    body: Incoming,
    buffer: BytesMut,
    /// So far the buffer has no end of a line.
    seen: usize,
}

impl Lines {
    async fn next(&mut self) -> Result<Option<BytesMut>, Failed> {
        loop {
            let found = self.buffer[self.seen..].iter().position(|byte| *byte == b'\n');
            if let Some(at) = found {
                let line = self.buffer.split_to(self.seen + at + 1);
                self.seen = 0;
                return Ok(Some(line));
            }
            self.seen = self.buffer.len();
            if self.seen > MAX_ANSWER {
                return Err(Failed::InDoubt(format!("a line of more than {MAX_ANSWER} bytes")));
            }
            match http::next(&mut self.body).await? {
                Some(piece) => self.buffer.extend_from_slice(&piece),
                None => return Ok(None),
            }
        }
    }
}

/// The work's answer, or `None` when the other one is done first.
pub(crate) async fn first<T>(
    other: impl Future<Output = ()>,
    work: impl Future<Output = T>,
) -> Option<T> {
    let (mut other, mut work) = (std::pin::pin!(other), std::pin::pin!(work));
    std::future::poll_fn(|cx| {
        if let std::task::Poll::Ready(done) = work.as_mut().poll(cx) {
            return std::task::Poll::Ready(Some(done));
        }
        other.as_mut().poll(cx).map(|()| None)
    })
    .await
}
