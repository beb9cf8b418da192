//! The embedded store passes what every repository passes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests only")]

use std::sync::Arc;

use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_repository::conformance::{self, Relayed, Server, Stand, Tally, Tokio};
use pando_repository::embedded::{Options, Store};
use pando_repository::{Change, Key, Prefix, Repository, Result};

struct Folder {
    store: Store,
    runtime: SharedRuntime,
}

impl Stand for Folder {
    fn instance(&self) -> BoxFuture<'_, Result<Arc<dyn Repository>>> {
        Box::pin(async { Ok(self.store.instance()) })
    }

    fn behind_relay(&self) -> BoxFuture<'_, Option<Result<Relayed>>> {
        Box::pin(async { None })
    }

    fn server(&self) -> Option<&dyn Server> {
        None
    }

    fn runtime(&self) -> SharedRuntime {
        self.runtime.clone()
    }
}

#[test]
fn the_embedded_store_is_a_repository() {
    let folder = tempfile::tempdir().unwrap();
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let runtime = Tokio::shared(&tokio);
    let store = Store::open(folder.path(), runtime.clone(), Options::default()).unwrap();
    let stand = Folder { store, runtime };
    let say = &mut |line| println!("{line}");
    let tally = tokio.block_on(conformance::report(&stand, "embedded", say));
    assert_eq!(tally, Tally { held: 15, failed: 0 });
}

#[test]
fn a_store_opened_again_has_what_was_kept_and_no_session_keys() {
    let folder = tempfile::tempdir().unwrap();
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let runtime = Tokio::shared(&tokio);
    let key = |path| Key::parse(path).unwrap();
    let open = || Store::open(folder.path(), runtime.clone(), Options::default());
    let store = open().unwrap();
    let first = store.instance();
    let change = Change::new().put(&key("/a"), "1").put_for_session(&key("/b"), "2");
    let revision = tokio.block_on(first.commit(change)).unwrap();
    assert!(open().is_err(), "a store in use was opened again");
    drop((store, first));
    let view = tokio.block_on(async {
        let again = open().unwrap().instance();
        again.read(&Prefix::root()).await
    });
    let view = view.unwrap();
    assert_eq!(view.entries.len(), 1);
    assert_eq!(view.entries[&key("/a")].revision, revision);
}
