//! Tables: their columns, and how each server writes them.

use std::fmt::Write as _;

use crate::chance::Chance;

/// Which server is on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    Postgres,
    MariaDb,
    MySql,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Small,
    Int,
    Big,
    /// A fixed number of places behind the point.
    Decimal(u8, u8),
    /// PostgreSQL's `numeric` as long as each value wants.
    Numeric,
    Real,
    Double,
    /// Compared without case by MySQL and MariaDB.
    Text,
    VarChar(u16),
    Char(u8),
    /// Text that is compared byte by byte everywhere.
    Plain,
    Date,
    Stamp,
    Bool,
    Json,
    Ints,
    Texts,
    Bytes,
    Uuid,
    /// An enum: words in an order of their own.
    Mood,
}

/// What one may do with values of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Whole,
    Exact,
    Float,
    Text,
    Date,
    Stamp,
    Bool,
    Json,
    Ints,
    Texts,
    Bytes,
    Uuid,
    Mood,
}

#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) shown: Shown,
    pub(crate) nullable: bool,
}

/// Whether `*` means a column, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Always,
    /// MySQL and MariaDB: only where it is named.
    WhenNamed,
}

#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    /// The primary key, by place among the columns.
    pub(crate) key: Vec<usize>,
    /// Besides its columns it has [`MOMENT`].
    pub(crate) timed: bool,
}

/// A column that takes the time of the statement, or of the transaction. No two runs have the same in it: what is
/// compared is how many different ones there are.
pub(crate) const MOMENT: &str = "w";

impl Server {
    pub(crate) fn is_postgres(self) -> bool {
        self == Self::Postgres
    }

    /// Its name in reports and in `onlyif`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::MariaDb => "mariadb",
            Self::MySql => "mysql",
        }
    }
}

impl Kind {
    pub(crate) fn class(self) -> Class {
        match self {
            Self::Small | Self::Int | Self::Big => Class::Whole,
            Self::Decimal(..) | Self::Numeric => Class::Exact,
            Self::Real | Self::Double => Class::Float,
            Self::Text | Self::VarChar(_) | Self::Char(_) | Self::Plain => Class::Text,
            Self::Date => Class::Date,
            Self::Stamp => Class::Stamp,
            Self::Bool => Class::Bool,
            Self::Json => Class::Json,
            Self::Ints => Class::Ints,
            Self::Texts => Class::Texts,
            Self::Bytes => Class::Bytes,
            Self::Uuid => Class::Uuid,
            Self::Mood => Class::Mood,
        }
    }

    pub(crate) fn sql(self, server: Server) -> String {
        let postgres = server.is_postgres();
        let words = match self {
            Self::Small => "smallint",
            Self::Int => "int",
            Self::Big => "bigint",
            Self::Decimal(size, scale) => return format!("decimal({size},{scale})"),
            Self::Numeric => "numeric",
            Self::Real if postgres => "real",
            Self::Real => "float",
            Self::Double if postgres => "double precision",
            Self::Double => "double",
            Self::Text => "text",
            Self::VarChar(size) => return format!("varchar({size})"),
            Self::Char(size) => return format!("char({size})"),
            Self::Plain if postgres => "varchar(40)",
            Self::Plain => "varchar(40) character set utf8mb4 collate utf8mb4_bin",
            Self::Date => "date",
            Self::Stamp if postgres => "timestamp",
            Self::Stamp => "datetime(3)",
            Self::Bool => "boolean",
            Self::Json if postgres => "jsonb",
            Self::Json => "json",
            Self::Ints => "int[]",
            Self::Texts => "text[]",
            Self::Bytes if postgres => "bytea",
            Self::Bytes => "varbinary(200)",
            Self::Uuid if postgres => "uuid",
            Self::Uuid => "char(36)",
            Self::Mood if postgres => "mood",
            Self::Mood => "enum('sad', 'ok', 'glad')",
        };
        words.to_owned()
    }
}

impl Class {
    /// ORDER BY, GROUP BY and comparisons know it.
    pub(crate) fn is_comparable(self) -> bool {
        self != Self::Json
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Whole | Self::Exact | Self::Float)
    }
}

/// What the names of views end with, behind their tables' names.
pub(crate) const SEEN: &str = "_seen";

