//! One server straight and Pando over many shards, side by side.

use std::path::PathBuf;

use crate::layout::{Keeping, Layout, Placement};
use crate::pando::{DATABASE, Pando};
use crate::schema::Server;
use crate::wire::{Call, Cell, Client, Fault, MySql, Place, Postgres, Reply};

/// Storage units there may be at most.
pub(crate) const UNITS: usize = 4;

/// Everything that stays the same in one run.
#[derive(Debug, Clone)]
pub(crate) struct House {
    pub(crate) server: Server,
    /// One or two servers; storage units are dealt out over them.
    pub(crate) ports: Vec<u16>,
    pub(crate) binary: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) keeping: Keeping,
}

/// The databases and folder of one worker.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    pub(crate) house: House,
    /// Part of the names of its databases; no two at a time have the same.
    pub(crate) name: String,
}

/// Both sides with the same tables, empty at first.
pub(crate) struct Arena {
    pub(crate) server: Server,
    pub(crate) straight: Box<dyn Client>,
    pub(crate) pando: Box<dyn Client>,
    keeping: Keeping,
    process: Pando,
}

/// The whole content of a table, by its name.
pub(crate) type Contents = Vec<(String, Vec<Vec<Cell>>)>;

impl House {
    fn connect(&self, port: u16, database: &str) -> Result<Box<dyn Client>, Fault> {
        let place = Place { port, database: database.to_owned() };
        if self.server.is_postgres() {
            Ok(Box::new(Postgres::connect(&place)?))
        } else {
            Ok(Box::new(MySql::connect(&place)?))
        }
    }
}

impl Room {
    fn port(&self, unit: usize) -> u16 {
        let ports = &self.house.ports;
        ports[unit % ports.len()]
    }

    fn unit(&self, unit: usize) -> String {
        format!("diff_{}_{unit}", self.name)
    }

    fn single(&self) -> String {
        format!("diff_{}_straight", self.name)
    }

    fn databases(&self) -> Vec<(u16, String)> {
        let units = (0..UNITS).map(|unit| (self.port(unit), self.unit(unit)));
        units.chain([(self.port(0), self.single())]).collect()
    }

    /// Makes the worker's databases where they are missing.
    pub(crate) fn open(&self) -> Result<(), Fault> {
        self.each_database(&|name, is_postgres| {
            if is_postgres {
                vec![
                    format!("drop database if exists {name} with (force)"),
                    format!("create database {name}"),
                ]
            } else {
                vec![format!("drop database if exists {name}"), created(name)]
            }
        })
    }

    pub(crate) fn close(&self) -> Result<(), Fault> {
        self.each_database(&|name, is_postgres| {
            let force = if is_postgres { " with (force)" } else { "" };
            vec![format!("drop database if exists {name}{force}")]
        })
    }

    fn each_database(&self, words: &dyn Fn(&str, bool) -> Vec<String>) -> Result<(), Fault> {
        for (port, name) in self.databases() {
            let mut client = self.house.connect(port, "test")?;
            for sql in words(&name, self.house.server.is_postgres()) {
                done(client.ask(&Call::text(sql))?)?;
            }
        }
        Ok(())
    }

    fn empty(&self, units: usize) -> Result<(), Fault> {
        let databases = self.databases();
        let (straight, rest) = databases.split_last().ok_or("no database")?;
        for (port, name) in rest.iter().take(units).chain([straight]) {
            let mut client = self.house.connect(*port, name)?;
            let words = if self.house.server.is_postgres() {
                vec!["set client_min_messages = error; drop schema public cascade; create schema public".to_owned()]
            } else {
                vec![format!("drop database {name}"), created(name)]
            };
            for sql in words {
                done(client.ask(&Call::text(sql))?)?;
            }
        }
        Ok(())
    }

    fn url(&self, unit: usize) -> String {
        let (port, name) = (self.port(unit), self.unit(unit));
        if self.house.server.is_postgres() {
            format!("jdbc:postgresql://127.0.0.1:{port}/{name}")
        } else {
            format!(
                "jdbc:mysql://127.0.0.1:{port}/{name}?useSSL=false&allowPublicKeyRetrieval=true"
            )
        }
    }

