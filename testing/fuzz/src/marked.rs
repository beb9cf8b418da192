//! Statements about encrypted columns, made of bytes: no value that a client gives such a column may reach a storage unit
//! in the plain. Whatever the statement is, it is refused, or what is sent does not have the value.
//!
//! All places in which a statement has a marked value belong to encrypted columns, so that there is no other reason to
//! send one.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use pando_config::{File, parse_one};
use pando_engine::plan::{Plan, Planned, Purpose, plan};
use pando_fake::{Still, table_column};
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Context, Database, SessionView};
use pando_kernel::request::Parameter;
use pando_kernel::route::UnitName;
use pando_kernel::{Kind, LogicColumns, Value};

/// What is in every marked value, in any case and with anything but letters and digits in between.
const MARK: &str = "Zqmarkzq";
/// As deep as parts of a statement lie in each other.
const DEEPEST: usize = 4;

const RULES: &str = "
databaseName: shop
dataSources:
  ds_0: {url: 'URL/u0', username: t, password: ''}
  ds_1: {url: 'URL/u1', username: t, password: ''}
rules:
- !SHARDING
  tables:
    t:
      actualDataNodes: ds_${0..1}.t
      databaseStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by}}
  shardingAlgorithms:
    by: {type: MOD, props: {sharding-count: 2}}
- !ENCRYPT
  tables:
    t: &columns
      columns:
        phone:
          cipher: {name: phone_cipher, encryptorName: gcm}
          assistedQuery: {name: phone_mac, encryptorName: mac}
          likeQuery: {name: phone_like, encryptorName: like}
        note: {cipher: {name: note_cipher, encryptorName: aes}}
        mail: {dataType: VARCHAR(80), cipher: {name: mail_cipher, encryptorName: aes}}
    s: *columns
  encryptors:
    gcm: {type: AES_GCM_SIV, props: {keys: '1=base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=', key-id: 1}}
    mac: {type: HMAC_SHA256, props: {key: 'base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='}}
    aes: {type: AES, props: {aes-key-value: k}}
    like: {type: CHAR_DIGEST_LIKE, props: {approximate: true}}
- !SINGLE
  tables: ['*.*']
  defaultDataSource: ds_0
";

/// A database of either family, whose tables `t`, which is sharded, and `s`, which is not, have no column in the plain but
/// a number.
#[derive(Debug)]
pub struct Shop {
    database: Database,
    known: Known,
}

/// What became of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is no statement of the family.
    Unread,
    /// It was refused.
    Refused,
    /// It was looked at what is sent.
    Sent,
    /// It goes in steps, of which each is planned when it is its turn; it was looked at what is read first.
    Stepped,
}

/// What is known of the tables.
#[derive(Debug)]
struct Known {
    columns: Arc<Vec<TableColumn>>,
    /// With what is stored of them, by table.
    logic: HashMap<&'static str, Option<Arc<LogicColumns>>>,
    tables: Arc<HashMap<String, Vec<UnitName>>>,
}

impl Catalog for Known {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        let is_there = matches!(table, "t" | "s");
        Some(if is_there { Arc::clone(&self.columns) } else { Arc::default() })
    }

    fn logic(&self, table: &str) -> Option<Arc<LogicColumns>> {
        self.logic.get(table)?.clone()
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        Some(Arc::clone(&self.tables))
    }
}

/// The languages there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// MySQL's and MariaDB's.
    MySql,
    /// PostgreSQL's.
    Postgres,
}

/// Whether the rules encrypt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// They do.
    Encrypt,
    /// They do not: every marked value is sent.
    Nothing,
}

