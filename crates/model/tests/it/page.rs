//! The page for users is what the grammar table and the list of rooms say.

use std::path::Path;

use crate::common::language;

/// What a room's grammar says must be sound, and be said by nobody else.
#[test]
fn the_grammars_that_rooms_bring_have_no_mistakes() {
    assert_eq!(language().mistakes(), Vec::<String>::new());
}

/// `BLESS=1` writes it.
#[test]
fn docs_distsql_is_written_from_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/distsql.md");
    let page = pando_distsql::help::markdown(language());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/distsql.md is stale: BLESS=1 cargo test -p pando-model --test it page"
    );
}
