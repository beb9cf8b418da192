//! Tables whose rows are to be stored otherwise while clients go on.

use crate::build::{administer, encrypt_step};
use crate::command::{EncryptStep, Ral, Status};
use crate::entry::{Age, Category, Entry};

/// The statements.
pub(crate) static ENCRYPTING: &[Entry] = &[
    Entry {
        name: "ENCRYPT TABLE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "ENCRYPT TABLE table [properties]",
        columns: &[],
        help: "Makes the cipher text of a table's rows while clients go on: of a rule whose columns have a PLAIN one and QUERY_WITH_CIPHER_COLUMN=false. It goes on by itself. The property rows-per-second bounds how many rows are looked at; said again while it goes on, it changes that. Pando only.",
        examples: &[
            "ENCRYPT TABLE t_user",
            "ENCRYPT TABLE t_user PROPERTIES('rows-per-second'='500')",
        ],
        wrong: &[
            (
                "ENCRYPT TABLES t_user",
                "unexpected `TABLES`, expected `TABLE`; did you mean `TABLE`? at line 1, column 9",
            ),
            (
                "ENCRYPT TABLE t_user PROPERTIES('rows-per-second'='0')",
                "`rows-per-second` is to be a whole number from 1 to 1000000000, and is `0` at line 1, column 33",
            ),
        ],
        build: |p| encrypt_step(p, EncryptStep::Encrypt),
    },
    Entry {
        name: "DECRYPT TABLE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "DECRYPT TABLE table [properties]",
        columns: &[],
        help: "Makes columns in the plain of a table's encrypted ones while clients go on, which read the cipher text until ALTER ENCRYPT TABLE says otherwise. rows-per-second is as of ENCRYPT TABLE. Pando only.",
        examples: &["DECRYPT TABLE t_user"],
        wrong: &[(
            "DECRYPT TABLE",
            "unexpected end of the statement, expected a table at line 1, column 14",
        )],
        build: |p| encrypt_step(p, EncryptStep::Decrypt),
    },
    Entry {
        name: "REENCRYPT TABLE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "REENCRYPT TABLE table [properties]",
        columns: &[],
        help: "Writes what older keys have encrypted, or digests of another algorithm, anew while clients go on. rows-per-second is as of ENCRYPT TABLE. Pando only.",
        examples: &["REENCRYPT TABLE t_user"],
        wrong: &[(
            "REENCRYPT TABLE",
            "unexpected end of the statement, expected a table at line 1, column 16",
        )],
        build: |p| encrypt_step(p, EncryptStep::Reencrypt),
    },
    Entry {
        name: "ALTER ENCRYPT TABLE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "ALTER ENCRYPT TABLE table READ (CIPHER | PLAIN)",
        columns: &[],
        help: "Has clients read the one or the other of a table's columns, once those of all rows are in step. Both go on being written. Pando only.",
        examples: &[
            "ALTER ENCRYPT TABLE t_user READ CIPHER",
            "ALTER ENCRYPT TABLE t_user READ PLAIN",
        ],
        wrong: &[(
            "ALTER ENCRYPT TABLE t_user READ",
            "unexpected end of the statement, expected `CIPHER` or `PLAIN` at line 1, column 32",
        )],
        build: |p| {
            let step = match p.has("PLAIN") {
                true => EncryptStep::ReadPlain,
                false => EncryptStep::ReadCipher,
            };
            encrypt_step(p, step)
        },
    },
    Entry {
        name: "COMMIT ENCRYPT TABLE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "COMMIT ENCRYPT TABLE table",
        columns: &[],
        help: "Drops the columns in the plain of a table that is read from its cipher text. Pando only.",
        examples: &["COMMIT ENCRYPT TABLE t_user"],
        wrong: &[(
            "COMMIT ENCRYPT RULE t_user",
            "unexpected `RULE`, expected `TABLE` at line 1, column 16",
        )],
        build: |p| encrypt_step(p, EncryptStep::Commit),
    },
    Entry {
        name: "ROLLBACK ENCRYPT TABLE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "ROLLBACK ENCRYPT TABLE table [IN NEW ORDER]",
        columns: &[],
        help: "Drops the cipher text of a table that is read in the plain, and its encrypt rule. IN NEW ORDER says that its columns may stand in another order then, as they do on PostgreSQL behind DECRYPT TABLE. Pando only.",
        examples: &["ROLLBACK ENCRYPT TABLE t_user", "ROLLBACK ENCRYPT TABLE t_user IN NEW ORDER"],
        wrong: &[(
            "ROLLBACK ENCRYPT RULE t_user",
            "unexpected `RULE`, expected `TABLE` at line 1, column 18",
        )],
        build: |p| {
            let step = match p.has("NEW") {
                true => EncryptStep::RollbackInNewOrder,
                false => EncryptStep::Rollback,
            };
            encrypt_step(p, step)
        },
    },
    Entry {
        name: "SHOW STATUS FROM ENCRYPT TABLES",
        category: Category::Ral,
        age: Age::Current,
        syntax: "SHOW STATUS FROM ENCRYPT TABLES [FROM database]",
        columns: &[
            "table_name",
            "reads",
            "stage",
            "instance",
            "pass",
            "data_nodes",
            "data_nodes_done",
            "rows_seen",
            "rows_written",
            "rows_per_second",
            "message",
        ],
        help: "How far tables with columns in the plain beside encrypted ones are (stage: WAITING for ENCRYPT TABLE, COLUMNS are made, ROWS are brought in step, IN_STEP), and what of it this instance does. Pando only.",
        examples: &["SHOW STATUS FROM ENCRYPT TABLES", "SHOW STATUS FROM ENCRYPT TABLES FROM shop"],
        wrong: &[(
            "SHOW STATUS FROM ENCRYPT",
            "unexpected end of the statement, expected `TABLES` at line 1, column 25",
        )],
        build: |p| {
            let database = p.maybe_name("database");
            administer(Ral::ShowStatus { of: Status::EncryptTables, database })
        },
    },
];
