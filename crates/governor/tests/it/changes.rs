//! One instance: what changes stays, what is refused changes nothing.

use pando_governor::Origin;
use pando_kernel::administration::{Administration, Answer, Order, Unless};
use pando_kernel::error::ErrorKind;
use pando_model::Model;
use pando_repository::embedded::{Options, Store};

use crate::house::{Seat, UNIT, administrator, runtime, told};

fn create(name: &str) -> Order<'_> {
    Order::CreateDatabase { name, present: Unless::Fails }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_made_by_statements_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let before = {
        let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
        let seat = Seat::at("a", store.instance()).await;
        let root = administrator("");
        let done = seat.governor.carry_out(&root, create("shop")).await.unwrap();
        assert_eq!(done, Answer::Done("CREATE DATABASE".into()));
        let done = seat.run("shop", UNIT).await.unwrap();
        assert_eq!(done, Answer::Done("REGISTER STORAGE UNIT".into()));
        seat.run("shop", "CREATE BROADCAST TABLE RULE t_dict").await.unwrap();
        assert_eq!(seat.rows("shop", "SHOW BROADCAST TABLE RULES").await, ["t_dict"]);
        let served = seat.house.served.lock().unwrap();
        let last = served.last().unwrap();
        assert_eq!(last.databases[0].storage_units[0].password.as_ref().unwrap().reveal(), "pw");
        seat.checksum()
    };
    let log = std::fs::read(folder.path().join("configuration.log")).unwrap();
    assert!(!log.windows(2).any(|two| two == b"pw"), "the password can be read in the store");
    let store = free(folder.path()).await;
    let seat = Seat::at("a", store.instance()).await;
    assert_eq!(seat.checksum(), before);
    assert_eq!(seat.rows("shop", "SHOW BROADCAST TABLE RULES").await, ["t_dict"]);
}

