//! Whether a column keeps all of its values, and their equality, under another type. What is not known to keep them does not.

use pando_kernel::dialect::TableColumn;

use super::words::{Words, unquoted};

/// Another definition of a column, as far as it decides about values.
#[derive(Debug)]
pub(super) struct Change<'a> {
    /// The type as written; none where it stays.
    kind: Option<String>,
    /// The collation as written.
    collation: Option<&'a str>,
    /// Only columns of texts are meant.
    of_texts: bool,
    /// What gives no collation leaves that of the table's own columns.
    falls_back: bool,
    /// Values are counted by the server.
    counts: bool,
    /// What makes the values others, whatever the types.
    otherwise: Option<&'static str>,
}

/// Why a change may not be, and what may.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Why {
    pub(super) reason: String,
    pub(super) way: Option<String>,
}

/// Whose types they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Types {
    /// Of the language that reads what it can of a text; a text's type has a length, and its columns a collation each.
    Loose,
    /// Of the other one.
    Strict,
}

/// What a type holds.
#[derive(Debug, PartialEq, Eq)]
enum Holds {
    /// Whole numbers between two.
    Whole(i128, i128),
    /// Exact numbers with so many digits in front of the point and behind it.
    Exact(u64, u64),
    /// Texts: any of this length fits, none that is longer than the other.
    Text(u64, u64),
    /// Texts that are filled up with spaces.
    Filled(u64),
    /// Octets.
    Octets(u64),
    /// What this type holds, and no other does.
    Only(String),
}

/// Words behind a type of MySQL's that give texts a character set or collation of no name.
const SETS: [&str; 4] = ["ascii", "unicode", "byte", "binary"];

impl<'a> Change<'a> {
    /// MySQL: what stands behind the column in MODIFY and CHANGE.
    pub(super) fn modify(definition: Words<'a>) -> Self {
        let kind = length(definition);
        let rest = definition.from(kind);
        let is_unnamed = SETS.iter().any(|word| rest.is(0, word));
        let is_set = rest.has(&["character", "set"]) || rest.has(&["charset"]);
        Self {
            falls_back: !is_set,
            kind: Some(written(definition.until(kind))),
            collation: collation(rest),
            of_texts: false,
            counts: rest.has(&["auto_increment"]),
            otherwise: is_unnamed.then_some("its character set is given by a word for some set"),
        }
    }

    /// PostgreSQL: what stands behind TYPE.
    pub(super) fn set_type(column: &str, words: Words<'a>) -> Self {
        let using = words.find(&["using"]);
        let expression = using.map(|at| words.from(at + 1));
        let words = words.until(using.unwrap_or(words.0.len()));
        let kind = words.find(&["collate"]).unwrap_or(words.0.len());
        let kind_text = written(words.until(kind));
        let is_cast = |given: Words<'_>| {
            let is_own = given.name().is_some_and(|own| own.eq_ignore_ascii_case(column));
            let rest = given.from(1);
            is_own && (rest.0.is_empty() || rest.is(0, "::") && written(rest.from(1)) == kind_text)
        };
        Self {
            otherwise: expression
                .filter(|given| !is_cast(*given))
                .map(|_| "USING may give it any values"),
            collation: collation(words.from(kind)),
            kind: Some(kind_text),
            of_texts: false,
            falls_back: false,
            counts: false,
        }
    }

    /// The statement gives the table another collation, too.
    pub(super) fn in_another(self) -> Self {
        Self { falls_back: false, ..self }
    }

    /// MySQL: `TO CHARACTER SET …`.
    pub(super) fn convert(words: Words<'a>) -> Self {
        Self {
            kind: None,
            collation: collation(words),
            of_texts: true,
            falls_back: false,
            counts: false,
            otherwise: None,
        }
    }

    /// # Errors
    /// Why the column may not become that.
    pub(super) fn keeps(&self, column: &TableColumn, types: Types) -> Result<(), Why> {
        let why = |reason: String| Err(Why { reason, way: None });
        let old = written_type(&column.type_name);
        if self.of_texts && column.collation.is_empty() {
            return Ok(());
        }
        if let Some(otherwise) = self.otherwise {
            return why(otherwise.to_owned());
        }
        if self.counts && !column.auto_increment {
            return why("the server would number the rows that have 0 or NULL".to_owned());
        }
        let new = self.kind.as_ref().unwrap_or(&old);
        if *new != old && !keeps(&holds(&old, types), &holds(new, types)) {
            return why(format!(
                "not every value of `{}` is the same as `{new}`",
                column.type_name
            ));
        }
        self.compares_alike(column, types)
    }

    /// Under another collation others are equal, which decides about spaces at the end and about where equal values are looked for.
    fn compares_alike(&self, column: &TableColumn, types: Types) -> Result<(), Why> {
        let known = match types {
            Types::Loose => &column.collation,
            Types::Strict => &column.collate,
        };
        let bare = known.split_once('.').map_or(known.as_str(), |(_, name)| name);
        let same = match self.collation {
            None => known.is_empty() || self.falls_back && column.collate.is_empty(),
            Some(given) => unquoted(given).trim_matches('\'').eq_ignore_ascii_case(unquoted(bare)),
        };
        if same {
            return Ok(());
        }
        let (reason, way) = match known.as_str() {
            "" => {
                ("it would get a collation of its own".to_owned(), "leave COLLATE out".to_owned())
            }
            known => (
                "the statement does not say that its collation stays".to_owned(),
                format!("write COLLATE {known}, which it has, behind its type"),
            ),
        };
        Err(Why { reason, way: Some(way) })
    }
}