impl Shop {
    /// A database of a family.
    ///
    /// # Panics
    /// Where the rules above are wrong.
    pub fn new(family: Family, rules: Rules) -> Self {
        let url = match family {
            Family::MySql => "jdbc:mysql://127.0.0.1:1",
            Family::Postgres => "jdbc:postgresql://127.0.0.1:1",
        };
        let text = RULES.trim_start().replace("URL", url);
        let text = match (rules, text.split_once("- !ENCRYPT"), text.split_once("- !SINGLE")) {
            (Rules::Nothing, Some((before, _)), Some((_, behind))) => {
                format!("{before}- !SINGLE{behind}")
            }
            _ => text.clone(),
        };
        let file = File { name: "shop.yaml", text: &text };
        let configuration = parse_one(file, &|_| None).expect("a configuration");
        let built = pando_rooms::build(&configuration.databases[0], Path::new("/")).expect("rooms");
        // Such texts are compared and computed as they are told.
        let is_mysql = family == Family::MySql;
        let column = |name: &str| TableColumn {
            kind: if name == "id" { Kind::Int } else { Kind::Text },
            type_name: if name == "id" { "bigint" } else { "varchar(80)" }.to_owned(),
            primary_key: name == "id",
            collation: if is_mysql { "utf8mb4_bin" } else { "C" }.to_owned(),
            ..table_column(name, Kind::Text)
        };
        let stored: &[&str] = match rules {
            Rules::Encrypt => {
                &["id", "phone_cipher", "phone_mac", "phone_like", "note_cipher", "mail_cipher"]
            }
            Rules::Nothing => &["id", "phone", "note", "mail"],
        };
        let columns: Vec<TableColumn> = stored.iter().map(|name| column(name)).collect();
        let units = |names: &[&str]| names.iter().map(|&name| name.into()).collect();
        let tables = HashMap::from([
            ("t".to_owned(), units(&["ds_0", "ds_1"])),
            ("s".to_owned(), units(&["ds_0"])),
        ]);
        let seen = |table| built.database.logic_columns(table, &columns).expect("columns");
        let logic = HashMap::from(["t", "s"].map(|table| (table, seen(table).map(Arc::new))));
        let told = logic["t"].as_ref().map_or_else(|| columns.clone(), |own| own.told());
        let known = Known { columns: Arc::new(told), logic, tables: Arc::new(tables) };
        Self { database: built.database, known }
    }

    /// Plans the statement that these bytes make.
    ///
    /// # Errors
    /// The statement, and what would be sent with a marked value in the plain.
    pub fn check(&self, bytes: &[u8]) -> Result<Outcome, String> {
        let is_mysql = self.database.dialect.syntax().fold == pando_sql::Fold::Keep;
        let mut maker = Maker { bytes, is_mysql, parameters: Vec::new(), marks: 0 };
        let text = maker.statement();
        self.sent(&text, &maker.parameters, DEEPEST)
    }

    /// Plans this statement, which has no parameters.
    ///
    /// # Errors
    /// As [`Shop::check`].
    pub fn check_text(&self, text: &str) -> Result<Outcome, String> {
        self.sent(text, &[], DEEPEST)
    }

    /// Looks at all that is sent for a text, and for those that are read for it.
    fn sent(&self, text: &str, parameters: &[Parameter], deep: usize) -> Result<Outcome, String> {
        let dialect = &self.database.dialect;
        let Ok(statement) = pando_sql::parse(text, dialect.syntax()) else {
            return Ok(Outcome::Unread);
        };
        let mut session = SessionView::default();
        let facts = Arc::make_mut(&mut session.facts);
        facts.database = Some(self.database.name.clone());
        facts.databases = Arc::from([self.database.name.clone()]);
        let ctx = Context {
            database: &self.database,
            catalog: &self.known,
            dialect: dialect.as_ref(),
            parameters: Some(parameters),
            session: &session,
            source: &Still,
        };
        Ok(match plan(&ctx, &statement, Purpose::Run) {
            Ok(Planned::Run(plan)) => {
                hidden(text, &plan, parameters)?;
                Outcome::Sent
            }
            Ok(Planned::Assembly(assembly)) => {
                for read in &assembly.reads {
                    if deep > 0 {
                        self.sent(&read.text, parameters, deep - 1)?;
                    }
                }
                // What is asked of the rows then is planned by a session, which knows of which columns they are.
                Outcome::Stepped
            }
            Ok(Planned::Steps(_)) => Outcome::Stepped,
            Ok(Planned::Needs(_)) | Err(_) => Outcome::Refused,
        })
    }
}

/// Looks for marked values in all that a plan sends.
fn hidden(text: &str, plan: &Plan, parameters: &[Parameter]) -> Result<(), String> {
    let mut sent: Vec<String> = plan.before.iter().map(ToString::to_string).collect();
    for unit in &plan.units {
        sent.push(unit.sql.to_string());
        for (at, index) in unit.parameters.iter().enumerate() {
            let Some(own) = parameters.get(*index as usize) else { continue };
            let turn = unit.turns.iter().find(|(place, _)| *place == at);
            let value = match turn {
                Some((_, turn)) => turn.of(&own.value).unwrap_or(Value::Null),
                None => own.value.clone(),
            };
            sent.push(format!("{} with {value:?}", unit.sql));
        }
    }
    match sent.iter().find(|sent| is_marked(sent)) {
        None => Ok(()),
        Some(sent) => Err(format!("{text}\nis sent as\n{sent}")),
    }
}

