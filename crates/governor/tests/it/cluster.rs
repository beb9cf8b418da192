//! Several instances over one store.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pando_governor::Origin;
use pando_kernel::administration::{Administration, Order, Unless};
use pando_model::Model;
use pando_repository::embedded::{Options, Store};
use pando_repository::{Change, Prefix};

use crate::faulty::Restored;
use crate::house::{Seat, UNIT, administrator, runtime, told};

#[tokio::test(flavor = "multi_thread")]
async fn what_one_changes_all_serve() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let mut seats = Vec::new();
    for id in ["a", "b", "c"] {
        let seat = Seat::at(id, store.instance()).await;
        seat.governor.joins("127.0.0.1", 1000).await;
        seats.push(seat);
    }
    let [first, second, third] = &seats[..] else { panic!() };
    let order = Order::CreateDatabase { name: "shop", present: Unless::Fails };
    first.governor.carry_out(&administrator(""), order).await.unwrap();
    second.until(|model| model.databases().any(|name| name == "shop")).await;
    second.run("shop", UNIT).await.unwrap();
    let newest = second.checksum();
    for seat in [first, third] {
        seat.until(|model| model.checksum() == newest).await;
        assert_eq!(seat.rows("shop", "SHOW STORAGE UNITS").await.len(), 1);
    }
    let nodes = third.rows("", "SHOW COMPUTE NODES").await;
    assert_eq!(nodes.len(), 3);
    let workers: BTreeSet<&str> =
        nodes.iter().map(|node| node.split('|').nth(6).unwrap()).collect();
    assert_eq!(workers, BTreeSet::from(["0", "1", "2"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn changes_of_all_at_once_all_stand() {
    const EACH: usize = 8;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let mut tasks = Vec::new();
    for id in ["a", "b"] {
        let seat = Seat::at(id, store.instance()).await;
        tasks.push(tokio::spawn(async move {
            let mut made = BTreeSet::new();
            for n in 0..EACH {
                let name = format!("{id}_{n}");
                let order = Order::CreateDatabase { name: &name, present: Unless::Fails };
                // A change that others kept overtaking may say so, but not be made.
                match seat.governor.carry_out(&administrator(""), order).await {
                    Ok(_) => drop(made.insert(name)),
                    Err(error) => assert!(error.to_string().contains("came first"), "{error}"),
                }
            }
            (seat, made)
        }));
    }
    let mut all = BTreeSet::new();
    let mut seats = Vec::new();
    for task in tasks {
        let (seat, made) = task.await.unwrap();
        all.extend(made);
        seats.push(seat);
    }
    assert!(all.len() > EACH, "{all:?}");
    for seat in &seats {
        seat.until(|model| model.databases().map(str::to_owned).collect::<BTreeSet<_>>() == all)
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cannot_read_the_repository_serves_on_refuses_changes_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let repository = std::sync::Arc::new(crate::faulty::Faulty {
        inner: store.instance(),
        left: usize::MAX.into(),
        makes_last: false,
    });
    let other = Seat::at("b", store.instance()).await;
    let seat = Seat::at("a", std::sync::Arc::<crate::faulty::Faulty>::clone(&repository)).await;
    seat.governor.joins("127.0.0.1", 1).await;
    repository.left.store(0, std::sync::atomic::Ordering::SeqCst);
    let order = Order::CreateDatabase { name: "late", present: Unless::Fails };
    let error = seat.governor.carry_out(&administrator(""), order).await.unwrap_err();
    assert!(error.to_string().contains("does not answer"), "{error}");
    other.governor.carry_out(&administrator(""), order).await.unwrap();
    let wait = async {
        while !seat.rows("", "SHOW COMPUTE NODE INFO").await[0].contains("BEHIND") {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), wait).await.expect("it never says so");
    assert_eq!(seat.governor.model().databases().count(), 0);
    repository.left.store(usize::MAX, std::sync::atomic::Ordering::SeqCst);
    seat.until(|model| model.databases().eq(["late"])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_of_a_thing_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let seat = Seat::at("a", store.instance()).await;
    let create = || Order::CreateDatabase { name: "shop", present: Unless::Fails };
    let unit = |name: &str| UNIT.replace("ds_0", name);
    let group = |write: &str, read: &str| {
        format!(
            "READWRITE_SPLITTING RULE g(WRITE_STORAGE_UNIT={write}, READ_STORAGE_UNITS({read}))"
        )
    };
    seat.governor.carry_out(&administrator(""), create()).await.unwrap();
    for name in ["w", "r", "x"] {
        seat.run("shop", &unit(name)).await.unwrap();
    }
    seat.run("shop", &format!("CREATE {}", group("w", "r"))).await.unwrap();
    let say = async || {
        seat.run("shop", "DISABLE STORAGE UNIT x").await.unwrap();
        seat.run("shop", "ALTER READWRITE_SPLITTING RULE g DISABLE r").await.unwrap();
        seat.governor.keeper().keep("shop", "g", "primary r\n").await.unwrap();
        seat.run("", "REFRESH DATABASE METADATA").await.unwrap();
    };
    let said = || {
        let cluster = seat.governor.cluster();
        (cluster.units.len(), cluster.replicas.len(), cluster.memories.len())
    };
    say().await;
    let other = Order::CreateDatabase { name: "bank", present: Unless::Fails };
    seat.governor.carry_out(&administrator(""), other).await.unwrap();
    assert_eq!(said(), (1, 1, 1), "another change is none of theirs");
    seat.run("shop", "UNREGISTER STORAGE UNIT x").await.unwrap();
    assert_eq!(said(), (0, 1, 1));
    seat.run("shop", &format!("ALTER {}", group("r", "w"))).await.unwrap();
    assert_eq!(said(), (0, 0, 0), "another primary, and no replica `r`");
    seat.run("shop", &unit("x")).await.unwrap();
    seat.run("shop", &format!("ALTER {}", group("w", "r"))).await.unwrap();
    say().await;
    assert_eq!(said(), (1, 1, 1));
    let drop = Order::DropDatabase { name: "shop", missing: Unless::Fails };
    seat.governor.carry_out(&administrator(""), drop).await.unwrap();
    seat.governor.carry_out(&administrator(""), create()).await.unwrap();
    assert_eq!(said(), (0, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_emptied_repository_empties_no_instance_and_is_not_filled_by_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let seat = Seat::at("a", store.instance()).await;
    for name in ["shop", "bank"] {
        let create = Order::CreateDatabase { name, present: Unless::Fails };
        seat.governor.carry_out(&administrator(""), create).await.unwrap();
    }
    let by_hand = store.instance();
    let view = by_hand.read(&Prefix::root()).await.unwrap();
    let empty = view.entries.keys().fold(Change::new(), |change, key| change.delete(key));
    by_hand.commit(empty).await.unwrap();
    let create = Order::CreateDatabase { name: "third", present: Unless::Fails };
    for order in [create, Order::Statement("REFRESH DATABASE METADATA")] {
        let error = seat.governor.carry_out(&administrator("shop"), order).await.unwrap_err();
        assert!(error.to_string().contains("lost its configuration"), "{error}");
        assert_eq!(seat.governor.model().databases().count(), 2);
    }
    assert!(by_hand.read(&Prefix::root()).await.unwrap().entries.is_empty());
    let back = |(key, entry): (&pando_repository::Key, &pando_repository::Entry)| {
        Change::new().put(key, entry.value.clone())
    };
    for change in view.entries.iter().map(back) {
        by_hand.commit(change).await.unwrap();
    }
    let create = Order::CreateDatabase { name: "third", present: Unless::Fails };
    seat.governor.carry_out(&administrator(""), create).await.unwrap();
    assert_eq!(seat.governor.model().databases().count(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stranger_has_written_is_not_served() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let seat = Seat::at("a", store.instance()).await;
    let create = |name| Order::CreateDatabase { name, present: Unless::Fails };
    for name in ["shop", "bank"] {
        seat.governor.carry_out(&administrator(""), create(name)).await.unwrap();
    }
    let by_hand = store.instance();
    let good = by_hand.read(&Prefix::root()).await.unwrap();
    let key = |path: &str| pando_repository::Key::parse(path).unwrap();
    let version = &good.entries.get(&key("/version")).unwrap().value;
    let version = String::from_utf8(version.to_vec()).unwrap();
    let admin = "users:\n- user: evil@%\n  password: evil\n  admin: true\n";
    let attempts = [
        Change::new().put(&key("/rules/authority"), admin),
        Change::new().put(&key("/metadata/other"), ""),
        Change::new().delete(&key("/metadata/shop")),
        Change::new().put(&key("/version"), "1 me"),
        Change::new().put(&key("/version"), format!("{}9", version)),
        Change::new().put(&key("/version"), version.replacen('2', "7", 1)),
        Change::new().put(&key("/version"), "18446744073709551615 me"),
    ];
    for (number, attempt) in attempts.into_iter().enumerate() {
        by_hand.commit(attempt).await.unwrap();
        let error = seat.governor.carry_out(&administrator(""), create("third")).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains("somebody else has changed"), "{number}: {error}");
        let served: Vec<String> = seat.governor.model().databases().map(str::to_owned).collect();
        assert_eq!(served, ["bank", "shop"]);
        let begun = Seat::of_origin("b", Seat::origin(store.instance()), Model::default()).await;
        let error = begun.map(drop).unwrap_err();
        assert!(error.to_string().contains("trustUnmarked"), "{number}: {error}");
        let now = by_hand.read(&Prefix::root()).await.unwrap();
        let others = now.entries.keys().filter(|own| !good.entries.contains_key(own));
        let back = others.fold(Change::new(), |change, key| change.delete(key));
        let own = good.entries.iter().filter(|(key, _)| !key.as_str().starts_with("/nodes"));
        let own = own.filter(|(key, _)| !key.as_str().starts_with("/reservation"));
        let back = own.fold(back, |change, (key, entry)| change.put(key, entry.value.clone()));
        by_hand.commit(back).await.unwrap();
    }
    seat.governor.carry_out(&administrator(""), create("third")).await.unwrap();
    assert_eq!(seat.governor.model().databases().count(), 3);
    // What was right once is not right again.
    let third = key("/metadata/third");
    let back = Change::new().delete(&third).put(&key("/version"), version);
    by_hand.commit(back).await.unwrap();
    let error = seat.governor.carry_out(&administrator(""), create("fourth")).await.unwrap_err();
    assert!(error.to_string().contains("an earlier one"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_trusts_what_is_unmarked_marks_it_with_the_next_change() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let create = |name| Order::CreateDatabase { name, present: Unless::Fails };
    let trusting = || match Seat::origin(store.instance()) {
        Origin::Repository { repository, told, is_shared, secrets, .. } => {
            Origin::Repository { repository, told, is_shared, is_trusted: true, secrets }
        }
        Origin::Files => Origin::Files,
    };
    Seat::at("a", store.instance()).await;
    let by_hand = store.instance();
    let key = pando_repository::Key::parse("/version").unwrap();
    by_hand.commit(Change::new().put(&key, "1 me")).await.unwrap();
    let seat = Seat::of_origin("b", trusting(), Model::default()).await.unwrap();
    seat.governor.carry_out(&administrator(""), create("shop")).await.unwrap();
    let seat = Seat::at("c", store.instance()).await;
    assert_eq!(seat.governor.model().databases().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storage_unit_does_not_go_while_a_transaction_is_in_doubt_there() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let seat = Seat::at("a", store.instance()).await;
    let create = Order::CreateDatabase { name: "shop", present: Unless::Fails };
    seat.governor.carry_out(&administrator(""), create).await.unwrap();
    seat.run("shop", UNIT).await.unwrap();
    let doubt = ("pando-a-b-1-2".to_owned(), "ds_0".to_owned());
    *seat.house.doubts.lock().unwrap() = vec![doubt];
    let error = seat.run("shop", "UNREGISTER STORAGE UNIT ds_0").await.unwrap_err();
    let (number, text) = told(&error);
    assert!(number == 17014 && text.contains("`pando-a-b-1-2` is in doubt"), "{number}: {text}");
    let drop = || Order::DropDatabase { name: "shop", missing: Unless::Fails };
    let error = seat.governor.carry_out(&administrator(""), drop()).await.unwrap_err();
    assert_eq!(told(&error).0, 17014);
    assert_eq!(seat.governor.model().databases().count(), 1);
    // It waits for what ends by itself.
    let later = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        seat.house.doubts.lock().unwrap().clear();
    };
    let caller = administrator("");
    let (dropped, ()) = tokio::join!(seat.governor.carry_out(&caller, drop()), later);
    dropped.unwrap();
    assert_eq!(seat.governor.model().databases().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_without_a_version_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let by_hand = store.instance();
    let key = pando_repository::Key::parse("/metadata/shop/versions/0").unwrap();
    by_hand.commit(Change::new().put(&key, "of somebody else")).await.unwrap();
    let origin = Seat::origin(store.instance());
    let error = Seat::of_origin("a", origin, Model::default()).await.map(drop).unwrap_err();
    assert!(error.to_string().contains("is not Pando's"), "{error}");
    assert_eq!(by_hand.read(&Prefix::root()).await.unwrap().entries.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_copy_is_not_written_over_with_what_is_served() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [inner, copy] = folders.each_ref().map(|folder| {
        Store::open(folder.path(), runtime(), Options::default()).unwrap().instance()
    });
    let copied = Seat::at("b", Arc::clone(&copy)).await;
    let create = |name| Order::CreateDatabase { name, present: Unless::Fails };
    copied.governor.carry_out(&administrator(""), create("old")).await.unwrap();
    let restored = Restored { inner, copy, is_restored: AtomicBool::new(false) };
    let restored = Arc::new(restored);
    let seat = Seat::at("a", Arc::<Restored>::clone(&restored)).await;
    for name in ["old", "shop", "bank"] {
        seat.governor.carry_out(&administrator(""), create(name)).await.unwrap();
    }
    restored.is_restored.store(true, Ordering::SeqCst);
    let error = seat.governor.carry_out(&administrator(""), create("new")).await.unwrap_err();
    assert!(error.to_string().contains("as it was earlier"), "{error}");
    let served: Vec<String> = seat.governor.model().databases().map(str::to_owned).collect();
    assert_eq!(served, ["bank", "old", "shop"]);
    copied.governor.carry_out(&administrator(""), create("after")).await.unwrap();
    assert_eq!(copied.governor.model().databases().collect::<Vec<_>>(), ["after", "old"]);
}
