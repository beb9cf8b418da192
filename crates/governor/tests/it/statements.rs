//! The statements of the grammar table that are neither a model's to change nor to show: each with what it does, and one that is refused.

use pando_distsql::{Category, entries};
use pando_kernel::administration::{Administration, Answer, Errand, Order};
use pando_kernel::two_phase::Verdict;
use pando_repository::embedded::{Options, Store};

use crate::house::{Seat, administrator, runtime, told};

/// What is seen after a statement.
enum Seen {
    /// This question's rows are these.
    Rows(&'static str, &'static [&'static str]),
    /// The statement's own rows begin with this one.
    Answers(&'static str),
    /// The session is sent on this errand.
    Errand(Errand),
}

struct Case {
    entry: &'static str,
    good: &'static str,
    seen: Seen,
    refused: &'static str,
}

const NODES: &str = "SHOW COMPUTE NODES";
const REPLICAS: &str = "SHOW STATUS FROM READWRITE_SPLITTING RULES";

fn case(entry: &'static str, good: &'static str, seen: Seen, refused: &'static str) -> Case {
    Case { entry, good, seen, refused }
}

fn text(text: &str) -> String {
    text.to_owned()
}

// Two instances, by what has been done to the second one.
const BROKEN: &[&str] = &[
    "a|PROXY|127.0.0.1|3307|OK|Cluster|0||1|",
    "b|PROXY|127.0.0.1|3308|CIRCUIT_BREAK|Cluster|1||1|",
];
const WHOLE: &[&str] =
    &["a|PROXY|127.0.0.1|3307|OK|Cluster|0||1|", "b|PROXY|127.0.0.1|3308|OK|Cluster|1||1|"];
const LABELLED: &[&str] =
    &["a|PROXY|127.0.0.1|3307|OK|Cluster|0||1|", "b|PROXY|127.0.0.1|3308|OK|Cluster|1|x,y|1|"];
const LEFT: &[&str] =
    &["a|PROXY|127.0.0.1|3307|OK|Cluster|0||1|", "b|PROXY|127.0.0.1|3308|OK|Cluster|1|y|1|"];
const LOCKED: &[&str] = &[
    "a|PROXY|127.0.0.1|3307|READ_ONLY|Cluster|0||1|",
    "b|PROXY|127.0.0.1|3308|READ_ONLY|Cluster|1||1|",
];

/// In the order in which they are run at instance `a` of two.
fn cases() -> Vec<Case> {
    of_instances().into_iter().chain(of_units()).chain(of_transactions()).collect()
}

fn of_instances() -> Vec<Case> {
    use Seen::{Answers, Rows};
    vec![
        case(
            "ENABLE COMPUTE NODE",
            "DISABLE COMPUTE NODE b",
            Rows(NODES, BROKEN),
            "DISABLE COMPUTE NODE c",
        ),
        case(
            "ENABLE INSTANCE",
            "ENABLE INSTANCE IP=127.0.0.1, PORT=3308",
            Rows(NODES, WHOLE),
            "ENABLE INSTANCE IP=127.0.0.1, PORT=1",
        ),
        case(
            "LABEL COMPUTE NODE",
            "LABEL COMPUTE NODE b WITH x, y",
            Rows(NODES, LABELLED),
            "LABEL COMPUTE NODE c WITH x",
        ),
        case(
            "UNLABEL COMPUTE NODE",
            "UNLABEL COMPUTE NODE b WITH x",
            Rows(NODES, LEFT),
            "UNLABEL COMPUTE NODE c",
        ),
        case("LABEL INSTANCE", "UNLABEL INSTANCE b", Rows(NODES, WHOLE), "LABEL INSTANCE c WITH x"),
        // Nothing of an instance is to be set: worker ids are leased.
        case(
            "ALTER COMPUTE NODE",
            NODES,
            Answers(WHOLE[0]),
            "ALTER COMPUTE NODE b SET worker_id = 0",
        ),
    ]
}

fn of_units() -> Vec<Case> {
    use Seen::{Answers, Errand as Sent, Rows};
    vec![
        case(
            "ALTER READWRITE_SPLITTING RULE ENABLE",
            "ALTER READWRITE_SPLITTING RULE g DISABLE r",
            Rows(REPLICAS, &["g|r|DISABLED"]),
            "ALTER READWRITE_SPLITTING RULE g DISABLE w",
        ),
        case(
            "ENABLE READWRITE_SPLITTING",
            "ENABLE READWRITE_SPLITTING READ r",
            Rows(REPLICAS, &["g|r|ENABLED"]),
            "ENABLE READWRITE_SPLITTING READ nobody",
        ),
        case(
            "ENABLE STORAGE UNIT",
            "DISABLE STORAGE UNIT r",
            Rows("SHOW STATUS FROM STORAGE UNITS", &["r|||DISABLED|||"]),
            "DISABLE STORAGE UNIT nobody",
        ),
        case(
            "SHOW STATUS FROM STORAGE UNITS",
            "SHOW STATUS FROM STORAGE UNITS",
            Answers("r|||DISABLED|||"),
            "SHOW STATUS FROM STORAGE UNITS FROM nowhere",
        ),
        case(
            "SHOW STATUS FROM LIMIT RULES",
            "SHOW STATUS FROM LIMIT RULES FROM shop",
            Answers("Limits"),
            "SHOW STATUS FROM LIMIT RULES FROM nowhere",
        ),
        case(
            "SHOW STATUS FROM CIRCUIT BREAKERS",
            "SHOW STATUS FROM CIRCUIT BREAKERS",
            Answers("CircuitBreakers"),
            "SHOW STATUS FROM CIRCUIT BREAKERS FROM nowhere",
        ),
        case(
            "SHOW STATUS FROM ENCRYPT TABLES",
            "SHOW STATUS FROM ENCRYPT TABLES",
            Rows("SHOW STATUS FROM ENCRYPT TABLES", &["t_card|PLAIN|WAITING||||||||"]),
            "SHOW STATUS FROM ENCRYPT TABLES FROM nowhere",
        ),
        case(
            "SHOW STATUS FROM MIRROR RULES",
            "SHOW STATUS FROM MIRROR RULES",
            Answers("Mirrors"),
            "SHOW STATUS FROM MIRROR RULES FROM nowhere",
        ),
        case(
            "SHOW DIFFERENCES FROM MIRROR RULES",
            "SHOW DIFFERENCES FROM MIRROR RULES FROM shop",
            Answers("MirrorDifferences"),
            "SHOW DIFFERENCES FROM MIRROR RULES FROM nowhere",
        ),
        case(
            "REFRESH DATABASE METADATA",
            "FORCE REFRESH DATABASE METADATA shop",
            Answers(""),
            "REFRESH DATABASE METADATA nowhere",
        ),
        case(
            "REFRESH TABLE METADATA",
            "REFRESH TABLE METADATA t",
            Sent(Errand::ForgetTables),
            "REFRESH TABLE METADATA t FROM STORAGE UNIT nobody",
        ),
        case(
            "SHOW TABLE METADATA",
            "SHOW TABLE METADATA t, u",
            Sent(Errand::ShowTables { database: None, tables: vec![text("t"), text("u")] }),
            "SHOW TABLE METADATA t FROM nowhere",
        ),
        case(
            "LOCK CLUSTER",
            "LOCK CLUSTER WITH WRITE",
            Rows(NODES, LOCKED),
            "LOCK CLUSTER WITH WRITE",
        ),
        case("UNLOCK CLUSTER", "UNLOCK CLUSTER", Rows(NODES, WHOLE), "UNLOCK CLUSTER"),
        case("PARSE", "PARSE SELECT 1", Sent(Errand::Parse(text("SELECT 1"))), "PARSE"),
        case("FORMAT", "FORMAT SELECT 1", Sent(Errand::Format(text("SELECT 1"))), "FORMAT"),
        case(
            "HELP DISTSQL",
            "HELP DISTSQL LIKE 'UNLOCK%'",
            Answers(
                "UNLOCK CLUSTER|RAL|current|UNLOCK CLUSTER [TIMEOUT timeout]|Ends LOCK CLUSTER.",
            ),
            "HELP DISTSQL LIKE",
        ),
    ]
}

/// Those that only a session can answer, as it has the transactions.
fn of_transactions() -> Vec<Case> {
    use Seen::Errand as Sent;
    vec![
        case(
            "SHOW IN DOUBT TRANSACTIONS",
            "SHOW IN DOUBT TRANSACTIONS",
            Sent(Errand::ShowInDoubt),
            "SHOW IN DOUBT",
        ),
        case(
            "SHOW TRANSACTION STATUS",
            "SHOW TRANSACTION STATUS",
            Sent(Errand::ShowTransactionStatus),
            "SHOW TRANSACTION STATUS t",
        ),
        case(
            "RESOLVE IN DOUBT TRANSACTION",
            "RESOLVE IN DOUBT TRANSACTION 'pando-a-b-1-2' COMMIT",
            Sent(Errand::Resolve { global: text("pando-a-b-1-2"), verdict: Verdict::Commit }),
            "RESOLVE IN DOUBT TRANSACTION 'pando-a-b-1-2'",
        ),
    ]
}

const GROUP: &str = "
databaseName: shop
dataSources:
  w: {url: 'jdbc:mysql://h/w', username: u}
  r: {url: 'jdbc:mysql://h/r', username: u}
rules:
- !READWRITE_SPLITTING
  dataSourceGroups:
    g: {writeDataSourceName: w, readDataSourceNames: [r]}
- !ENCRYPT
  tables:
    t_card:
      columns: {number: {plain: number, cipher: {name: number_cipher, encryptorName: aes}}}
      queryWithCipherColumn: false
      stage: WAITING
  encryptors: {aes: {type: AES, props: {aes-key-value: k}}}
";

async fn two(store: &Store) -> [Seat; 2] {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.yaml");
    std::fs::write(&file, GROUP).unwrap();
    let first = Seat::at("a", store.instance()).await;
    first.governor.joins("127.0.0.1", 3307).await;
    let import = format!("IMPORT DATABASE CONFIGURATION FROM FILE '{}'", file.display());
    first.run("shop", &import).await.unwrap();
    let second = Seat::at("b", store.instance()).await;
    second.governor.joins("127.0.0.1", 3308).await;
    let newest = first.checksum();
    second.until(|model| model.checksum() == newest).await;
    // Before the second one was there, the first cannot tell it.
    let wait = async {
        while first.rows("", NODES).await.len() < 2 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), wait).await.expect("it never joins");
    [first, second]
}

async fn check(seat: &Seat, case: &Case) {
    let Case { entry, good, seen, refused } = case;
    let caller = administrator("shop");
    let answer = seat.governor.carry_out(&caller, Order::Statement(good)).await;
    let answer = answer.unwrap_or_else(|error| panic!("{entry}: {good}: {error}"));
    if let Answer::Rows { labels, .. } = &answer {
        assert_eq!(seat.governor.labels(&caller, good).unwrap().as_ref(), Some(labels), "{good}");
    }
    match seen {
        Seen::Rows(question, rows) => {
            assert_eq!(&seat.rows("shop", question).await, rows, "{good}")
        }
        Seen::Answers("") => assert!(matches!(answer, Answer::Done(_))),
        Seen::Answers(first) => assert_eq!(seat.rows("shop", good).await[0], *first, "{good}"),
        Seen::Errand(errand) => assert_eq!(answer, Answer::Errand(errand.clone()), "{good}"),
    }
    let outcome = seat.governor.carry_out(&caller, Order::Statement(refused)).await;
    assert!(outcome.is_err(), "{entry}: {refused}: {outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_does_what_it_says_and_refuses_what_it_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let [first, _second] = two(&store).await;
    for case in cases() {
        check(&first, &case).await;
    }
}

/// What a room brings is taken from clients, named in answers, helped with and kept as the table's own statements are.
#[tokio::test(flavor = "multi_thread")]
async fn statements_about_rules_that_a_room_brings_are_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), runtime(), Options::default()).unwrap();
    let [first, second] = two(&store).await;
    let (governor, caller) = (&first.governor, administrator("shop"));
    let takes = |text: &str| governor.takes(text, &pando_fake::BACKTICK);
    for text in
        ["create zoo_animal rule t_ape, t_bat", "SHOW ZOO_ANIMAL RULES", "DROP ZOO_ANIMAL x"]
    {
        assert!(takes(text), "{text}");
    }
    assert!(!takes("SHOW zoo_animal"), "a setting of PostgreSQL");
    let done = first.run("shop", "create zoo_animal rule t_ape, t_bat").await.unwrap();
    assert_eq!(done, Answer::Done("CREATE ZOO_ANIMAL RULE".into()));
    let labels = governor.labels(&caller, "SHOW ZOO_ANIMAL RULES").unwrap();
    assert_eq!(labels, Some(vec!["table_name".to_owned()]));
    let newest = first.checksum();
    second.until(|model| model.checksum() == newest).await;
    assert_eq!(second.rows("shop", "SHOW ZOO_ANIMAL RULES").await, ["t_ape", "t_bat"]);
    let help = first.rows("shop", "HELP DISTSQL LIKE '%ZOO_ANIMAL RULE'").await;
    assert_eq!(help.len(), 3, "{help:?}");
    let twice = first.run("shop", "CREATE ZOO_ANIMAL RULE T_BAT").await.unwrap_err();
    assert_eq!(told(&twice).0, 10204);
}

/// Those that change or show a model have their cases beside it (`crates/model/cases`, whose test keeps the list of the others), and PREVIEW is the session's.
#[test]
fn none_is_left_out() {
    let cases = cases();
    let has = |name: &str| cases.iter().any(|case| case.entry == name);
    for case in &cases {
        assert!(entries().any(|entry| entry.name == case.entry), "{}", case.entry);
    }
    let utilities = entries().filter(|entry| matches!(entry.category, Category::Rul));
    for entry in utilities.filter(|entry| entry.name != "PREVIEW") {
        assert!(has(entry.name), "{} has no case", entry.name);
    }
    let readme = include_str!("../../../model/README.md");
    let elsewhere = readme.split("## What is not here").nth(1).unwrap();
    let elsewhere = elsewhere.split("and all of RUL").next().unwrap();
    let administration = entries().filter(|entry| matches!(entry.category, Category::Ral));
    // Named there for the one variable that is a session's.
    let administration = administration.filter(|entry| entry.name != "SET DIST VARIABLE");
    for entry in administration.filter(|entry| elsewhere.contains(entry.name)) {
        assert!(has(entry.name), "{} has no case", entry.name);
    }
}