/// The collation that is given.
fn collation(words: Words<'_>) -> Option<&str> {
    let at = words.find(&["collate"])?;
    let at = at + 1 + usize::from(words.is(at + 1, "="));
    let last = match words.is(at + 1, ".") {
        true => at + 2,
        false => at,
    };
    words.word(last)
}

/// How many words are the type in a definition of MySQL's.
fn length(words: Words<'_>) -> usize {
    let is = |at: usize, list: &[&str]| list.iter().any(|word| words.is(at, word));
    let mut at = match (is(0, &["double"]), is(1, &["precision"])) {
        (true, true) => 2,
        _ if is(0, &["char", "character"]) && is(1, &["varying"]) => 2,
        _ if is(0, &["national", "long"]) => 2,
        _ => 1,
    };
    if words.is(at, "(") {
        at += words.from(at + 1).find(&[")"]).map_or(words.0.len(), |end| end + 2);
    }
    while is(at, &["unsigned", "signed", "zerofill"]) {
        at += 1;
    }
    at
}

/// A type's text in one form: names and keywords in lower case, no space but between words.
fn written(words: Words<'_>) -> String {
    let mut text = String::new();
    for word in words.0 {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if text.ends_with(is_word) && word.starts_with(is_word) {
            text.push(' ');
        }
        match word.starts_with(['\'', '"', '`']) {
            true => text.push_str(word),
            false => text.push_str(&word.to_ascii_lowercase()),
        }
    }
    text
}

/// The same of a type as the catalogue has it.
fn written_type(text: &str) -> String {
    let text = text.replace(", ", ",").replace(" (", "(");
    text.trim().to_owned()
}

/// Whether this is a type that users have made.
pub(super) fn is_of_users(type_name: &str) -> bool {
    const KNOWN: [&str; 18] = [
        "date",
        "time",
        "timestamp",
        "uuid",
        "boolean",
        "real",
        "double",
        "bytea",
        "interval",
        "bit",
        "inet",
        "cidr",
        "macaddr",
        "json",
        "jsonb",
        "money",
        "name",
        "oid",
    ];
    let is_only = matches!(holds(&written_type(type_name), Types::Strict), Holds::Only(_));
    let base = type_name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    is_only && !KNOWN.contains(&base)
}

