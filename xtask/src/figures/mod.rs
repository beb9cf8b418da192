//! How the house stands, in figures that anyone can take: what a newcomer has to hold in mind at once.

pub(crate) mod calls;
mod circle;
mod imports;
mod session;
mod tree;

use crate::source::{self, Source};
use crate::tree::Tree;

/// The tree, read once for all figures.
pub(crate) struct Code<'t> {
    tree: &'t Tree,
    sources: Vec<Source>,
}

impl<'t> Code<'t> {
    pub(crate) fn read(tree: &'t Tree) -> Self {
        Self { tree, sources: source::all(tree) }
    }
}

/// One row of the table.
pub(crate) struct Figure {
    /// One word, by which its places are asked for.
    pub(crate) name: &'static str,
    /// What is counted.
    pub(crate) says: &'static str,
    /// What it shall become.
    pub(crate) goal: &'static str,
    /// What is counted, one by one: a file, or a file and what is in it.
    pub(crate) places: fn(&Code<'_>) -> Vec<String>,
}

/// Every figure, in the order of the table.
pub(crate) const FIGURES: &[Figure] = &[
    Figure {
        name: "session-fields",
        says: "fields of `Session`",
        goal: "7",
        places: session::fields,
    },
    Figure {
        name: "session-methods",
        says: "methods of `Session`",
        goal: "at most 150",
        places: session::methods,
    },
    Figure {
        name: "session-impls",
        says: "`impl` blocks of `Session`",
        goal: "at most 12",
        places: session::implementations,
    },
    Figure {
        name: "session-users",
        says: "files that name most of the parts of `Session`",
        goal: "at most 12",
        places: session::users,
    },
    Figure {
        name: "session-flat",
        says: "files directly in `engine/src/session`",
        goal: "door, line, given, mod",
        places: session::flat,
    },
    Figure {
        name: "session-circle",
        says: "files of the session that call each other in the largest circle",
        goal: "at most 8",
        places: session::circle,
    },
    Figure {
        name: "steering-codes",
        says: "conditions over the numbers of refusals",
        goal: "0",
        places: tree::codes,
    },
    Figure {
        name: "circles",
        says: "import circles of at least 4 files",
        goal: "0",
        places: tree::circles,
    },
    Figure { name: "tuples", says: "tuple parameters", goal: "0", places: tree::tuples },
    Figure { name: "booleans", says: "`bool` parameters", goal: "0", places: tree::booleans },
    Figure {
        name: "traits",
        says: "traits with more than 6 methods",
        goal: "listed exceptions only",
        places: tree::traits,
    },
    Figure {
        name: "room-lines",
        says: "places that name a room outside its folder, for the room with most",
        goal: "2 in manifests, 1 in the list",
        places: tree::room_lines,
    },
    Figure {
        name: "wide-lines",
        says: "lines over 120 columns in ARCHITECTURE.md and engine/README.md",
        goal: "0",
        places: tree::wide_lines,
    },
];

/// Parameters that are tuples or bools.
pub(crate) fn parameters(code: &Code<'_>) -> Vec<String> {
    [tree::tuples(code), tree::booleans(code)].concat()
}

/// The table as Markdown, so that it can be put into a page as it is.
pub(crate) fn table(code: &Code<'_>) -> String {
    let mut out = String::from("| figure | what | today | goal |\n|---|---|---|---|\n");
    for Figure { name, says, goal, places } in FIGURES {
        let today = places(code).len();
        out.push_str(&format!("| {name} | {says} | {today} | {goal} |\n"));
    }
    out
}

/// What a figure counts, a line each; `None` when no figure is called so.
pub(crate) fn places(code: &Code<'_>, name: &str) -> Option<Vec<String>> {
    let figure = FIGURES.iter().find(|figure| figure.name == name)?;
    Some((figure.places)(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a figure counts in a made-up tree.
    pub(super) fn counted(name: &str, files: &[(&str, &str)]) -> Vec<String> {
        places(&Code::read(&Tree::of(files)), name).expect("a figure")
    }

    #[test]
    fn the_table_has_every_figure_of_this_repository() {
        let tree = Tree::read(&crate::root()).expect("the repository can be read");
        let code = Code::read(&tree);
        let table = table(&code);
        assert_eq!(table.lines().count(), FIGURES.len() + 2, "{table}");
        // Where nothing is found, the figure is blind rather than reached.
        for name in
            ["session-fields", "session-methods", "session-impls", "session-flat", "room-lines"]
        {
            assert!(!places(&code, name).expect("a figure").is_empty(), "{name}");
        }
        assert!(places(&code, "nothing").is_none());
    }
}
