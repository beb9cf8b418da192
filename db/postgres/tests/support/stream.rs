//! A connection whose server is the test itself.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::BytesMut;
use pando_kernel::runtime::{Address, BoxFuture, Runtime, SharedRuntime, Stream};
use pando_kernel::{Backend, Channel, ClientTls, Connector, Secured};
use pando_postgres::codec::backend::{Authentication, KeyData, ReadyForQuery, Status};
use pando_postgres::{Options, PostgresConnector};
use tokio::io::{AsyncWriteExt, DuplexStream};

/// Hands out one prepared stream, and for TLS that changes nothing tells what it was given.
#[derive(Debug)]
struct OneStream(Mutex<Option<DuplexStream>>, Channel);

impl Runtime for OneStream {
    fn connect<'a>(&'a self, _: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        let stream = self.0.lock().unwrap().take();
        Box::pin(async { Ok(Box::new(stream.expect("one connection")) as Box<dyn Stream>) })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }

    fn secure<'a>(
        &'a self,
        stream: Box<dyn Stream>,
        _: &'a str,
        _: &'a ClientTls,
    ) -> BoxFuture<'a, io::Result<Secured>> {
        let channel = self.1.clone();
        Box::pin(async { Ok(Secured { stream, channel }) })
    }
}

/// A runtime with the one stream it has, and that stream's other end.
pub(crate) fn pair() -> (SharedRuntime, DuplexStream) {
    pair_over(Channel::default())
}

/// The same, where TLS tells this of the channel.
pub(crate) fn pair_over(channel: Channel) -> (SharedRuntime, DuplexStream) {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    (Arc::new(OneStream(Mutex::new(Some(ours)), channel)), theirs)
}

/// A connection that is logged in, and its server's end.
pub(crate) async fn connected() -> (Box<dyn Backend>, DuplexStream) {
    let (runtime, mut far) = pair();
    let mut welcome = BytesMut::new();
    Authentication::Ok.encode(&mut welcome);
    KeyData { process: 1, key: &[0, 0, 0, 1] }.encode(&mut welcome);
    ReadyForQuery(Status::Idle).encode(&mut welcome);
    // To the statement that has memory kept.
    ReadyForQuery(Status::Idle).encode(&mut welcome);
    far.write_all(&welcome).await.unwrap();
    let address = Address::Tcp("unit".into(), 5432);
    let options = Options::new("ds_0", address, "test", "test", "test");
    let backend = PostgresConnector::new(options).connect(&runtime).await.unwrap();
    (backend, far)
}
