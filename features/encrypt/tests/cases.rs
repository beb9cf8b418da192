//! Plays `rewrite.case`: statements on tables with encrypted columns, and what a storage unit gets of them.

#![allow(clippy::unwrap_used, reason = "test support functions")]

use pando_config::{File, parse_one};
use pando_encrypt::ROOM;
use pando_fake::room::{self, Known, Scene};
use pando_fake::table_column;
use pando_kernel::dialect::TableColumn;
use pando_kernel::{Around, Kind, States};

const RULES: &str = "databaseName: shop
dataSources:
  ds_0: {url: 'jdbc:mysql://a/x', username: u}
rules:
- !ENCRYPT
  tables:
    t_user:
      columns:
        phone:
          cipher: {name: phone_cipher, encryptorName: aes}
          assistedQuery: {name: phone_hash, encryptorName: md5}
          likeQuery: {name: phone_like, encryptorName: like}
        note:
          cipher: {name: note_cipher, encryptorName: aes}
        mail:
          cipher: {name: mail_cipher, encryptorName: sm4}
          likeQuery: {name: mail_like, encryptorName: more}
    t_own:
      columns:
        code: {cipher: {name: code_stored, encryptorName: own}}
    t_old:
      columns:
        code: {cipher: {name: code_stored, encryptorName: own}}
    t_copy:
      columns:
        note: {cipher: {name: note_stored, encryptorName: aes}}
    t_typed:
      columns:
        balance: {dataType: 'DECIMAL(10,2)', cipher: {name: balance_cipher, encryptorName: aes}}
        born: {dataType: DATE, cipher: {name: born_cipher, encryptorName: aes}}
        visits: {dataType: BIGINT, cipher: {name: visits_cipher, encryptorName: aes}}
    t_waiting: {stage: WAITING, queryWithCipherColumn: false, columns: {note: &moving {plain: note, cipher: {name: note_cipher, encryptorName: aes}, assistedQuery: {name: note_hash, encryptorName: md5}}}}
    t_plain: {stage: ROWS, queryWithCipherColumn: false, columns: {note: *moving}}
    t_cipher: {stage: IN_STEP, columns: {note: *moving}}
    t_strict: {stage: ROWS, queryWithCipherColumn: false, columns: {note: *moving}}
  encryptors:
    own: {type: EXPRESSION, props: {encrypt: \"'v1' + value.reverse()\", decrypt: value.substring(2).reverse(), added-characters: 2}}
    aes: {type: AES, props: {aes-key-value: 123456abc}}
    md5: {type: MD5}
    like: {type: CHAR_DIGEST_LIKE, props: {approximate: true}}
    more: {type: CHAR_DIGEST_LIKE}
    sm4: {type: SM4, props: {sm4-key: 4D744E003D713D054E7E407C350E447E, sm4-mode: ECB, sm4-padding: PKCS5Padding}}
";

fn columns(table: &str) -> Vec<TableColumn> {
    let names: &[&str] = match table {
        "t_user" => &["id", "phone", "note", "mail", "name"],
        "t_own" | "t_old" => &["id", "code"],
        "t_copy" | "t_strict" | "t_waiting" | "t_plain" | "t_cipher" => &["id", "note", "name"],
        "t_typed" => &["id", "balance", "born", "visits"],
        _ => &["id", "name"],
    };
    let mut all: Vec<TableColumn> =
        names.iter().map(|name| table_column(name, Kind::Text)).collect();
    for own in all.iter_mut().filter(|_| table == "t_old") {
        own.collation = "utf8mb4_general_ci".to_owned();
    }
    for own in all.iter_mut().filter(|own| table == "t_strict" && own.name == "note") {
        (own.nullable, own.type_name) = (false, "varchar(3)".to_owned());
    }
    all
}

fn scene(_: &[&str]) -> Scene {
    let file = File { name: "shop.yaml", text: RULES };
    let rules = parse_one(file, &|_| None).unwrap().databases.remove(0).rules;
    let states = States::default();
    let around = Around {
        units: &[],
        places: &[],
        others: &[],
        states: &states,
        fold: pando_sql::Fold::Keep,
        modules: &pando_kernel::NoModules,
    };
    let room = (ROOM.build)(&rules, &around).unwrap().unwrap();
    let columns: fn(&str) -> Vec<TableColumn> = columns;
    Scene { room, known: Known { columns: Some(columns), tables: None } }
}

#[test]
fn a_unit_gets_cipher_text_or_nothing() {
    let wrong = room::play(include_str!("rewrite.case"), scene).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What is wrong with rules in which `of` stands for this.
fn problem(of: &str, with: &str) -> String {
    let text = RULES.replace(of, with);
    assert_ne!(text, RULES, "{of}");
    let file = File { name: "shop.yaml", text: &text };
    let rules = match parse_one(file, &|_| None) {
        Ok(mut read) => read.databases.remove(0).rules,
        Err(errors) => return errors.to_string(),
    };
    let states = States::default();
    let fold = pando_sql::Fold::Keep;
    let around = Around {
        units: &[],
        places: &[],
        others: &[],
        states: &states,
        fold,
        modules: &pando_kernel::NoModules,
    };
    let problems = (ROOM.build)(&rules, &around).unwrap_err();
    problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; ")
}

#[test]
fn rules_that_cannot_be_right_are_told() {
    for (of, with, expected) in [
        ("encryptorName: sm4", "encryptorName: md5", "encryptor `md5` cannot decrypt"),
        (
            "phone_like, encryptorName: like",
            "phone_like, encryptorName: aes",
            "encryptor `aes` cannot digest patterns of LIKE",
        ),
        (
            "phone_hash, encryptorName: md5",
            "phone_hash, encryptorName: like",
            "encryptor `like` cannot give equal texts for equal values",
        ),
        ("name: phone_hash", "name: NOTE", "table `t_user` has a column `note` already"),
        ("    t_copy:", "    T_User:", "table `T_User` is named twice"),
        ("plain: note", "plain: clear", "column `note` in the plain is to be called so, too"),
        ("stage: ROWS", "stage: DONE", "WAITING, COLUMNS, ROWS, IN_STEP"),
        (
            "{name: phone_hash, encryptorName: md5}",
            "{name: phone_hash, encryptorName: own}",
            "cannot stand beside another",
        ),
        ("{type: MD5}", "{type: MD6}", "encryptor type `MD6` does not exist"),
        ("encryptorName: sm4", "encryptorName: sm5", "sm5"),
    ] {
        let told = problem(of, with);
        assert!(told.contains(expected), "{with}: {told}");
    }
}