fn is_marked(text: &str) -> bool {
    let letters: String = text
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|own| own.to_ascii_lowercase())
        .collect();
    let mark = MARK.to_ascii_lowercase();
    letters.contains(&mark)
        || letters.contains(&hexadecimal(MARK))
        || letters.contains(&hexadecimal(&mark))
}

fn hexadecimal(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes a statement of bytes: each decides one thing, and where there are none any more it is the first of its kind.
struct Maker<'a> {
    bytes: &'a [u8],
    is_mysql: bool,
    parameters: Vec<Parameter>,
    marks: usize,
}

impl Maker<'_> {
    fn byte(&mut self) -> usize {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        usize::from(*first)
    }

    /// One of several, where `{c}` is an encrypted column, `{v}` a value of one, `{p}` a condition, `{q}` a query, `{t}` a
    /// table, and `{n}` a number.
    fn one(&mut self, of: &[&str], deep: usize) -> String {
        // What is behind the first few lies deeper.
        let count = if deep == 0 { of.len().min(3) } else { of.len() };
        let at = self.byte() % count;
        let mut out = String::new();
        let mut rest = of[at];
        while let Some((before, behind)) = rest.split_once('{') {
            out.push_str(before);
            let Some((name, behind)) = behind.split_once('}') else { break };
            out.push_str(&self.part(name, deep.saturating_sub(1)));
            rest = behind;
        }
        out.push_str(rest);
        out
    }

    fn part(&mut self, name: &str, deep: usize) -> String {
        match name {
            "c" => self.column(deep),
            "v" => self.value(deep),
            "p" => self.condition(deep),
            "q" => self.query(deep),
            "t" => self.one(&["t", "s", "t"], 0),
            "n" => (self.byte() % 4).to_string(),
            _ => String::new(),
        }
    }

    fn column(&mut self, deep: usize) -> String {
        let own = match self.is_mysql {
            true => ["phone", "note", "mail", "`phone`", "PHONE", "`Note`"],
            false => ["phone", "note", "mail", "\"phone\"", "PHONE", "\"note\""],
        };
        let name = own[self.byte() % own.len()];
        match self.byte() % 12 {
            1 if deep > 0 => format!("({name})"),
            2 if deep > 0 => format!("t.{name}"),
            _ => name.to_owned(),
        }
    }

    /// A value with a mark in it.
    fn value(&mut self, deep: usize) -> String {
        self.marks += 1;
        let text = format!("{MARK}{}", self.marks);
        let (front, end) = text.split_at(4);
        let kinds = if deep == 0 { 3 } else { 16 };
        match (self.byte() % kinds, self.is_mysql) {
            (0, _) => format!("'{text}'"),
            (1, is_mysql) => {
                self.parameters.push(Parameter::made(Value::Text(text)));
                if is_mysql { "?".to_owned() } else { format!("${}", self.parameters.len()) }
            }
            (2, true) => format!("\"{text}\""),
            (2, false) => format!("E'\\x5A{}'", &text[1..]),
            (3, _) => format!("({})", self.value(deep - 1)),
            (4, true) => format!("_utf8mb4'{text}'"),
            (4, false) => format!("'{text}'::text"),
            (5, true) => format!("X'{}'", hexadecimal(&text)),
            (5, false) => format!("$x${text}$x$"),
            (6, true) => format!("'{front}' '{end}'"),
            (6, false) => format!("U&'{text}'"),
            (7, _) => format!("N'{text}'"),
            (8, _) => format!("CAST({} AS CHAR(40))", self.value(deep - 1)),
            (9, true) => format!("CONCAT({}, '')", self.value(deep - 1)),
            (9, false) => format!("({} || '')", self.value(deep - 1)),
            (10, true) => format!("{} COLLATE utf8mb4_bin", self.value(deep - 1)),
            (10, false) => format!("{} COLLATE \"C\"", self.value(deep - 1)),
            (11, _) => format!("COALESCE({}, NULL)", self.value(deep - 1)),
            (12, _) => format!("(SELECT {})", self.value(deep - 1)),
            (13, true) => format!("0x{}", hexadecimal(&text)),
            (13, false) => format!("varchar '{text}'"),
            (14, _) => format!("CASE WHEN 1 = 1 THEN {} END", self.value(deep - 1)),
            (_, _) => format!("'%{text}%'"),
        }
    }

    fn condition(&mut self, deep: usize) -> String {
        let shared = [
            "{c} = {v}",
            "{v} = {c}",
            "{c} IN ({v}, {v})",
            "{c} <> {v}",
            "{c} LIKE {v}",
            "NOT ({p})",
            "({p} AND {p})",
            "({p} OR id = {n})",
            "{c} NOT IN ({v}, NULL, {v})",
            "{c} BETWEEN {v} AND {v}",
            "{c} > {v}",
            "({c}, {c}) = ({v}, {v})",
            "(id, {c}) IN (({n}, {v}), ({n}, {v}))",
            "CASE WHEN {p} THEN 1 ELSE 0 END = 1",
            "CASE {c} WHEN {v} THEN 1 ELSE 0 END = 1",
            "COALESCE({c}, {v}) = {v}",
            "NULLIF({c}, {v}) IS NULL",
            "id IN (SELECT id FROM {t} WHERE {p})",
            "EXISTS (SELECT 1 FROM s AS i WHERE i.id = t.id AND {p})",
            "{c} = (SELECT MAX({c}) FROM {t} WHERE {p})",
            "{c} NOT LIKE {v}",
            "({p}) IS NOT NULL",
            "{c} = {c} AND {c} = {v}",
            "{c} IN (SELECT {c} FROM {t} WHERE {p})",
            "CHAR_LENGTH({c}) = CHAR_LENGTH({v})",
        ];
        let own = match self.is_mysql {
            true => [
                "{c} <=> {v}",
                "{c} REGEXP {v}",
                "{c} = {v} XOR {p}",
                "IF({c} = {v}, 1, 0)",
                "{c} SOUNDS LIKE {v}",
            ],
            false => [
                "{c} IS NOT DISTINCT FROM {v}",
                "{c} = ANY (ARRAY[{v}, {v}])",
                "{c} ILIKE {v}",
                "{c} ~ {v}",
                "{c}::text = {v}",
            ],
        };
        let all: Vec<&str> = shared.into_iter().chain(own).collect();
        self.one(&all, deep)
    }

    fn query(&mut self, deep: usize) -> String {
        self.one(
            &[
                "SELECT * FROM {t} WHERE {p}",
                "SELECT id, {c} FROM {t} WHERE {p} ORDER BY id",
                "SELECT COUNT(*) FROM {t} WHERE {p}",
                "SELECT DISTINCT {c} FROM {t} WHERE {p} LIMIT 3",
                "SELECT {c}, COUNT(*) FROM {t} WHERE {p} GROUP BY {c} HAVING {p}",
                "SELECT a.id FROM t AS a JOIN s AS b ON a.id = b.id AND b.note = {v} WHERE a.note = {v}",
                "SELECT id FROM {t} WHERE {p} UNION ALL SELECT id FROM {t} WHERE {p}",
                "SELECT x.id FROM (SELECT id, note FROM {t} WHERE {p}) AS x WHERE x.note = {v}",
                "WITH x AS (SELECT * FROM {t} WHERE {p}) SELECT id FROM x WHERE {p}",
                "SELECT id, {p} FROM {t}",
                "SELECT SUM(CASE WHEN {p} THEN 1 ELSE 0 END) FROM {t}",
                "SELECT id FROM {t} ORDER BY {p}, id",
                "SELECT id FROM {t} WHERE {p} FOR UPDATE",
                "SELECT id, ROW_NUMBER() OVER (PARTITION BY {p} ORDER BY id) FROM {t}",
                "SELECT t.id FROM t LEFT JOIN s ON s.note = t.note AND s.mail = {v} WHERE {p}",
                "SELECT id FROM {t} AS t (id, phone, note, mail) WHERE {p}",
                "SELECT (SELECT COUNT(*) FROM {t} WHERE {p}) FROM {t}",
                "SELECT CONCAT({c}, {v}) FROM {t}",
                "SELECT COALESCE({c}, {v}) AS own, NULLIF({c}, {v}) AS other FROM {t}",
                "SELECT CASE WHEN {p} THEN {c} ELSE {v} END AS own FROM {t} ORDER BY {c}",
                "SELECT COUNT(CASE WHEN {c} > {v} THEN 1 END) AS own, MAX(REPLACE({c}, {v}, 'x')) AS other FROM {t}",
                "SELECT CONCAT({c}, {v}) AS own, COUNT(*) FROM {t} GROUP BY CONCAT({c}, {v})",
            ],
            deep,
        )
    }

    fn statement(&mut self) -> String {
        let shared = [
            "{q}",
            "INSERT INTO {t} (id, phone, note, mail) VALUES ({n}, {v}, {v}, {v}), ({n}, {v}, NULL, {v})",
            "UPDATE {t} SET {c} = {v} WHERE {p}",
            "DELETE FROM {t} WHERE {p}",
            "INSERT INTO {t} VALUES ({n}, {v}, {v}, {v})",
            "INSERT INTO {t} ({c}, id) VALUES ({v}, {n})",
            "INSERT INTO {t} (id, {c}) SELECT id, {v} FROM {t} WHERE {p}",
            "INSERT INTO {t} (id, {c}) SELECT id, {c} FROM {t} WHERE {p}",
            "UPDATE {t} SET {c} = {v}, {c} = {v}, id = {n} WHERE {p}",
            "UPDATE {t} SET {c} = CASE WHEN {p} THEN {v} ELSE {c} END",
            "UPDATE {t} SET {c} = (SELECT {v})",
            "EXPLAIN {q}",
            "CREATE VIEW w AS {q}",
            "CREATE TABLE z AS {q}",
            "ALTER TABLE {t} ADD COLUMN extra VARCHAR(9) DEFAULT 'x', ALTER COLUMN note SET DEFAULT {v}",
            "CREATE INDEX i ON {t} ({c}) WHERE {p}",
            "CREATE TABLE s (id INT PRIMARY KEY, phone VARCHAR(9) DEFAULT {v}, note VARCHAR(9) CHECK ({p}), mail VARCHAR(80))",
            "WITH x AS (SELECT {v} AS p) SELECT id FROM t, x WHERE t.note = x.p",
            "({q}) UNION ({q})",
        ];
        let own = match self.is_mysql {
            true => [
                "INSERT INTO {t} SET id = {n}, {c} = {v}",
                "REPLACE INTO {t} (id, {c}) VALUES ({n}, {v})",
                "INSERT INTO {t} (id, note) VALUES ({n}, {v}) ON DUPLICATE KEY UPDATE note = {v}, mail = {v}",
                "INSERT INTO {t} (id, note) VALUES ({n}, {v}) AS new ON DUPLICATE KEY UPDATE note = CONCAT(new.note, {v})",
                "UPDATE t JOIN s ON t.id = s.id SET t.note = {v} WHERE s.note = {v}",
                "DELETE t FROM t JOIN s ON t.id = s.id WHERE s.note = {v}",
                "SELECT {p} INTO @a FROM {t} LIMIT 1",
                "INSERT INTO {t} VALUES ROW({n}, {v}, {v}, {v})",
                "HANDLER t READ note = ({v})",
            ],
            false => [
                "INSERT INTO {t} (id, note) VALUES ({n}, {v}) ON CONFLICT (id) DO UPDATE SET note = {v} WHERE {p}",
                "UPDATE {t} SET (note, mail) = ({v}, {v}) WHERE {p}",
                "UPDATE {t} SET (note, mail) = ROW({v}, {v})",
                "DELETE FROM t USING s WHERE t.id = s.id AND s.note = {v} RETURNING t.id",
                "UPDATE t SET note = {v} FROM s WHERE s.id = t.id AND s.mail = {v} RETURNING {p}",
                "COPY ({q}) TO STDOUT",
                "DECLARE k CURSOR FOR {q}",
                "SELECT id FROM t JOIN (VALUES ({v}), ({v})) AS x (p) ON t.note = x.p",
                "MERGE INTO t USING s ON t.id = s.id AND s.note = {v} WHEN MATCHED THEN UPDATE SET note = {v}",
            ],
        };
        let all: Vec<&str> = shared.into_iter().chain(own).collect();
        let deep = 1 + self.byte() % DEEPEST;
        let text = self.one(&all, deep);
        self.spaced(&text)
    }

    /// With other white space, and comments, between its words.
    fn spaced(&mut self, text: &str) -> String {
        let between = ["/* */", "\n", "\t \r\n", " -- x\n"];
        let seed = self.byte();
        if seed < 128 || text.contains("'%") {
            return text.to_owned();
        }
        let words = text.split(' ').enumerate();
        let words = words.map(|(at, word)| match (at * 31 + seed) % 5 {
            0 if at > 0 => format!("{}{word}", between[(at + seed) % between.len()]),
            _ if at > 0 => format!(" {word}"),
            _ => word.to_owned(),
        });
        words.collect()
    }
}
