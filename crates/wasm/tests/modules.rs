//! Modules that do well, and modules that do not: each in the text form of WebAssembly.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test support functions")]

use std::sync::Arc;

use aws_lc_rs::digest;
use pando_kernel::module::{Argument, Export, Fault, Function, Given, Gives, Modules, Takes};
use pando_wasm::Folder;
use tempfile::TempDir;

/// A memory, and one that gives room after room. What it needs besides stands where `BODY` does.
const HOUSE: &str = r#"(module
  (memory (export "memory") 1)
  (global $next (mut i32) (i32.const 1024))
  (func $room (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
    (local.set $at (i32.and (i32.sub (i32.add (global.get $next) (local.get 2)) (i32.const 1)) (i32.sub (i32.const 0) (local.get 2))))
    (global.set $next (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  (func $give (param $case i32) (param $at i32) (param $length i32) (result i32)
    (i32.store (i32.const 16) (local.get $case))
    (i32.store (i32.const 20) (local.get $at))
    (i32.store (i32.const 24) (local.get $length))
    (i32.const 16))
  BODY)"#;

/// Gives the value itself.
const ECHO: &str = r#"(func (export "mask") (param i32 i32 i32 i32) (result i32)
  (call $give (i32.const 0) (local.get 2) (local.get 3)))"#;

struct House {
    folder: TempDir,
    modules: Folder,
}

impl House {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let modules = Folder::new(folder.path());
        Self { folder, modules }
    }

    /// Puts a module there; gives its digest.
    fn put(&self, name: &str, text: &str) -> String {
        let bytes = wat::parse_str(text).unwrap();
        std::fs::write(self.folder.path().join(name), &bytes).unwrap();
        let digest = digest::digest(&digest::SHA256, &bytes);
        digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn export(&self, export: &Export<'_>) -> Result<Option<Arc<dyn Function>>, String> {
        self.modules.function(export)
    }

    /// The function `mask` of a house with this body.
    fn mask(&self, body: &str) -> Result<Option<Arc<dyn Function>>, String> {
        let digest = self.put("own.wasm", &HOUSE.replace("BODY", body));
        self.export(&Export { digest: Some(&digest), ..MASK })
    }

    fn refused(&self, text: &str) -> String {
        let digest = self.put("own.wasm", text);
        match self.export(&Export { digest: Some(&digest), ..MASK }) {
            Err(why) => why,
            Ok(found) => panic!("{found:?}"),
        }
    }
}

const MASK: Export<'_> = Export {
    module: "own.wasm",
    digest: None,
    name: "mask",
    takes: &[Takes::Pairs, Takes::Text],
    gives: Gives::Text,
};

fn called(function: &dyn Function, value: &str) -> Result<Given, Fault> {
    let props = [("shift".to_owned(), "3".to_owned())];
    function.call(&[Argument::Pairs(&props), Argument::Text(value)])
}

fn failed(body: &str) -> String {
    let function = House::new().mask(body).unwrap().unwrap();
    match called(&*function, "secret") {
        Err(Fault::Failed(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_function_gets_its_arguments_and_gives_its_answer() {
    let house = House::new();
    let echo = house.mask(ECHO).unwrap().unwrap();
    for value in ["", "a", "ä€😀", &"x".repeat(60_000)] {
        assert_eq!(called(&*echo, value), Ok(Given::Text(value.to_owned())));
    }
    // The key of its first property, which stands in the list as a place and a length.
    let key = house.mask(
        r#"(func (export "mask") (param i32 i32 i32 i32) (result i32)
          (call $give (i32.const 0) (i32.load (local.get 0)) (i32.load offset=4 (local.get 0))))"#,
    );
    assert_eq!(called(&*key.unwrap().unwrap(), "a"), Ok(Given::Text("shift".to_owned())));
    let said = house.mask(&ECHO.replacen("(i32.const 0)", "(i32.const 1)", 1)).unwrap().unwrap();
    assert_eq!(called(&*said, "no"), Err(Fault::Said("no".to_owned())));
}

#[test]
fn texts_options_numbers_and_truths_are_flat() {
    let house = House::new();
    let all = HOUSE.replace(
        "BODY",
        r#"(func (export "range") (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
             (if (result i32) (local.get 2)
               (then (call $give (i32.const 0) (local.get 0) (local.get 1)))
               (else (call $give (i32.const 1) (local.get 6) (local.get 7)))))
           (func (export "is") (param i64 i32) (result i32)
             (call $give (i32.const 0) (i32.and (i64.eq (local.get 0) (i64.const -1)) (local.get 1)) (i32.const 0)))"#,
    );
    let digest = house.put("own.wasm", &all);
    let export = Export {
        digest: Some(&digest),
        name: "range",
        takes: &[Takes::Texts, Takes::Perhaps, Takes::Perhaps],
        gives: Gives::Texts,
        ..MASK
    };
    let range = house.export(&export).unwrap().unwrap();
    let names = ["t_0", "", "t_ü"];
    let given = range.call(&[
        Argument::Texts(&names),
        Argument::Perhaps(Some("a")),
        Argument::Perhaps(None),
    ]);
    assert_eq!(given, Ok(Given::Texts(names.map(str::to_owned).to_vec())));
    let given = range.call(&[
        Argument::Texts(&names),
        Argument::Perhaps(None),
        Argument::Perhaps(Some("b")),
    ]);
    assert_eq!(given, Err(Fault::Said("b".to_owned())));
    let is =
        Export { name: "is", takes: &[Takes::Number, Takes::Bool], gives: Gives::Bool, ..export };
    let is = house.export(&is).unwrap().unwrap();
    for (number, flag, expected) in
        [(u64::MAX, true, true), (u64::MAX, false, false), (1, true, false)]
    {
        let given = is.call(&[Argument::Number(number), Argument::Bool(flag)]);
        assert_eq!(given, Ok(Given::Bool(expected)));
    }
}

#[test]
fn each_call_begins_anew() {
    let counts = r#"(global $calls (mut i32) (i32.const 48))
      (data (i32.const 64) "0")
      (func (export "_initialize") (i32.store8 (i32.const 64) (i32.add (i32.load8_u (i32.const 64)) (i32.const 1))))
      (func (export "mask") (param i32 i32 i32 i32) (result i32)
        (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (i32.store8 (i32.const 64) (i32.add (i32.load8_u (i32.const 64)) (i32.const 1)))
        (i32.store8 (i32.const 65) (global.get $calls))
        (call $give (i32.const 0) (i32.const 64) (i32.const 2)))"#;
    let function = House::new().mask(counts).unwrap().unwrap();
    for _ in 0..200 {
        assert_eq!(called(&*function, ""), Ok(Given::Text("21".to_owned())));
    }
}

#[test]
fn a_call_that_goes_too_far_ends_alone() {
    let of = |code: &str| {
        format!(r#"(func $own (export "mask") (param i32 i32 i32 i32) (result i32) {code})"#)
    };
    for (code, why) in [
        ("(loop (br 0)) (i32.const 0)", "has come to its bound of 5000000 steps"),
        ("(unreachable)", "wasm `unreachable` instruction"),
        ("(i32.div_u (i32.const 1) (i32.const 0))", "integer divide by zero"),
        (
            "(call $own (local.get 0) (local.get 1) (local.get 2) (local.get 3))",
            "has come to its bound of nested calls",
        ),
        ("(i32.load (i32.const -8))", "out of bounds memory access"),
        ("(i32.const -8)", "lies outside of its memory"),
        (
            "(call $give (i32.const 0) (i32.const 65000) (i32.const 65000))",
            "lies outside of its memory",
        ),
        ("(call $give (i32.const 0) (i32.const 0) (i32.const -1))", "a text of 4294967295 bytes"),
        ("(call $give (i32.const 7) (i32.const 0) (i32.const 0))", "is no result"),
        (
            "(i32.store8 (i32.const 0) (i32.const 255)) (call $give (i32.const 0) (i32.const 0) (i32.const 1))",
            "not UTF-8",
        ),
        // Memory that is not given is told as such: 16 MiB are 256 pages.
        (
            "(if (i32.eq (memory.grow (i32.const 256)) (i32.const -1)) (then (unreachable))) (i32.const 0)",
            "has failed",
        ),
    ] {
        let found = failed(&of(code));
        assert!(found.contains(why) && !found.contains("secret"), "{code}: {found}");
    }
}

#[test]
fn an_instruction_that_clears_much_costs_as_much() {
    // Each clears almost 15 MiB.
    let clears = r#"(func (export "mask") (param i32 i32 i32 i32) (result i32)
      (drop (memory.grow (i32.const 240)))
      (loop (memory.fill (i32.const 0) (i32.const 1) (i32.const 15000000)) (br 0)) (i32.const 0))"#;
    assert_eq!(failed(clears), "has come to its bound of 5000000 steps");
}

#[test]
fn calls_of_many_threads_do_not_disturb_each_other() {
    let house = House::new();
    let echo = house.mask(ECHO).unwrap().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let echo = &echo;
            scope.spawn(move || {
                for number in 0..200 {
                    let value = format!("{thread}/{number}");
                    assert_eq!(called(&**echo, &value), Ok(Given::Text(value)));
                }
            });
        }
    });
}

#[test]
fn a_module_is_the_one_that_the_rule_names() {
    let house = House::new();
    let digest = house.put("own.wasm", &HOUSE.replace("BODY", ECHO));
    let told = house.export(&MASK).unwrap_err();
    assert!(told.contains("`sha256` is required") && told.contains(&digest), "{told}");
    let upper = digest.to_uppercase();
    assert!(house.export(&Export { digest: Some(&upper), ..MASK }).unwrap().is_some());
    // The file is another now.
    house.put("own.wasm", &HOUSE.replace("BODY", &ECHO.replacen("mask", "musk", 1)));
    let told = house.export(&Export { digest: Some(&digest), ..MASK }).unwrap_err();
    assert!(told.contains("is another than"), "{told}");
    for name in ["../own.wasm", "/own.wasm", ".wasm", "own", "own.wat", "a/own.wasm", "a\\own.wasm"]
    {
        let told = house.export(&Export { module: name, ..MASK }).unwrap_err();
        assert!(told.contains("is no name of a module"), "{told}");
    }
    let told = house.export(&Export { module: "other.wasm", ..MASK }).unwrap_err();
    assert!(told.contains("cannot be read"), "{told}");
    std::fs::write(house.folder.path().join("big.wasm"), vec![0; (4 << 20) + 1]).unwrap();
    let told = house.export(&Export { module: "big.wasm", ..MASK }).unwrap_err();
    assert!(told.contains("are the most"), "{told}");
}

#[test]
fn what_does_not_fit_is_told_when_the_rule_is_made() {
    let house = House::new();
    for (text, why) in [
        (
            "(module (import \"wasi_snapshot_preview1\" \"fd_write\" (func)))",
            "imports `wasi_snapshot_preview1.fd_write`",
        ),
        ("(module (func (export \"mask\")))", "is of type"),
        ("(module (global (export \"mask\") i32 (i32.const 1)))", "is no function"),
        (
            "(module (func (export \"mask\") (param i32 i32 i32 i32) (result i32) (i32.const 0)))",
            "no `cabi_realloc`",
        ),
        ("(module (memory 300) (memory 1))", "none that can run"),
        ("(module (memory (export \"memory\") 300))", "none that can run"),
    ] {
        let told = house.refused(text);
        assert!(told.contains(why), "{text}: {told}");
    }
    assert!(house.mask("").unwrap().is_none());
    std::fs::write(house.folder.path().join("own.wasm"), b"no module").unwrap();
    let digest = digest::digest(&digest::SHA256, b"no module");
    let digest: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let told = house.export(&Export { digest: Some(&digest), ..MASK }).unwrap_err();
    assert!(told.contains("is none that can run"), "{told}");
}