/// The store once the governor before it has let go of it: what it was reading when it was dropped comes to an end first.
async fn free(folder: &std::path::Path) -> Store {
    let wait = async {
        loop {
            if let Ok(store) = Store::open(folder, runtime(), Options::default()) {
                return store;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), wait)
        .await
        .expect("it is never let go")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let seat = Seat::at("a", store.instance()).await;
    let root = administrator("shop");
    seat.governor.carry_out(&root, create("shop")).await.unwrap();
    let before = seat.checksum();

    seat.house.silent.lock().unwrap().push("ds_0".into());
    let error = seat.run("shop", UNIT).await.unwrap_err();
    assert_eq!(told(&error).0, 10110, "{error}");
    seat.house.silent.lock().unwrap().clear();

    let mut guest = root.clone();
    guest.is_administrator = false;
    let error = seat.governor.carry_out(&guest, Order::Statement(UNIT)).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::AccessDenied(_)), "{error}");
    guest.databases = Some(vec!["other".into()]);
    let show = Order::Statement("SHOW STORAGE UNITS");
    let error = seat.governor.carry_out(&guest, show).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnknownDatabase(_)), "{error}");

    let mut busy = root.clone();
    busy.in_transaction = true;
    let error = seat.governor.carry_out(&busy, Order::Statement(UNIT)).await.unwrap_err();
    assert!(told(&error).1.contains("inside a transaction"), "{error}");
    assert!(seat.governor.carry_out(&busy, show).await.is_ok());

    let error = seat.governor.carry_out(&root, create("SHOP")).await.unwrap_err();
    assert_eq!(told(&error).0, 1007, "{error}");
    let again = Order::CreateDatabase { name: "shop", present: Unless::Passes };
    seat.governor.carry_out(&root, again).await.unwrap();
    let missing = Order::DropDatabase { name: "nobody", missing: Unless::Passes };
    seat.governor.carry_out(&root, missing).await.unwrap();
    let missing = Order::DropDatabase { name: "nobody", missing: Unless::Fails };
    assert!(seat.governor.carry_out(&root, missing).await.is_err());
    assert!(seat.run("", "SHOW STORAGE UNITS").await.is_err());
    assert!(seat.run("shop", "SHOW STORAGE UNIT").await.is_err());
    assert_eq!(seat.checksum(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_with_a_single_table_in_use_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let seat = Seat::at("a", store.instance()).await;
    seat.governor.carry_out(&administrator(""), create("shop")).await.unwrap();
    seat.run("shop", UNIT).await.unwrap();
    let table = pando_governor::Found { unit: "ds_0".into(), schema: None, table: "t".into() };
    seat.house.tables.lock().unwrap().push(table);
    assert_eq!(seat.rows("shop", "SHOW SINGLE TABLES").await, ["t|ds_0"]);
    let error = seat.run("shop", "UNREGISTER STORAGE UNIT ds_0").await.unwrap_err();
    assert_eq!(told(&error).0, 10103, "{error}");
    seat.run("shop", "UNREGISTER STORAGE UNIT ds_0 IGNORE SINGLE TABLES").await.unwrap();
    assert!(seat.rows("shop", "SHOW STORAGE UNITS").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_with_storage_units_is_exported_and_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let seat = Seat::at("a", store.instance()).await;
    seat.governor.carry_out(&administrator(""), create("shop")).await.unwrap();
    seat.run("shop", UNIT).await.unwrap();
    let export = seat.rows("shop", "EXPORT DATABASE CONFIGURATION").await;
    assert!(export[0].starts_with("databaseName: shop"), "{export:?}");
    let error = seat.run("shop", "MIGRATE TABLE ds_0.t INTO t").await.unwrap_err();
    assert_eq!(told(&error).0, 30001, "{error}");
    let gone = Order::DropDatabase { name: "shop", missing: Unless::Fails };
    seat.governor.carry_out(&administrator("shop"), gone).await.unwrap();
    assert!(seat.run("shop", "SHOW STORAGE UNITS").await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_of_files_is_shown_and_not_changed() {
    let model = Model::default().create_database("shop").unwrap().model;
    let seat = Seat::of_origin("a", Origin::Files, model).await.unwrap();
    assert!(seat.rows("shop", "SHOW STORAGE UNITS").await.is_empty());
    assert_eq!(seat.rows("", "SHOW COMPUTE NODE MODE").await, ["Standalone||"]);
    let error = seat.run("shop", UNIT).await.unwrap_err();
    assert!(told(&error).1.contains("--data"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn locks_labels_and_circuit_breaks_are_kept_and_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let seat = Seat::at("a", store.instance()).await;
    seat.governor.joins("10.0.0.1", 3307).await;
    seat.run("", "LOCK CLUSTER WITH LOCK_STRATEGY(TYPE(NAME='WRITE'))").await.unwrap();
    assert!(seat.run("", "LOCK CLUSTER WITH LOCK_STRATEGY(TYPE(NAME='WRITE'))").await.is_err());
    let status = |rows: &[String]| rows[0].split('|').nth(4).unwrap().to_owned();
    assert_eq!(status(&seat.rows("", "SHOW COMPUTE NODES").await), "READ_ONLY");
    seat.run("", "UNLOCK CLUSTER").await.unwrap();
    assert!(seat.run("", "UNLOCK CLUSTER").await.is_err());
    assert_eq!(status(&seat.rows("", "SHOW COMPUTE NODES").await), "OK");
    seat.run("", "LABEL COMPUTE NODE a WITH x, y").await.unwrap();
    seat.run("", "UNLABEL COMPUTE NODE a WITH x").await.unwrap();
    let info = seat.rows("", "SHOW COMPUTE NODE INFO").await;
    assert!(info[0].starts_with("a|10.0.0.1|3307|OK|Cluster|0|y"), "{info:?}");
    let error = seat.run("", "DISABLE COMPUTE NODE a").await.unwrap_err();
    assert!(told(&error).1.contains("last one"), "{error}");
}
