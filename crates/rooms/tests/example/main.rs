//! The room that CONTRIBUTING.md shows: its text is the page's, it is put into the list and taken out again, and its
//! cases are played.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test support functions")]

#[expect(unreachable_pub, reason = "it is written as a crate of its own")]
mod refuse_star;
mod statements;
mod veil;

use std::path::Path;

use std::sync::Arc;

use pando_config::{Database, File, Report, parse_one};
use pando_fake::room::{Known, Scene, play};
use pando_kernel::{Feature, NoModules, Offer, States};
use pando_rooms::{Ground, ROOMS, rooms};

const PAGE: &str = include_str!("../../../../CONTRIBUTING.md");

const SHOP: &str = "databaseName: shop
dataSources:
  ds_0: {url: 'jdbc:postgresql://a/x', username: u}
rules:
- !REFUSE_STAR
  tables: [t_user]
";

fn database(text: &str) -> Database {
    let file = File { name: "shop.yaml", text };
    parse_one(file, &|_| None).unwrap().databases.remove(0)
}

/// The names of the rooms, or what is wrong.
fn built(list: &[Offer], text: &str) -> Result<Vec<Arc<dyn Feature>>, String> {
    let mut report = Report::default();
    let states = States::default();
    let ground = Ground { data: Path::new(""), states: &states, modules: &NoModules };
    let rooms = rooms(list, &database(text), &ground, &mut report);
    report.finish().map(|_| rooms).map_err(|errors| errors.to_string())
}

fn with_example() -> Vec<Offer> {
    [ROOMS, &[refuse_star::ROOM]].concat()
}

#[test]
fn the_page_has_the_very_text_that_is_built() {
    for (language, text) in [
        ("rust", include_str!("refuse_star.rs")),
        (
            "text",
            include_str!("refuse_star.case").split_inclusive("\n\n").next().unwrap().trim_end(),
        ),
    ] {
        let block = format!("```{language}\n{}\n```\n", text.trim_end());
        assert!(PAGE.contains(&block), "CONTRIBUTING.md does not show this:\n{block}");
    }
}

#[test]
fn a_room_is_there_by_its_line_in_the_list() {
    let names = |rooms: Vec<Arc<dyn Feature>>| {
        rooms.iter().map(|room| room.name()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(built(&with_example(), SHOP).map(names).unwrap(), "single broadcast refuse_star");
    let without = SHOP.split_inclusive("rules:\n").next().unwrap().replace("rules:\n", "");
    assert_eq!(built(&with_example(), &without).map(names).unwrap(), "single broadcast");
}

#[test]
fn without_its_line_its_rules_are_refused() {
    let problem = built(ROOMS, SHOP).unwrap_err();
    let expected = "shop.yaml:5:3: rules[0].!REFUSE_STAR: unknown rule `!REFUSE_STAR`";
    assert!(problem.starts_with(expected), "{problem}");
}

#[test]
fn its_rules_are_checked_like_any_others() {
    let wrong = SHOP.replace("tables:", "table:");
    let problem = built(&with_example(), &wrong).unwrap_err();
    assert!(problem.contains("unknown key `table`; did you mean `tables`?"), "{problem}");
}

#[test]
fn its_cases_come_out_as_written() {
    let room = built(&with_example(), SHOP).unwrap().pop().unwrap();
    let scene = |_: &[&str]| Scene { room: Arc::clone(&room), known: Known::default() };
    let wrong = play(include_str!("refuse_star.case"), scene).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// `BLESS=1` writes what becomes of the statements.
#[test]
fn its_statements_are_those_that_its_grammar_says() {
    for (name, room) in [("refuse_star", refuse_star::ROOM), ("veil", veil::ROOM)] {
        let path = format!("{}/tests/example/{name}.distsql.case", env!("CARGO_MANIFEST_DIR"));
        let written = std::fs::read_to_string(&path).unwrap();
        let played = statements::play(&written, &[ROOMS, &[room]].concat());
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &played).unwrap();
        }
        assert!(written == played, "{name}: expected\n{written}\nbut:\n{played}");
    }
}

#[test]
fn the_statements_that_the_page_shows_are_read() {
    let block = PAGE.split("```sql\n").find(|block| block.starts_with("CREATE REFUSE_STAR"));
    let block = block.and_then(|block| block.split("```").next()).unwrap();
    let language = pando_distsql::Language::of(&with_example());
    let read = |text: &str| language.parse(text).map(|statement| statement.entry.name);
    let names: Vec<&str> = block.lines().map(|text| read(text).unwrap()).collect();
    let all = language.entries().filter(|entry| entry.name.contains("REFUSE_STAR"));
    assert_eq!(names.len(), all.count(), "{names:?}");
}