    /// Empties the worker's databases and starts Pando over them in this layout.
    pub(crate) fn arena(&self, layout: &Layout) -> Result<Arena, Fault> {
        self.empty(layout.units)?;
        let urls: Vec<String> = (0..layout.units).map(|unit| self.url(unit)).collect();
        let folder = self.house.folder.join(&self.name);
        let process = Pando::start(&self.house.binary, &folder, &urls, &layout.rules())?;
        let server = self.house.server;
        let port = if server.is_postgres() { process.postgres } else { process.mysql };
        let mut arena = Arena {
            server,
            straight: self.house.connect(self.port(0), &self.single())?,
            pando: self.house.connect(port, DATABASE)?,
            keeping: self.house.keeping,
            process,
        };
        if !server.is_postgres() {
            // Both servers tell it in the length of columns.
            for client in [&mut arena.straight, &mut arena.pando] {
                done(client.ask(&Call::text("set names utf8mb4"))?)?;
            }
        }
        Ok(arena)
    }

    /// CREATE TABLE on both sides. A single table is made where it stands, as Pando makes new ones in its default unit,
    /// but for one with encrypted columns, which stands there.
    pub(crate) fn create(
        &self,
        arena: &mut Arena,
        layout: &Layout,
        table: &str,
        sql: &str,
    ) -> Result<(), Fault> {
        done(arena.straight.ask(&Call::text(sql))?)?;
        if let Some(Placement::Single(unit)) = layout.of(table)
            && !layout.encrypts(table)
        {
            let mut client = self.house.connect(self.port(*unit), &self.unit(*unit))?;
            return done(client.ask(&Call::text(sql))?);
        }
        done(arena.pando.ask(&Call::text(sql))?)
            .map_err(|why| format!("through Pando: {why}; {sql}"))
    }
}

impl Arena {
    /// The same statement to both, at the same time.
    pub(crate) fn both(&mut self, call: &Call) -> Result<(Reply, Reply), Fault> {
        let straight = |why| format!("straight: {why}");
        self.straight.send(call).map_err(straight)?;
        let sent = self.pando.send(call);
        let right = self.straight.receive(call).map_err(straight)?;
        let ours = sent.and_then(|()| self.pando.receive(call));
        let ours =
            ours.map_err(|why| format!("through Pando: {why} {}", self.process.last_words()))?;
        match self.keeping {
            Keeping::Plain => Ok((right, ours)),
            Keeping::Encrypted => Ok((of_any_length(right), of_any_length(ours))),
        }
    }

    /// Runs on both sides and must succeed on both.
    pub(crate) fn must(&mut self, sql: &str) -> Result<(), Fault> {
        let (right, ours) = self.both(&Call::text(sql))?;
        done(right)?;
        done(ours).map_err(|why| format!("through Pando: {why}"))
    }
}

/// An encrypted column is told as a text of its stored column's length. MySQL and MariaDB count rows that have changed,
/// and cipher text that is another each time changes with every UPDATE.
fn of_any_length(mut reply: Reply) -> Reply {
    if let Reply::Done(tag) = &mut reply
        && tag.ends_with(" rows")
    {
        "some rows".clone_into(tag);
    }
    let Reply::Rows { columns, .. } = &mut reply else { return reply };
    for column in columns {
        let mut words = column.kind.split(' ');
        match (words.next(), words.next()) {
            (Some("oid"), Some("25" | "1043")) => "text".clone_into(&mut column.kind),
            // How it compares stays.
            (Some("type"), Some("252" | "253" | "254")) => {
                column.kind.replace_range("type ".len().."type 252".len(), "253");
            }
            _ => {}
        }
    }
    reply
}

/// Texts of every language, as MySQL 8.0 has by default.
fn created(name: &str) -> String {
    format!("create database {name} character set utf8mb4")
}

pub(crate) fn done(reply: Reply) -> Result<(), Fault> {
    match reply {
        Reply::Failed(failure) => Err(failure.to_string()),
        Reply::Rows { .. } | Reply::Done(_) => Ok(()),
    }
}
