//! Storage units and the tables that stand on one of them.

use crate::build::{drop_units, each, single_tables, storage_units};
use crate::command::{Command, Rdl};
use crate::entry::{Age, Category, Entry};

pub(super) static UNITS: &[Entry] = &[
    Entry {
        name: "REGISTER STORAGE UNIT",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "REGISTER STORAGE UNIT [ifNotExists] storageUnit ... [',' CHECK_PRIVILEGES '=' privilege ...]",
        columns: &[],
        help: "Makes databases of other servers known to this one, after connecting to each. Units of MySQL and MariaDB are registered at the MySQL port, those of PostgreSQL at its own.",
        examples: &[
            r#"REGISTER STORAGE UNIT ds_0(HOST="127.0.0.1", PORT=3306, DB="shop_0", USER="root", PASSWORD="root")"#,
            r#"REGISTER STORAGE UNIT IF NOT EXISTS ds_0(URL='jdbc:mysql://127.0.0.1:3306/shop_0?useSSL=false', USER='root', PROPERTIES("maximumPoolSize"=10)), ds_1(URL="jdbc:postgresql://10.0.0.1/shop_1", USER="root"), CHECK_PRIVILEGES=SELECT, XA"#,
        ],
        wrong: &[
            (
                r#"REGISTER STORAGE UNIT ds_0(HOST="127.0.0.1", DB="shop_0", USER="root")"#,
                "unexpected `DB`, expected `PORT` at line 1, column 46",
            ),
            (
                r#"REGISTER STORAGE UNIT ds_0(HOST="h", PORT=70000, DB="d", USER="u")"#,
                "`70000` is too large, expected at most 65535 at line 1, column 43",
            ),
            (
                r#"REGISTER STORAGE UNITS ds_0(URL="jdbc:mysql://h/d", USER="u")"#,
                "unexpected `UNITS`, expected `UNIT`; did you mean `UNIT`? at line 1, column 18",
            ),
        ],
        build: storage_units,
    },
    Entry {
        name: "ALTER STORAGE UNIT",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "ALTER STORAGE UNIT storageUnit ... [',' CHECK_PRIVILEGES '=' privilege ...]",
        columns: &[],
        help: "Changes user, password or pool of storage units. Their address must stay the same.",
        examples: &[
            r#"ALTER STORAGE UNIT ds_0(HOST="127.0.0.1", PORT=3306, DB="shop_0", USER="app", PASSWORD="new")"#,
        ],
        wrong: &[(
            "ALTER STORAGE UNIT ds_0",
            "unexpected end of the statement, expected `(` at line 1, column 24",
        )],
        build: storage_units,
    },
    Entry {
        name: "UNREGISTER STORAGE UNIT",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "UNREGISTER STORAGE UNIT [ifExists] unit ... [ignore]",
        columns: &[],
        help: "Forgets storage units that no rule uses. Their databases stay as they are.",
        examples: &[
            "UNREGISTER STORAGE UNIT ds_0",
            "UNREGISTER STORAGE UNIT IF EXISTS ds_0, ds_1 IGNORE SINGLE, BROADCAST TABLES",
        ],
        wrong: &[(
            "UNREGISTER STORAGE UNIT ds_0 IGNORE SINGEL TABLES",
            "unexpected `SINGEL`, expected `BROADCAST` or `SINGLE`; did you mean `SINGLE`? at line 1, column 37",
        )],
        build: drop_units,
    },
    Entry {
        name: "ADD RESOURCE",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "ADD RESOURCE [ifNotExists] storageUnit ...",
        columns: &[],
        help: "The older spelling of REGISTER STORAGE UNIT.",
        examples: &[
            "ADD RESOURCE ds_0(HOST=127.0.0.1, PORT=3306, DB=shop_0, USER=root, PASSWORD=root)",
        ],
        wrong: &[(
            "ADD RESOURCE ds_0(HOST=127.0.0.1 PORT=3306, DB=shop_0, USER=root)",
            "unexpected `PORT`, expected `,` at line 1, column 34",
        )],
        build: storage_units,
    },
    Entry {
        name: "ALTER RESOURCE",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "ALTER RESOURCE storageUnit ...",
        columns: &[],
        help: "The older spelling of ALTER STORAGE UNIT.",
        examples: &[
            r#"ALTER RESOURCE ds_0(URL="jdbc:mysql://127.0.0.1:3306/shop_0", USER=root, PASSWORD=new)"#,
        ],
        wrong: &[(
            "ALTER RESOURCE ds_0(URL=jdbc, USER=root)",
            "unexpected `jdbc`, expected a JDBC URL in quotes at line 1, column 25",
        )],
        build: storage_units,
    },
    Entry {
        name: "DROP RESOURCE",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "DROP RESOURCE [ifExists] unit ... [ignore]",
        columns: &[],
        help: "The older spelling of UNREGISTER STORAGE UNIT.",
        examples: &["DROP RESOURCE ds_0, ds_1 IGNORE SINGLE TABLES"],
        wrong: &[(
            "DROP RESOURCE",
            "unexpected end of the statement, expected `IF` or a storage unit at line 1, column 14",
        )],
        build: drop_units,
    },
    Entry {
        name: "SET DEFAULT SINGLE TABLE STORAGE UNIT",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "SET DEFAULT SINGLE TABLE STORAGE UNIT '=' (RANDOM | unit)",
        columns: &[],
        help: "Says where new tables without a rule go.",
        examples: &[
            "SET DEFAULT SINGLE TABLE STORAGE UNIT = ds_0",
            "SET DEFAULT SINGLE TABLE STORAGE UNIT = RANDOM",
        ],
        wrong: &[(
            "SET DEFAULT SINGLE TABLE STORAGE UNIT ds_0",
            "unexpected `ds_0`, expected `=` at line 1, column 39",
        )],
        build: |p| Ok(Command::Rdl(Rdl::SetDefaultSingleTableUnit(p.maybe_name("unit")))),
    },
    Entry {
        name: "CREATE DEFAULT SINGLE TABLE RULE",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "(CREATE | ALTER) DEFAULT SINGLE TABLE RULE RESOURCE '=' unit",
        columns: &[],
        help: "The older spelling of SET DEFAULT SINGLE TABLE STORAGE UNIT.",
        examples: &[
            "CREATE DEFAULT SINGLE TABLE RULE RESOURCE = ds_0",
            "ALTER DEFAULT SINGLE TABLE RULE RESOURCE = ds_1",
        ],
        wrong: &[(
            "CREATE DEFAULT SINGLE TABLE RULE ds_0",
            "unexpected `ds_0`, expected `RESOURCE` at line 1, column 34",
        )],
        build: |p| Ok(Command::Rdl(Rdl::SetDefaultSingleTableUnit(p.maybe_name("unit")))),
    },
    Entry {
        name: "DROP DEFAULT SINGLE TABLE RULE",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "DROP DEFAULT SINGLE TABLE RULE [ifExists]",
        columns: &[],
        help: "The older spelling of SET DEFAULT SINGLE TABLE STORAGE UNIT = RANDOM.",
        examples: &["DROP DEFAULT SINGLE TABLE RULE"],
        wrong: &[(
            "DROP DEFAULT SINGLE TABLE",
            "unexpected end of the statement, expected `RULE` at line 1, column 26",
        )],
        build: |_| Ok(Command::Rdl(Rdl::SetDefaultSingleTableUnit(None))),
    },
    Entry {
        name: "LOAD SINGLE TABLE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "LOAD SINGLE TABLE loadedTables ...",
        columns: &[],
        help: "Says which table is meant where several storage units have one of that name. Other tables are single tables without being loaded.",
        examples: &[
            "LOAD SINGLE TABLE ds_0.t_config",
            "LOAD SINGLE TABLE ds_0.*, ds_1.public.t_x",
            "LOAD SINGLE TABLE *.*.*",
        ],
        wrong: &[
            (
                "LOAD SINGLE TABLE t_config",
                "unexpected end of the statement, expected `.` at line 1, column 27",
            ),
            (
                "LOAD SINGLE TABLE *.t_config",
                "`*.t_config` has a name behind `*`, expected `*` there at line 1, column 19",
            ),
        ],
        build: |p| Ok(Command::Rdl(Rdl::LoadSingleTables(each(p, "loadedTables", single_tables)?))),
    },
    Entry {
        name: "UNLOAD SINGLE TABLE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "UNLOAD SINGLE TABLE unloadedTables ...",
        columns: &[],
        help: "Takes back what LOAD SINGLE TABLE said, in its words. The tables stay on their units, and can be used as long as one unit has their name.",
        examples: &[
            "UNLOAD SINGLE TABLE t_config, t_x",
            "UNLOAD SINGLE TABLE ds_0.*",
            "UNLOAD SINGLE TABLE *",
        ],
        wrong: &[(
            "UNLOAD SINGLE TABLE",
            "unexpected end of the statement, expected a name or `*` at line 1, column 20",
        )],
        build: |p| {
            Ok(Command::Rdl(Rdl::UnloadSingleTables(each(p, "unloadedTables", single_tables)?)))
        },
    },
    Entry {
        name: "UNLOAD ALL SINGLE TABLES",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "UNLOAD ALL SINGLE TABLES",
        columns: &[],
        help: "Takes back everything that LOAD SINGLE TABLE said. The tables stay on their units, and can be used as long as one unit has their name.",
        examples: &["UNLOAD ALL SINGLE TABLES"],
        wrong: &[(
            "UNLOAD ALL SINGLE TABLE",
            "unexpected `TABLE`, expected `TABLES`; did you mean `TABLES`? at line 1, column 19",
        )],
        build: |_| Ok(Command::Rdl(Rdl::UnloadAllSingleTables)),
    },
];
