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
async fn a_replica_outside_of_its_group_keeps_no_table_and_goes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let seat = Seat::at("a", store.instance()).await;
    seat.governor.carry_out(&administrator(""), create("shop")).await.unwrap();
    seat.run("shop", UNIT).await.unwrap();
    for unit in ["r0", "r1"] {
        let text = format!("REGISTER STORAGE UNIT {unit}(URL='jdbc:mysql://h/{unit}', USER='u')");
        seat.run("shop", &text).await.unwrap();
    }
    let group = "READWRITE_SPLITTING RULE g(WRITE_STORAGE_UNIT=ds_0, READ_STORAGE_UNITS";
    seat.run("shop", &format!("CREATE {group}(r0, r1))")).await.unwrap();
    for unit in ["ds_0", "r0", "r1"] {
        let table = pando_governor::Found { unit: unit.into(), schema: None, table: "t".into() };
        seat.house.tables.lock().unwrap().push(table);
    }
    assert_eq!(seat.rows("shop", "SHOW SINGLE TABLES").await, ["t|g"]);
    seat.run("shop", &format!("ALTER {group}(r0))")).await.unwrap();
    assert_eq!(seat.rows("shop", "SHOW SINGLE TABLES").await, ["t|g"]);
    seat.run("shop", "UNREGISTER STORAGE UNIT r1").await.unwrap();
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

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_cluster_keeps_its_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let seat = Seat::at("a", store.instance()).await;
    let root = administrator("");
    seat.governor.carry_out(&root, create("shop")).await.unwrap();
    let backup = seat.rows("", "EXPORT METADATA").await;
    let backup = backup[0].rsplit('|').next().unwrap().to_owned();
    for lock in ["WRITE", "READ_WRITE"] {
        seat.run("", &format!("LOCK CLUSTER WITH {lock}")).await.unwrap();
        let before = seat.checksum();
        for change in [UNIT, "CREATE BROADCAST TABLE RULE t", "SET DIST VARIABLE sql_show = true"] {
            let error = seat.run("shop", change).await.unwrap_err();
            assert!(error.to_string().contains("locked"), "{change}: {error}");
        }
        assert!(seat.governor.carry_out(&root, create("other")).await.is_err());
        assert_eq!(seat.checksum(), before);
        seat.run("", &format!("IMPORT METADATA '{backup}'")).await.unwrap();
        seat.run("", "UNLOCK CLUSTER").await.unwrap();
    }
    seat.run("shop", UNIT).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_of_the_other_family_is_registered_at_its_own_door() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let seat = Seat::at("a", store.instance()).await;
    seat.governor.carry_out(&administrator(""), create("shop")).await.unwrap();
    let foreign = "REGISTER STORAGE UNIT ds_0(URL='jdbc:postgresql://h/d', USER='u')";
    let error = seat.run("shop", foreign).await.unwrap_err();
    assert!(told(&error).1.contains("through Pando's postgres port only"), "{error}");
    let mut caller = administrator("shop");
    caller.family = "postgres";
    seat.governor.carry_out(&caller, Order::Statement(foreign)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refreshed_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let seat = Seat::at("a", store.instance()).await;
    seat.governor.carry_out(&administrator(""), create("shop")).await.unwrap();
    seat.run("shop", UNIT).await.unwrap();
    for there in
        ["REFRESH TABLE METADATA FROM STORAGE UNIT ds_0", "FORCE REFRESH DATABASE METADATA shop"]
    {
        seat.run("shop", there).await.unwrap();
    }
    for missing in
        ["REFRESH TABLE METADATA FROM RESOURCE ds_9", "REFRESH DATABASE METADATA nowhere"]
    {
        let error = seat.run("shop", missing).await.unwrap_err();
        assert!(
            error.to_string().contains('9') || error.to_string().contains("nowhere"),
            "{error}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_are_called_at_their_end_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let seat = Seat::at("a", store.instance()).await;
    seat.governor.joins("10.0.0.1", 3307).await;
    seat.governor.carry_out(&administrator(""), create("shop")).await.unwrap();
    seat.run("shop", UNIT).await.unwrap();
    for (text, name) in [
        ("disable storage unit ds_0", "DISABLE STORAGE UNIT"),
        ("ENABLE STORAGE UNIT ds_0;", "ENABLE STORAGE UNIT"),
        ("/* why */ ENABLE STORAGE UNIT ds_0", "ENABLE STORAGE UNIT"),
        ("RELABEL COMPUTE NODE a WITH x", "RELABEL COMPUTE NODE"),
        ("UNLABEL INSTANCE a", "UNLABEL INSTANCE"),
        ("ALTER DEFAULT SINGLE TABLE RULE RESOURCE = ds_0", "ALTER DEFAULT SINGLE TABLE RULE"),
        ("DROP DEFAULT SINGLE TABLE RULE", "DROP DEFAULT SINGLE TABLE RULE"),
    ] {
        assert_eq!(seat.run("shop", text).await.unwrap(), Answer::Done(name.into()), "{text}");
    }
}