/// The table that a view shows, or the table itself.
pub(crate) fn seen(name: &str) -> &str {
    name.strip_suffix(SEEN).unwrap_or(name)
}

impl Table {
    /// A view of all its rows.
    pub(crate) fn view_name(&self) -> String {
        format!("{}{SEEN}", self.name)
    }

    /// Its definition.
    pub(crate) fn view(&self) -> String {
        format!("create view {} as select * from {}", self.view_name(), self.name)
    }

    /// CREATE TABLE, for both sides alike.
    pub(crate) fn definition(&self, server: Server) -> String {
        let mut sql = format!("create table {} (", self.name);
        for column in &self.columns {
            let mut rest = if column.nullable { "" } else { " not null" }.to_owned();
            if column.shown == Shown::WhenNamed {
                rest.push_str(" invisible");
            }
            let _ = write!(sql, "{} {}{rest}, ", column.name, column.kind.sql(server));
        }
        if self.timed {
            let words = if server.is_postgres() {
                "timestamptz default now()"
            } else {
                "datetime(6) default current_timestamp(6)"
            };
            let _ = write!(sql, "{MOMENT} {words}, ");
        }
        let key: Vec<&str> =
            self.key.iter().filter_map(|at| Some(self.columns.get(*at)?.name.as_str())).collect();
        let _ = write!(sql, "primary key ({}))", key.join(", "));
        sql
    }
}

/// Three to six tables. The second and third often belong to the first, by a column `a_id`.
pub(crate) fn tables(chance: &mut Chance, server: Server) -> Vec<Table> {
    let count = chance.between(3, 6);
    (0..count).map(|at| table(chance, server, at)).collect()
}

const NAMES: [&str; 6] = ["ta", "tb", "tc", "td", "te", "tf"];

fn table(chance: &mut Chance, server: Server, at: usize) -> Table {
    let key_kind = *chance.one(&[Kind::Int, Kind::Big, Kind::Int]);
    let mut columns = vec![column("id", key_kind, false)];
    // What other tables are joined by, and what may be sharded by instead of the id.
    columns.push(column("g", *chance.one(&[Kind::Int, Kind::Big]), false));
    // Texts that are one to the server though they differ in their letters, where its collations say so.
    let is_folded = !server.is_postgres() && chance.percent(30);
    let text = if is_folded { Kind::VarChar(40) } else { Kind::Plain };
    columns.push(column("s", text, false));
    let more = chance.between(2, 7);
    for number in 0..more {
        let kind = kind(chance, server);
        let mut one = column(&format!("c{number}"), kind, chance.percent(75));
        // Where it is not named it must have a value all the same.
        if !server.is_postgres() && one.nullable && chance.percent(12) {
            one.shown = Shown::WhenNamed;
        }
        columns.push(one);
    }
    let timed = chance.percent(15);
    Table { name: NAMES[at % NAMES.len()].to_owned(), columns, key: vec![0], timed }
}

fn column(name: &str, kind: Kind, nullable: bool) -> Column {
    Column { name: name.to_owned(), kind, nullable, shown: Shown::Always }
}

fn kind(chance: &mut Chance, server: Server) -> Kind {
    let common = [
        Kind::Small,
        Kind::Int,
        Kind::Int,
        Kind::Big,
        Kind::Decimal(10, 2),
        Kind::Decimal(18, 4),
        Kind::Double,
        Kind::Real,
        Kind::Text,
        Kind::VarChar(30),
        Kind::Char(8),
        Kind::Plain,
        Kind::Date,
        Kind::Stamp,
        Kind::Bool,
        Kind::Json,
        Kind::Bytes,
        Kind::Mood,
    ];
    let postgres = [Kind::Numeric, Kind::Ints, Kind::Texts, Kind::Uuid];
    if server.is_postgres() && chance.percent(20) {
        *chance.one(&postgres)
    } else {
        *chance.one(&common)
    }
}

/// What is made on both sides before the tables: the type of enums, and a sequence where the server has them.
pub(crate) fn before(server: Server) -> &'static [&'static str] {
    match server {
        Server::Postgres => {
            &["create type mood as enum ('sad', 'ok', 'glad')", "create sequence sq"]
        }
        Server::MariaDb => &["create sequence sq"],
        Server::MySql => &[],
    }
}
