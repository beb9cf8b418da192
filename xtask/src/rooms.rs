//! Where the crate of a room is named, apart from its own folder and tests.

use crate::lexer::Token;
use crate::manifest::Manifest;
use crate::source::Source;
use crate::tree::Tree;

/// A room and what names it.
#[derive(Debug)]
pub(crate) struct Named {
    /// From the root: `features/single`.
    pub(crate) folder: String,
    /// Its package, as `pando-single`.
    pub(crate) package: String,
    /// Manifests, each once.
    pub(crate) manifests: Vec<String>,
    /// Files of sources, each as often as it names the room.
    pub(crate) sources: Vec<String>,
}

/// Every room, in the order of their folders.
pub(crate) fn all(tree: &Tree, sources: &[Source]) -> Vec<Named> {
    let crates = tree.crates();
    let rooms = crates.iter().filter(|own| own.folder.starts_with("features/"));
    rooms
        .filter_map(|room| {
            let package = room.manifest.package.clone()?;
            let mut manifests = Vec::new();
            if tree.workspace().workspace_dependencies.contains_key(&package) {
                manifests.push("Cargo.toml".to_owned());
            }
            let depends = |manifest: &Manifest| manifest.dependencies.contains_key(&package);
            let others = crates.iter().filter(|own| !own.folder.starts_with("testing"));
            let named = others.filter(|own| depends(&own.manifest));
            manifests.extend(named.map(|own| format!("{}/Cargo.toml", own.folder)));
            let sources = naming(sources, &room.folder, &package.replace('-', "_"));
            Some(Named { folder: room.folder.clone(), package, manifests, sources })
        })
        .collect()
}

fn naming(sources: &[Source], folder: &str, name: &str) -> Vec<String> {
    let own = format!("{folder}/");
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| !source.path.starts_with(&own)) {
        let named = source.tokens.iter().filter(|token| match token {
            Token::Word(word) => word == name,
            Token::Text(_) | Token::Sign(_) => false,
        });
        found.extend(named.map(|_| source.path.clone()));
    }
    found
}