fn holds(text: &str, types: Types) -> Holds {
    let is_loose = types == Types::Loose;
    const MOST: u64 = u64::MAX;
    let only = || Holds::Only(text.to_owned());
    let (base, rest) = match text.split_once('(') {
        Some((base, rest)) => (base.trim(), rest),
        None => (text, ")"),
    };
    let Some((numbers, rest)) = rest.split_once(')') else { return only() };
    let is_unsigned = rest.contains("unsigned") || base.ends_with(" unsigned");
    if text.contains("zerofill") {
        return only();
    }
    let base = base.trim_end_matches(" unsigned").trim_end_matches(" signed");
    let numbers: Vec<u64> = numbers.split(',').filter_map(|one| one.trim().parse().ok()).collect();
    let bits = |bits: u32| match is_unsigned {
        true => Holds::Whole(0, (1 << bits) - 1),
        false => Holds::Whole(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    };
    let first = numbers.first().copied();
    match base {
        "tinyint" | "int1" => bits(8),
        "smallint" | "int2" => bits(16),
        "mediumint" | "middleint" | "int3" => bits(24),
        "int" | "integer" | "int4" => bits(32),
        "bigint" | "int8" => bits(64),
        "decimal" | "numeric" | "dec" | "fixed" => match (numbers.as_slice(), is_unsigned) {
            (_, true) => only(),
            ([], false) if is_loose => Holds::Exact(10, 0),
            ([], false) => Holds::Exact(MOST, MOST),
            ([digits], false) => Holds::Exact(*digits, 0),
            ([digits, places, ..], false) => Holds::Exact(digits.saturating_sub(*places), *places),
        },
        "varchar" | "character varying" | "char varying" => {
            let most = first.unwrap_or(MOST);
            Holds::Text(most, most)
        }
        // In characters: of four octets at most, of one at least.
        "tinytext" if is_loose => Holds::Text(63, 255),
        "text" if is_loose && first.is_none() => Holds::Text(16_383, 65_535),
        "mediumtext" if is_loose => Holds::Text(4_194_303, 16_777_215),
        "longtext" if is_loose => Holds::Text(1_073_741_823, 4_294_967_295),
        "text" if !is_loose => Holds::Text(MOST, MOST),
        "char" | "character" => Holds::Filled(first.unwrap_or(1)),
        "varbinary" => Holds::Octets(first.unwrap_or(1)),
        _ => only(),
    }
}

fn keeps(old: &Holds, new: &Holds) -> bool {
    match (old, new) {
        (Holds::Whole(low, high), Holds::Whole(new_low, new_high)) => {
            new_low <= low && high <= new_high
        }
        (Holds::Exact(digits, places), Holds::Exact(new_digits, new_places)) => {
            digits <= new_digits && places <= new_places
        }
        (Holds::Text(_, longest), Holds::Text(fits, _)) => longest <= fits,
        (Holds::Filled(length), Holds::Filled(new_length)) => length <= new_length,
        (Holds::Octets(most), Holds::Octets(new_most)) => most <= new_most,
        (Holds::Only(old), Holds::Only(new)) => old == new,
        (
            Holds::Whole(..)
            | Holds::Exact(..)
            | Holds::Text(..)
            | Holds::Filled(_)
            | Holds::Octets(_)
            | Holds::Only(_),
            _,
        ) => false,
    }
}

#[cfg(test)]
mod tests {
    use pando_kernel::Kind;
    use pando_sql::{Fold, Placeholder, Syntax};

    use super::*;

    /// As far as types are concerned, both languages.
    const SYNTAX: Syntax = Syntax {
        fold: Fold::Lower,
        exact_tables: false,
        placeholder: Placeholder::Question,
        backtick_identifiers: true,
        double_quoted_strings: false,
        backslash_escapes: false,
        dollar_strings: false,
        hash_comments: false,
        dash_comment_needs_space: false,
        nested_comments: false,
        executable_comments: false,
        casts_with_colons: true,
        limit_with_comma: false,
        pipes_concatenate: false,
    };

    fn column(type_name: &str, collation: &str) -> TableColumn {
        TableColumn {
            name: "k".into(),
            kind: Kind::Other,
            type_name: type_name.into(),
            collation: collation.into(),
            collate: String::new(),
            zone: None,
            primary_key: false,
            auto_increment: false,
            nullable: false,
            invisible: false,
            attribute: Default::default(),
            timed: None,
        }
    }

    /// Whether a column of the one type may become what the text says.
    fn may(old: &TableColumn, text: &str, types: Types) -> bool {
        let tokens = pando_sql::tokenize(text, &SYNTAX).expect(text);
        let words: Vec<&str> = tokens.list.iter().map(|token| token.span.of(text)).collect();
        let change = match types {
            Types::Loose => Change::modify(Words(&words)),
            Types::Strict => Change::set_type("k", Words(&words)),
        };
        change.keeps(old, types).is_ok()
    }

    #[test]
    fn wider_types_of_mysql_keep_all_values() {
        for (old, new, expected) in [
            ("int(11)", "BIGINT NOT NULL", true),
            ("int(11)", "int", true),
            ("int(11)", "INT(10) UNSIGNED", false),
            ("int(10) unsigned", "bigint(20)", true),
            ("int(10) unsigned", "int", false),
            ("bigint unsigned", "bigint(20) unsigned not null comment 'auto_increment'", true),
            ("int(11)", "int not null auto_increment", false),
            ("int(11)", "smallint", false),
            ("int(11)", "varchar(20)", false),
            ("int(11)", "double precision", false),
            ("int(10) unsigned zerofill", "bigint unsigned", false),
            ("decimal(10,2)", "numeric(12, 3)", true),
            ("decimal(10,2)", "decimal(10,3)", false),
            ("decimal(10,2)", "decimal", false),
            ("enum('a','B')", "enum('a', 'B') not null", true),
            ("enum('a','B')", "enum('a', 'b') not null", false),
            ("datetime(3)", "datetime(3) default current_timestamp(3)", true),
            ("datetime", "timestamp", false),
            ("varbinary(20)", "varbinary(30)", true),
            ("date", "datetime", false),
        ] {
            assert_eq!(may(&column(old, ""), new, Types::Loose), expected, "{old} to {new}");
        }
    }

    #[test]
    fn texts_of_mysql_keep_their_collation() {
        for (old, new, expected) in [
            ("varchar(20)", "varchar(30) collate utf8mb4_bin not null", true),
            ("varchar(20)", "varchar(30) character set utf8mb4 collate 'utf8mb4_bin'", true),
            ("varchar(20)", "varchar(30)", true),
            ("varchar(20)", "varchar(30) character set utf8mb4", false),
            ("varchar(20)", "varchar(30) charset utf8mb4", false),
            ("varchar(20)", "varchar(30) collate utf8mb4_general_ci", false),
            ("varchar(20)", "varchar(30) binary collate utf8mb4_bin", false),
            ("varchar(20)", "text collate utf8mb4_bin", true),
            ("varchar(20000)", "text collate utf8mb4_bin", false),
            ("text", "longtext collate utf8mb4_bin", true),
            ("char(20)", "varchar(20) collate utf8mb4_bin", false),
        ] {
            assert_eq!(
                may(&column(old, "utf8mb4_bin"), new, Types::Loose),
                expected,
                "{old} to {new}"
            );
        }
    }

    #[test]
    fn a_collation_that_is_not_the_tables_has_to_be_named() {
        let own =
            TableColumn { collate: "utf8mb4_bin".into(), ..column("varchar(20)", "utf8mb4_bin") };
        assert!(!may(&own, "varchar(30)", Types::Loose));
        assert!(may(&own, "varchar(30) collate utf8mb4_bin", Types::Loose));
        let tokens = ["varchar", "(", "30", ")"];
        let other = Change::modify(Words(&tokens)).in_another();
        assert!(other.keeps(&column("varchar(20)", "utf8mb4_bin"), Types::Loose).is_err());
    }

    #[test]
    fn wider_types_of_postgres_keep_all_values() {
        for (old, new, expected) in [
            ("integer", "bigint", true),
            ("integer", "int8 USING \"k\"::int8", true),
            ("integer", "int8 USING k", true),
            ("integer", "bigint USING k + 1", false),
            ("integer", "bigint USING k::int::bigint", false),
            ("bigint", "integer", false),
            ("integer", "text", false),
            ("integer", "numeric", false),
            ("numeric(10,2)", "numeric", true),
            ("numeric(10,2)", "numeric(10,1)", false),
            ("character varying(20)", "varchar(40)", true),
            ("character varying(20)", "text", true),
            ("text", "character varying", true),
            ("text", "varchar(40)", false),
            ("text", "text collate \"de_DE\"", false),
            ("character(4)", "char(9)", true),
            ("character(4)", "text", false),
            ("uuid", "uuid", true),
            ("uuid", "text", false),
            ("timestamp without time zone", "timestamptz", false),
        ] {
            assert_eq!(
                may(&column(old, "default"), new, Types::Strict),
                expected,
                "{old} to {new}"
            );
        }
    }

    #[test]
    fn types_of_users_are_told_from_the_server_s_own() {
        for (name, expected) in [
            ("mood", true),
            ("public.\"Mood\"", true),
            ("citext", true),
            ("integer", false),
            ("character varying(20)", false),
            ("timestamp without time zone", false),
            ("bit varying(3)", false),
        ] {
            assert_eq!(is_of_users(name), expected, "{name}");
        }
    }
}
