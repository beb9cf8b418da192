//! A change that no single commit can hold: seen whole or not at all, wherever its author is cut off.

use std::sync::Arc;

use pando_kernel::administration::{Administration, Order};
use pando_repository::embedded::{Options, Store};

use crate::faulty::Faulty;
use crate::house::{Seat, administrator, runtime};

/// Tables of the imported database: each is an entry of its own.
const TABLES: usize = 230;

fn document() -> String {
    let mut text = "databaseName: large\ndataSources:\n  ds_0: {url: 'jdbc:sqlite:large.db'}\nrules:\n- !SHARDING\n  tables:\n".to_owned();
    for n in 0..TABLES {
        text += &format!("    t_{n}: {{actualDataNodes: 'ds_0.t_{n}'}}\n");
    }
    text
}

async fn import(seat: &Seat, file: &std::path::Path) -> bool {
    let text = format!("IMPORT DATABASE CONFIGURATION FROM FILE \"{}\"", file.display());
    seat.governor.carry_out(&administrator(""), Order::Statement(&text)).await.is_ok()
}

fn tables(seat: &Seat) -> Vec<usize> {
    let served = seat.house.served.lock().unwrap();
    let count = |served: &pando_governor::Served| {
        let sharding = served.databases.iter().find_map(|own| own.rules.sharding.as_ref());
        sharding.map_or(0, |sharding| sharding.tables.iter().count())
    };
    served.iter().map(count).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn others_see_all_of_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.yaml");
    std::fs::write(&file, document()).unwrap();
    let store = Store::open(&folder.path().join("s"), runtime(), Options::default()).unwrap();
    let author = Seat::at("a", store.instance()).await;
    let other = Seat::at("b", store.instance()).await;
    assert!(import(&author, &file).await);
    let newest = author.checksum();
    other.until(|model| model.checksum() == newest).await;
    for seat in [&author, &other] {
        let seen = tables(seat);
        assert!(seen.iter().all(|count| [0, TABLES].contains(count)), "{seen:?}");
    }
    let late = Seat::at("c", store.instance()).await;
    assert_eq!(late.checksum(), newest);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_author_who_is_cut_off_anywhere_leaves_all_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.yaml");
    std::fs::write(&file, document()).unwrap();
    let (mut nothing, mut all) = (0, 0);
    for step in 1..14 {
        for makes_last in [false, true] {
            let place = folder.path().join(format!("{step}-{makes_last}"));
            let store = Store::open(&place, runtime(), Options::default()).unwrap();
            drop(Seat::at("first", store.instance()).await);
            let inner = store.instance();
            let cut = Arc::new(Faulty { inner, left: usize::MAX.into(), makes_last });
            let author = Seat::at("a", Arc::<Faulty>::clone(&cut)).await;
            cut.left.store(step, std::sync::atomic::Ordering::SeqCst);
            let told = import(&author, &file).await;
            let next = Seat::at("b", store.instance()).await;
            let found = next.governor.model().databases().count();
            assert!(!told || found == 1, "step {step}: told to be stored, and it is not");
            if found == 1 {
                all += 1
            } else {
                nothing += 1
            }
            // Whoever comes next can go on from there.
            let seen = tables(&next);
            assert!(seen.iter().all(|count| [0, TABLES].contains(count)), "{seen:?}");
            let order = Order::CreateDatabase {
                name: "more",
                present: pando_kernel::administration::Unless::Fails,
            };
            next.governor.carry_out(&administrator(""), order).await.unwrap();
            let last = Seat::at("c", store.instance()).await;
            assert_eq!(last.governor.model().databases().count(), found + 1, "step {step}");
            assert_eq!(last.checksum(), next.checksum());
        }
    }
    assert!(nothing > 2 && all > 2, "{nothing} before, {all} after");
}
