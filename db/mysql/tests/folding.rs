//! The texts that Pando folds alike are those that servers call equal: every character is weighed again, and as many random texts as there are pairs.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "tests only"
)]

mod support;

use std::collections::{HashMap, HashSet};

use pando_kernel::dialect::{Equality, Ordering, TableColumn};
use pando_kernel::folding::Folding;
use pando_kernel::{Backend, Kind, Value};
use pando_mysql::MySql;
use support::{connect, run, servers, settings, text};

/// Collation, and its character set.
const COLLATIONS: [(&str, &str); 10] = [
    ("utf8mb4_general_ci", "utf8mb4"),
    ("utf8mb4_unicode_ci", "utf8mb4"),
    ("utf8mb4_unicode_520_ci", "utf8mb4"),
    ("utf8mb4_0900_ai_ci", "utf8mb4"),
    ("utf8mb4_uca1400_ai_ci", "utf8mb4"),
    ("utf8mb4_uca1400_nopad_ai_ci", "utf8mb4"),
    ("utf8mb3_general_ci", "utf8mb3"),
    ("utf8mb3_unicode_ci", "utf8mb3"),
    ("utf8mb3_uca1400_ai_ci", "utf8mb3"),
    ("latin1_swedish_ci", "latin1"),
];

fn folding(collation: &str) -> Folding {
    let column = TableColumn {
        name: "k".into(),
        kind: Kind::Text,
        type_name: "varchar(50)".into(),
        collation: collation.into(),
        collate: String::new(),
        zone: None,
        primary_key: false,
        auto_increment: false,
        nullable: false,
        invisible: false,
        timed: None,
        attribute: Default::default(),
    };
    match MySql.equality(&column) {
        Equality::Folded(folding) => folding,
        other => panic!("{collation}: {other:?}"),
    }
}

/// The weights of every character, in hexadecimal digits; `None` where the server does not have the collation.
async fn weights(
    backend: &mut dyn Backend,
    (collation, charset): (&str, &str),
) -> Option<HashMap<char, String>> {
    let digits: Vec<String> = (0..16).map(|digit| format!("SELECT {digit} n")).collect();
    let digits = format!("WITH d AS ({})", digits.join(" UNION ALL "));
    let points = "SELECT a.n * 65536 + b.n * 4096 + c.n * 256 + e.n * 16 + f.n cp FROM d a, d b, d c, d e, d f";
    let mut all = HashMap::new();
    let planes = if charset == "utf8mb4" { 3 } else { 1 };
    for plane in 0..planes {
        let letter = "CONVERT(UNHEX(LPAD(HEX(cp), 8, '0')) USING utf32)";
        let query = format!(
            "{digits} SELECT cp, HEX(WEIGHT_STRING(CONVERT({letter} USING {charset}) COLLATE {collation})) \
             FROM ({points} WHERE a.n = {plane}) x WHERE cp NOT BETWEEN 0xd800 AND 0xdfff"
        );
        for row in text(backend, &query).await.ok()?.rows {
            let [Value::Int(point), weights] = &row[..] else { panic!("{row:?}") };
            let weights = match weights {
                Value::Text(weights) => weights.clone(),
                _ => String::new(),
            };
            all.insert(char::from_u32(u32::try_from(*point).unwrap()).unwrap(), weights);
        }
    }
    Some(all)
}

/// Every character weighs what the letters weigh that it folds to, and letters that stand for themselves weigh each something else.
async fn check_letters(backend: &mut dyn Backend, collation: (&str, &str)) {
    let Some(weights) = weights(backend, collation).await else { return };
    let folding = folding(collation.0);
    let mut standing: HashMap<&str, String> = HashMap::new();
    for (letter, own) in &weights {
        let shown = format!("{collation:?} U+{:04X}", u32::from(*letter));
        let Some(folded) = folding.by.folded(&letter.to_string()) else { continue };
        // What stands for a letter of a small character set may be none of its letters.
        let theirs: Option<String> =
            folded.chars().map(|letter| weights.get(&letter).map(String::as_str)).collect();
        if let Some(theirs) = theirs {
            assert_eq!(*own, theirs, "{shown}");
        }
        let other = standing.entry(own).or_insert_with(|| folded.clone());
        assert_eq!(*other, folded, "{shown}");
    }
    let different: HashSet<&String> = standing.values().collect();
    assert_eq!(different.len(), standing.len(), "{collation:?}");
    assert!(standing.len() > 150, "{collation:?}");
}

/// Numbers that look like chance and are the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(most)).unwrap()
    }
}

/// Short texts are equal for the server where they are folded alike, and only there.
async fn check_texts(backend: &mut dyn Backend, (collation, charset): (&str, &str)) {
    let folding = folding(collation);
    let mut chance = Chance(7);
    // Letters that are spelt in several ways, spaces, marks and what weighs nothing.
    let letters: Vec<char> =
        "aAäÀssßSﬁfiIıİœoeOE  \u{a0}\t\u{301}\u{306}\u{200b}иИйé가나1１".chars().collect();
    let letters: Vec<char> = letters
        .into_iter()
        .filter(|letter| {
            charset != "latin1" || u32::from(*letter) < 0x80 || "äÀßé".contains(*letter)
        })
        .collect();
    let mut pairs = Vec::new();
    while pairs.len() < 2000 {
        let mut word = || -> String {
            let length = chance.below(4);
            (0..length)
                .map(|_| letters[chance.below(u32::try_from(letters.len()).unwrap()) as usize])
                .collect()
        };
        let (left, right) = (word(), word());
        if let Some(both) = folding.folded(&left).zip(folding.folded(&right)) {
            pairs.push((left, right, both.0 == both.1));
        }
    }
    for part in pairs.chunks(500) {
        let hex = |word: &str| word.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
        let own = |word: &str| {
            format!("CONVERT(CONVERT(UNHEX('{}') USING utf8mb4) USING {charset})", hex(word))
        };
        let rows = part.iter().enumerate().map(|(at, (left, right, _))| {
            format!("SELECT {at} n, {} = {} COLLATE {collation} e", own(left), own(right))
        });
        let query = format!("{} ORDER BY n", rows.collect::<Vec<_>>().join(" UNION ALL "));
        let Ok(found) = text(backend, &query).await else { return };
        for (row, (left, right, is_equal)) in found.rows.iter().zip(part) {
            assert_eq!(row[1], Value::Int(i64::from(*is_equal)), "{collation} {left:?} {right:?}");
        }
    }
    assert!(pairs.iter().any(|(left, right, is_equal)| *is_equal && left != right));
}

#[test]
fn texts_are_folded_as_servers_compare_them() {
    for (_, port) in servers() {
        for collation in COLLATIONS {
            run(async {
                let mut backend = connect(settings(port)).await;
                check_letters(&mut *backend, collation).await;
                check_texts(&mut *backend, collation).await;
            });
        }
    }
}
