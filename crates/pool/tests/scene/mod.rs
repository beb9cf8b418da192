//! A pool over a scripted unit, with virtual time.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "test support functions; no test needs all of them"
)]

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::AtomicU64;
use std::task::Poll;

use pando_fake::{FakeRuntime, Unit};
use pando_kernel::{Event, Execution, Result};
use pando_pool::{Connection, Options, Pool};

pub(crate) type Take = Pin<Box<dyn Future<Output = Result<Connection>> + Send>>;

pub(crate) struct Scene {
    pub(crate) runtime: FakeRuntime,
    pub(crate) unit: Unit,
    pub(crate) pool: Pool,
}

pub(crate) fn scene(options: Options) -> Scene {
    let (runtime, unit) = (FakeRuntime::new(), Unit::new("ds_0"));
    let pool = Pool::new("ds_0", unit.connector(), runtime.handle(), options);
    Scene { runtime, unit, pool }
}

pub(crate) fn at_most(max: usize) -> Options {
    Options { max, ..Options::default() }
}

impl Scene {
    pub(crate) fn take(&self) -> Connection {
        self.runtime.block_on(self.pool.take()).unwrap()
    }

    pub(crate) fn taking(&self) -> Take {
        let pool = self.pool.clone();
        Box::pin(async move { pool.take().await })
    }

    pub(crate) fn taking_further(&self) -> Take {
        let pool = self.pool.clone();
        Box::pin(async move { pool.take_further(&AtomicU64::new(0)).await })
    }

    pub(crate) fn run(&self, connection: &mut Connection, sql: &str) -> Result<()> {
        connection.start(Execution::Text(sql.into()))?;
        self.runtime.block_on(async {
            while !matches!(poll_fn(|cx| connection.poll_event(cx)).await?, Event::Done) {}
            Ok(())
        })
    }

    pub(crate) fn numbers(&self) -> (usize, usize, usize) {
        let statistics = self.pool.statistics();
        (statistics.open, statistics.idle, statistics.waiting)
    }
}

pub(crate) fn expect<T>(poll: Poll<T>) -> T {
    match poll {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("still pending"),
    }
}
