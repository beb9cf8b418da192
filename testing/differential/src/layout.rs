//! Where the rows of each table stand: a layout becomes Pando's configuration.

use std::fmt::Write as _;

use crate::chance::Chance;
use crate::schema::{Kind, Server, Shown, Table};

/// One way to spread the tables over storage units.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    /// Storage units, at least 1; `ds_0` and on.
    pub(crate) units: usize,
    /// By table name.
    pub(crate) places: Vec<(String, Placement)>,
    /// Tables that lie together.
    pub(crate) bound: Vec<Vec<String>>,
    /// Columns that are stored encrypted.
    pub(crate) encrypted: Vec<Encrypted>,
}

/// How columns are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// As they are.
    Plain,
    /// Up to two texts and another column of each table encrypted.
    Encrypted,
}

/// A column that is stored encrypted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Encrypted {
    table: String,
    column: String,
    /// The type that its rule says; texts need none.
    data_type: Option<String>,
    cipher: Cipher,
}

/// What stands for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cipher {
    /// The same text for equal values.
    Aes,
    /// The same, and a digest for equality.
    AesWithDigest,
    /// Another text each time, and a digest for equality.
    GcmSiv,
}

const ENCRYPTORS: &str = "  encryptors:
    aes: {type: AES, props: {aes-key-value: bench}}
    md5: {type: MD5, props: {salt: bench}}
    siv: {type: AES_GCM_SIV, props: {keys: \"1=base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\", key-id: 1}}
    mac: {type: HMAC_SHA256, props: {key: \"base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\"}}
";

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Placement {
    /// Whole in this unit.
    Single(usize),
    Broadcast,
    /// `shards` parts, one after the other over the units.
    Split {
        by: String,
        algorithm: &'static str,
        shards: usize,
    },
    /// By one column over the units, by another over `each` tables in it.
    Grid {
        units_by: String,
        tables_by: String,
        each: usize,
    },
}

impl Placement {
    fn words(&self) -> String {
        match self {
            Self::Single(unit) => format!("single in ds_{unit}"),
            Self::Broadcast => "broadcast".to_owned(),
            Self::Split { by, algorithm, shards } => {
                format!("{algorithm}({by}) over {shards} shards")
            }
            Self::Grid { units_by, tables_by, each } => {
                format!("units by {units_by}, {each} tables each by {tables_by}")
            }
        }
    }

    /// Columns that decide where a row stands.
    pub(crate) fn columns(&self) -> Vec<&str> {
        match self {
            Self::Single(_) | Self::Broadcast => Vec::new(),
            Self::Split { by, .. } => vec![by],
            Self::Grid { units_by, tables_by, .. } => vec![units_by, tables_by],
        }
    }
}

impl Layout {
    pub(crate) fn of(&self, table: &str) -> Option<&Placement> {
        self.places.iter().find(|(name, _)| name == table).map(|(_, placement)| placement)
    }

    pub(crate) fn is_bound(&self, left: &str, right: &str) -> bool {
        let has = |group: &Vec<String>, name: &str| group.iter().any(|own| own == name);
        self.bound.iter().any(|group| has(group, left) && has(group, right))
    }

    /// For people.
    pub(crate) fn words(&self) -> String {
        let mut words = format!("{} units", self.units);
        for (table, placement) in &self.places {
            let _ = write!(words, "; {table}: {}", placement.words());
        }
        for group in &self.bound {
            let _ = write!(words, "; bound: {}", group.join(" "));
        }
        for own in &self.encrypted {
            let _ = write!(words, "; {}.{}: {:?}", own.table, own.column, own.cipher);
        }
        words
    }

    /// The rules of a `database-*.yaml`.
    pub(crate) fn rules(&self) -> String {
        let units: Vec<String> = (0..self.units).map(|unit| format!("ds_{unit}")).collect();
        let (mut auto, mut tables, mut algorithms) = (String::new(), String::new(), String::new());
        let mut known: Vec<String> = Vec::new();
        let mut algorithm = |kind: &str, count: usize| {
            let name = format!("{}_{count}", kind.to_lowercase());
            if !known.contains(&name) {
                let _ = writeln!(algorithms, "    {name}: {}", properties(kind, count));
                known.push(name.clone());
            }
            name
        };
        for (table, placement) in &self.places {
            match placement {
                Placement::Single(_) | Placement::Broadcast => {}
                Placement::Split { by, algorithm: kind, shards } => {
                    let name = algorithm(kind, *shards);
                    let _ = writeln!(
                        auto,
                        "    {table}: {{actualDataSources: \"{}\", shardingStrategy: {{standard: \
                         {{shardingColumn: {by}, shardingAlgorithmName: {name}}}}}}}",
                        units.join(",")
                    );
                }
                Placement::Grid { units_by, tables_by, each } => {
                    let (over, inner) = (algorithm("MOD", self.units), algorithm("MOD", *each));
                    let _ = writeln!(
                        tables,
                        "    {table}: {{actualDataNodes: \"ds_${{0..{}}}.{table}_${{0..{}}}\", \
                         databaseStrategy: {{standard: {{shardingColumn: {units_by}, \
                         shardingAlgorithmName: {over}}}}}, tableStrategy: {{standard: \
                         {{shardingColumn: {tables_by}, shardingAlgorithmName: {inner}}}}}}}",
                        self.units - 1,
                        each - 1
                    );
                }
            }
        }
        self.written(&tables, &auto, &algorithms)
    }

    fn written(&self, tables: &str, auto: &str, algorithms: &str) -> String {
        let mut rules = "rules:\n".to_owned();
        if !tables.is_empty() || !auto.is_empty() {
            rules.push_str("- !SHARDING\n");
            for (word, part) in [("tables", tables), ("autoTables", auto)] {
                if !part.is_empty() {
                    let _ = write!(rules, "  {word}:\n{part}");
                }
            }
            if !self.bound.is_empty() {
                let groups: Vec<String> =
                    self.bound.iter().map(|group| format!("\"{}\"", group.join(","))).collect();
                let _ = writeln!(rules, "  bindingTables: [{}]", groups.join(", "));
            }
            let _ = write!(rules, "  shardingAlgorithms:\n{algorithms}");
        }
        let named = |wanted: fn(&Placement) -> bool| -> Vec<&str> {
            let kept = self.places.iter().filter(|(_, placement)| wanted(placement));
            kept.map(|(name, _)| name.as_str()).collect()
        };
        let broadcast = named(|placement| *placement == Placement::Broadcast);
        if !broadcast.is_empty() {
            let _ = writeln!(rules, "- !BROADCAST\n  tables: [{}]", broadcast.join(", "));
        }
        let singles: Vec<String> = self
            .places
            .iter()
            .filter_map(|(name, placement)| match placement {
                Placement::Single(unit) => Some(format!("ds_{unit}.{name}")),
                Placement::Broadcast | Placement::Split { .. } | Placement::Grid { .. } => None,
            })
            .collect();
        let list = if singles.is_empty() { "\"*.*\"".to_owned() } else { singles.join(", ") };
        let _ = writeln!(rules, "- !SINGLE\n  tables: [{list}]\n  defaultDataSource: ds_0");
        rules + &self.ciphers()
    }

    /// Whether a table has columns that are stored encrypted.
    pub(crate) fn encrypts(&self, table: &str) -> bool {
        self.encrypted.iter().any(|own| own.table == table)
    }

    fn ciphers(&self) -> String {
        let mut tables = String::new();
        for (table, _) in self.places.iter().filter(|(table, _)| self.encrypts(table)) {
            let _ = writeln!(tables, "    {table}:\n      columns:");
            for Encrypted { column, data_type, cipher, .. } in
                self.encrypted.iter().filter(|own| own.table == *table)
            {
                let (encryptor, digest) = match cipher {
                    Cipher::Aes => ("aes", None),
                    Cipher::AesWithDigest => ("aes", Some("md5")),
                    Cipher::GcmSiv => ("siv", Some("mac")),
                };
                let digest = digest.map_or(String::new(), |digest| {
                    format!(", assistedQuery: {{name: {column}_digest, encryptorName: {digest}}}")
                });
                let data_type = data_type.as_ref();
                let data_type =
                    data_type.map_or(String::new(), |kind| format!("dataType: \"{kind}\", "));
                let _ = writeln!(
                    tables,
                    "        {column}: {{{data_type}cipher: {{name: {column}_cipher, encryptorName: {encryptor}}}{digest}}}"
                );
            }
        }
        if tables.is_empty() {
            tables
        } else {
            format!("- !ENCRYPT\n  tables:\n{tables}{ENCRYPTORS}")
        }
    }
}

/// Whether values of a kind can be encrypted where the rule says what they are.
fn has_one_text(kind: Kind, server: Server) -> bool {
    match kind {
        Kind::Small
        | Kind::Int
        | Kind::Big
        | Kind::Decimal(..)
        | Kind::Date
        | Kind::Stamp
        | Kind::Bool => true,
        Kind::Uuid => server.is_postgres(),
        Kind::Numeric
        | Kind::Real
        | Kind::Double
        | Kind::Text
        | Kind::VarChar(_)
        | Kind::Char(_)
        | Kind::Plain
        | Kind::Json
        | Kind::Ints
        | Kind::Texts
        | Kind::Bytes
        | Kind::Mood => false,
    }
}

/// Encrypts up to two texts of each table that compare byte by byte, and one other column; they decide nothing else.
/// Tables of one unit then stand where Pando makes them.
pub(crate) fn encrypt(chance: &mut Chance, server: Server, tables: &[Table], layout: &mut Layout) {
    for (at, table) in tables.iter().enumerate() {
        let is_kept = |kind: Kind| {
            kind == Kind::Plain
                || server.is_postgres() && matches!(kind, Kind::Text | Kind::VarChar(_))
        };
        // What a `*` does not give is refused beside an encrypted column.
        let is_whole = table.columns.iter().all(|column| column.shown == Shown::Always);
        let fit = table.columns.iter().enumerate().filter(|(place, column)| {
            is_whole && is_kept(column.kind) && !table.key.contains(place)
        });
        let names: Vec<&str> = fit.map(|(_, column)| column.name.as_str()).collect();
        for (name, ciphers) in names.iter().zip([
            &[Cipher::Aes, Cipher::AesWithDigest][..],
            &[Cipher::GcmSiv, Cipher::GcmSiv, Cipher::Aes][..],
        ]) {
            let cipher = *chance.one(ciphers);
            let (table, column) = (table.name.clone(), (*name).to_owned());
            layout.encrypted.push(Encrypted { table, column, data_type: None, cipher });
        }
        let others: Vec<_> = table
            .columns
            .iter()
            .enumerate()
            .filter(|(place, column)| {
                is_whole && has_one_text(column.kind, server) && !table.key.contains(place)
            })
            .map(|(_, column)| column)
            .collect();
        if !others.is_empty() && chance.percent(60) {
            let own = *chance.one(&others);
            layout.encrypted.push(Encrypted {
                table: table.name.clone(),
                column: own.name.clone(),
                data_type: Some(own.kind.sql(server)),
                cipher: *chance.one(&[Cipher::Aes, Cipher::AesWithDigest, Cipher::GcmSiv]),
            });
        }
        if let Some((_, placement)) = layout
            .places
            .get_mut(at)
            .filter(|(own, _)| layout.encrypted.iter().any(|one| one.table == *own))
            && matches!(placement, Placement::Single(_))
        {
            *placement = Placement::Single(0);
        }
    }
}

fn properties(kind: &str, count: usize) -> String {
    match kind {
        "MOD" | "HASH_MOD" => format!("{{type: {kind}, props: {{sharding-count: {count}}}}}"),
        _ => {
            // The middle parts hold most rows, the outer ones next to none.
            let ends: Vec<String> = (1..count).map(|at| (at * 2 - 1).to_string()).collect();
            format!("{{type: {kind}, props: {{sharding-ranges: \"{}\"}}}}", ends.join(","))
        }
    }
}

/// A layout for these tables; their primary keys grow by what decides where a row stands, as one server must hold the same promise.
pub(crate) fn draw(chance: &mut Chance, tables: &mut [Table]) -> Layout {
    let units = *chance.one(&[1, 2, 2, 3, 4]);
    let shards = *chance.one(&[1, 2, 3, 4, 4, 8]);
    let algorithms = ["MOD", "HASH_MOD", "MOD", "BOUNDARY_RANGE"];
    let algorithm = *chance.one(if shards == 1 { &algorithms[..2] } else { &algorithms });
    let mut layout = Layout { units, places: Vec::new(), bound: Vec::new(), encrypted: Vec::new() };
    let mut group = Vec::new();
    for (at, table) in tables.iter_mut().enumerate() {
        let placement = match chance.below(if at == 0 { 6 } else { 12 }) {
            // The first by its id, the others by what refers to it: the usual family.
            0..=3 => {
                let by = if at == 0 || chance.percent(25) { "id" } else { "g" };
                group.push(table.name.clone());
                Placement::Split { by: by.to_owned(), algorithm, shards }
            }
            4 => Placement::Split {
                by: "g".to_owned(),
                algorithm: chance.pick(&["MOD", "HASH_MOD"]),
                shards: *chance.one(&[2, 3, 4]),
            },
            5 if chance.percent(50) => Placement::Grid {
                units_by: "g".to_owned(),
                tables_by: "id".to_owned(),
                each: *chance.one(&[1, 2, 3]),
            },
            5 | 6 => Placement::Split {
                by: "s".to_owned(),
                algorithm: "HASH_MOD",
                shards: *chance.one(&[2, 4]),
            },
            7..=9 => Placement::Broadcast,
            _ => Placement::Single(chance.below(units)),
        };
        let more = placement.columns();
        for (place, column) in table.columns.iter().enumerate() {
            if more.contains(&column.name.as_str()) && !table.key.contains(&place) {
                table.key.push(place);
            }
        }
        layout.places.push((table.name.clone(), placement));
    }
    if group.len() > 1 {
        layout.bound.push(group);
    }
    layout
}
