//! People's own algorithms beside built-in ones: the route of a point select, and one masked cell.

use std::hint::black_box;
use std::path::Path;

use pando_config::{File, parse_one};
use pando_kernel::module::{Export, Gives, Modules};
use pando_kernel::route::Route;
use pando_kernel::{States, Value};
use pando_rooms::Ground;
use pando_wasm::Folder;

use crate::outcome::Failure;
use crate::plan::Desk;
use crate::stage::{self, Stage};
use crate::{Outcome, shop};

pub(crate) const STAGES: &[Stage] = &[
    stage::of("own/route/built-in", "statement", |n| route(MOD, n)),
    stage::of("own/route/expression", "statement", |n| route(INLINE, n)),
    stage::of("own/route/module", "statement", |n| route(SHARD, n)),
    stage::of("own/mask/built-in", "cell", |n| mask(COVER, n)),
    stage::of("own/mask/expression", "cell", |n| mask(EXPRESSION, n)),
    stage::of("own/mask/module", "cell", |n| mask(MASK, n)),
];

const MOD: &str = "{type: MOD, props: {sharding-count: 4}}";
const INLINE: &str = "{type: INLINE, props: {algorithm-expression: 'sbtest1_${id % 4}'}}";
const SHARD: &str = "{type: CLASS_BASED, props: {strategy: STANDARD, algorithmClassName: own.wasm, sha256: DIGEST}}";
const COVER: &str =
    "{type: MASK_FIRST_N_LAST_M, props: {first-n: 1, last-m: 1, replace-char: '*'}}";
const EXPRESSION: &str = "{type: EXPRESSION, props: {expression: \"'*' + value.substring(1)\"}}";
const MASK: &str = "{type: CLASS_BASED, props: {algorithmClassName: own.wasm, sha256: DIGEST}}";

/// What stands around the two algorithms.
const RULES: &str = "databaseName: shop
dataSources:
  ds_0: {url: 'jdbc:postgresql://127.0.0.1:5432/unit?sslmode=disable', username: test, password: ''}
rules:
- !SHARDING
  tables:
    sbtest1:
      actualDataNodes: ds_0.sbtest1_${0..3}
      databaseStrategy: {none: }
      tableStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: own}}
  shardingAlgorithms:
    own: SHARDS
- !MASK
  tables:
    sbtest1: {columns: {c: {maskAlgorithm: own}}}
  maskAlgorithms:
    own: MASKS
";

/// The target that the value's last digit names, and the value with its first character covered.
const TEXT: &str = r#"(module
  (memory (export "memory") 1)
  (global $next (mut i32) (i32.const 1024))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
    (global.set $next (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  (func $give (param $at i32) (param $length i32) (result i32)
    (i32.store (i32.const 16) (i32.const 0))
    (i32.store (i32.const 20) (local.get $at))
    (i32.store (i32.const 24) (local.get $length))
    (i32.const 16))
  (func (export "shard") (param i32 i32 i32 i32 i32 i32) (result i32) (local $entry i32)
    (local.set $entry (i32.add (local.get 2) (i32.mul (i32.const 8) (i32.and (i32.const 3)
      (i32.load8_u (i32.sub (i32.add (local.get 4) (local.get 5)) (i32.const 1)))))))
    (call $give (i32.load (local.get $entry)) (i32.load offset=4 (local.get $entry))))
  (func (export "mask") (param i32 i32 i32 i32) (result i32)
    (i32.store8 (local.get 2) (i32.const 42))
    (call $give (local.get 2) (local.get 3))))"#;

/// A desk with these algorithms, and what serves their modules.
fn desk(shards: &str, masks: &str) -> Outcome<Desk> {
    let folder = tempfile::tempdir()?;
    let bytes = wat::parse_str(TEXT).map_err(|error| error.to_string())?;
    std::fs::write(folder.path().join("own.wasm"), bytes)?;
    let modules = Folder::new(folder.path());
    let text = RULES.replace("SHARDS", shards).replace("MASKS", masks);
    let text = text.replace("DIGEST", &digest(&modules)?);
    let configuration = parse_one(File { name: "shop.yaml", text: &text }, &|_| None)?;
    let database = configuration.databases.first().ok_or("the configuration has no database")?;
    let states = States::default();
    let ground = Ground { data: Path::new(""), states: &states, modules: &modules };
    Desk::at(pando_rooms::build_on(database, &ground)?, shop::POINT_SELECT)
}

/// What somebody is told who names a module without its digest.
fn digest(modules: &dyn Modules) -> Outcome<String> {
    let takes = &[];
    let export =
        Export { module: "own.wasm", digest: None, name: "mask", takes, gives: Gives::Text };
    let told = modules.function(&export).err().unwrap_or_default();
    let digest = told.rsplit('`').find(|part| part.len() == 64);
    digest.map(str::to_owned).ok_or_else(|| Failure::from(format!("no digest is told: {told}")))
}

fn route(shards: &str, times: u32) -> Outcome {
    desk(shards, COVER)?.with(|context, statement| {
        for _ in 0..times {
            let mut route = Route::Unclaimed;
            for room in &context.database.features {
                room.route(context, black_box(statement), &mut route)?;
            }
            black_box(route);
        }
        Ok(())
    })
}

fn mask(masks: &str, times: u32) -> Outcome {
    desk(MOD, masks)?.with(|context, statement| {
        let mut cells = Vec::new();
        for room in &context.database.features {
            cells.extend(room.shown(context, statement)?);
        }
        let cell = cells.first().ok_or("no cell is masked")?;
        for _ in 0..times {
            let value = Value::Text(black_box("68487932199-96439406143").to_owned());
            black_box(cell.turn.value(value)?);
        }
        Ok(())
    })
}
