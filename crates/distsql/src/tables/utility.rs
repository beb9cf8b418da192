//! Utilities.

use crate::build::{help, utility};
use crate::command::Rul;
use crate::entry::{Age, Category, Entry};

pub(super) static UTILITY: &[Entry] = &[
    Entry {
        name: "PREVIEW",
        category: Category::Rul,
        age: Age::Both,
        syntax: "PREVIEW sql",
        columns: &["data_source_name", "actual_sql"],
        help: "What would be sent to which storage unit; nothing runs.",
        examples: &["PREVIEW SELECT * FROM t_order WHERE order_id = 1"],
        wrong: &[(
            "PREVIEW",
            "unexpected end of the statement, expected a statement at line 1, column 8",
        )],
        build: |p| utility(p, Rul::Preview),
    },
    Entry {
        name: "PARSE",
        category: Category::Rul,
        age: Age::Both,
        syntax: "PARSE sql",
        columns: &["parsed_statement", "parsed_statement_detail"],
        help: "The tree of a statement.",
        examples: &["PARSE SELECT name FROM t_order WHERE id = 1;"],
        wrong: &[(
            "PARSE ;",
            "unexpected end of the statement, expected a statement at line 1, column 8",
        )],
        build: |p| utility(p, Rul::Parse),
    },
    Entry {
        name: "FORMAT",
        category: Category::Rul,
        age: Age::Old,
        syntax: "FORMAT sql",
        columns: &["formatted_result"],
        help: "A statement in a standard form.",
        examples: &["FORMAT select * from t_order"],
        wrong: &[(
            "FORMAT",
            "unexpected end of the statement, expected a statement at line 1, column 7",
        )],
        build: |p| utility(p, Rul::Format),
    },
    Entry {
        name: "HELP DISTSQL",
        category: Category::Rul,
        age: Age::Current,
        syntax: "HELP DISTSQL [LIKE pattern]",
        columns: &["statement", "category", "spelling", "syntax", "help"],
        help: "This table; with LIKE, the statements whose name fits. Pando only.",
        examples: &["HELP DISTSQL", "HELP DISTSQL LIKE '%STORAGE UNIT%'"],
        wrong: &[
            (
                "HELP DISTSQL SHOW",
                "unexpected `SHOW`, expected `LIKE` or the end at line 1, column 14",
            ),
            ("HELP", "unexpected end of the statement, expected `DISTSQL` at line 1, column 5"),
        ],
        build: help,
    },
];
