//! The page for users is what the grammar table and the list of rooms say.

use std::path::Path;

/// `BLESS=1` writes it.
#[test]
fn docs_distsql_is_written_from_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/distsql.md");
    let served = pando_kernel::room::sections(pando_rooms::ROOMS);
    let page = pando_distsql::help::markdown(&served);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/distsql.md is stale: BLESS=1 cargo test -p pando-model --test it page"
    );
}
