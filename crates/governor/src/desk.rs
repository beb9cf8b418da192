//! Where clients' orders come in: who may, in which state, and which part of the governor answers.

use pando_config::Vendor;
use pando_distsql::command::{
    ComputeNode, Metadata, Name, Ral, Rdl, Resolution, Rql, Rul, State, Status, Subject, Value,
};
use pando_distsql::{Command, MOST_BYTES, Statement, help};
use pando_kernel::TransactionType;
use pando_kernel::administration::{Administration, Answer, Caller, Errand, Order, Unless};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::runtime::BoxFuture;
use pando_kernel::two_phase::Verdict;
use pando_model::{Change, Check, Kind, Refusal};
use pando_sql::{Syntax, Tokens};

use crate::error::{coded, refused, syntax};
use crate::governor::{ENVIRONMENT, Governor};
use crate::refills::StepOf;
use crate::state::missing_unit;

impl Administration for Governor {
    fn takes(&self, text: &str, own: &Syntax) -> bool {
        // Longer ones than are read anyway.
        if !may_be_distsql(text) || text.len() > 2 * MOST_BYTES {
            return false;
        }
        let Some(tokens) = first_tokens(text, own) else { return false };
        let first = tokens.list.first().map_or("", |token| token.span.of(text));
        // The session plans what is previewed.
        !first.eq_ignore_ascii_case("PREVIEW") && self.shared.language.takes(text, &tokens.list)
    }

    fn labels(&self, caller: &Caller, text: &str) -> Result<Option<Vec<String>>> {
        let statement = self.shared.language.parse(text).map_err(|error| syntax(&error))?;
        let mut labels: Vec<String> =
            statement.entry.columns.iter().map(|&label| label.to_owned()).collect();
        if let Command::Rql(question) = &statement.command
            && has_schema_column(question)
            && self.has_schemas(question.database.as_ref().map(|name| name.text.as_str()), caller)
        {
            labels.push("schema_name".to_owned());
        }
        Ok((!labels.is_empty()).then_some(labels))
    }

    fn may_define(&self, database: &str) -> Result<()> {
        let trouble = self.now().trouble.clone();
        match trouble.filter(|_| self.has_others()) {
            None => Ok(()),
            Some(why) => {
                let message = format!(
                    "tables of `{database}` cannot be defined now, as other instances could not be told: {why}"
                );
                Err(coded(17030, "08000", &message))
            }
        }
    }

    fn defined<'a>(&'a self, database: &str) -> Option<BoxFuture<'a, ()>> {
        let repository = self.repository().filter(|_| self.has_others())?;
        self.note_definition(database);
        Some(Box::pin(async move {
            let told = self.tell_definitions(&*repository).await;
            let told = match told {
                Ok(()) => self.read(&*repository).await,
                Err(error) => Err(error),
            };
            match told.map(|stored| self.adopt(stored)) {
                Ok(Ok(())) => self.all_follow().await,
                Ok(Err(error)) => self.is_in_trouble(&error.to_string()),
                Err(error) => {
                    tracing::error!(%error, "other instances cannot be told of a definition yet");
                }
            }
        }))
    }

    fn carry_out<'a>(
        &'a self,
        caller: &'a Caller,
        order: Order<'a>,
    ) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            match order {
                Order::Statement(text) => {
                    let statement =
                        self.shared.language.parse(text).map_err(|error| syntax(&error))?;
                    let answer = self.statement(caller, &statement).await?;
                    Ok(match answer {
                        Answer::Done(_) => Answer::Done(called(&statement, text)),
                        Answer::Rows { .. } | Answer::Errand(_) => answer,
                    })
                }
                Order::CreateDatabase { name, present } => {
                    may_change(caller)?;
                    self.change(&|model| match (model.create_database(name), present) {
                        (Err(refusal), Unless::Passes) if refusal.kind == Kind::DatabaseExists => {
                            Ok(unchanged(model))
                        }
                        (outcome, Unless::Passes | Unless::Fails) => outcome,
                    })
                    .await?;
                    Ok(Answer::Done("CREATE DATABASE".to_owned()))
                }
                Order::DropDatabase { name, missing } => {
                    may_change(caller)?;
                    self.change(&|model| match (model.drop_database(name), missing) {
                        (Err(refusal), Unless::Passes) if refusal.kind == Kind::UnknownDatabase => {
                            Ok(unchanged(model))
                        }
                        (outcome, Unless::Passes | Unless::Fails) => outcome,
                    })
                    .await?;
                    Ok(Answer::Done("DROP DATABASE".to_owned()))
                }
            }
        })
    }
}

/// What a statement is called at its end: its name in the grammar, with the words that the client chose among several.
fn called(statement: &Statement, text: &str) -> String {
    let name = statement.entry.name;
    let name = name.strip_suffix(" (5.0)").unwrap_or(name);
    let (first, rest) = name.split_once(' ').unwrap_or((name, ""));
    let said = text.split_whitespace().next().unwrap_or("").to_uppercase();
    let first = if CHOSEN.contains(&said.as_str()) { said.as_str() } else { first };
    let name = format!("{first} {rest}").trim_end().to_owned();
    match &statement.command {
        Command::Ral(Ral::SetReadUnitState { state: State::Disabled, .. }) => {
            name.replace(" ENABLE", " DISABLE")
        }
        Command::Rdl(_) | Command::Rql(_) | Command::Ral(_) | Command::Rul(_) => name,
    }
}

/// First words that share a line of the grammar with another one.
const CHOSEN: [&str; 5] = ["ALTER", "DISABLE", "ENABLE", "RELABEL", "UNLABEL"];

/// A cheap look at the first letters: comments in front are looked through by the tokens only.
fn may_be_distsql(text: &str) -> bool {
    const INITIALS: [&[u8; 2]; 27] = [
        b"ad", b"al", b"ap", b"ch", b"co", b"cr", b"ro", b"cl", b"de", b"di", b"dr", b"en", b"ex",
        b"fo", b"he", b"im", b"la", b"lo", b"pa", b"pr", b"re", b"se", b"sh", b"un", b"us", b"mi",
        b"st",
    ];
    let first = text.as_bytes().trim_ascii_start();
    match first {
        [a, b, ..] if a.is_ascii_alphabetic() => {
            let two = [a.to_ascii_lowercase(), b.to_ascii_lowercase()];
            INITIALS.iter().any(|initials| **initials == two)
        }
        // A comment, perhaps; strings and brackets begin no DistSQL.
        [b'/' | b'-' | b'#', ..] => true,
        _ => false,
    }
}

/// The tokens that a statement begins with, of which `Language::takes` wants a few: a text of megabytes is not cut to its end for them.
fn first_tokens(text: &str, own: &Syntax) -> Option<Tokens> {
    const BEGINNING: usize = 512;
    const ENOUGH: usize = 8;
    if let Some(beginning) = text.get(..text.floor_char_boundary(BEGINNING))
        && beginning.len() < text.len()
        && let Ok(tokens) = pando_sql::tokenize(beginning, own)
        && tokens.list.len() > ENOUGH
    {
        return Some(tokens);
    }
    pando_sql::tokenize(text, own).ok()
}

impl Governor {
    async fn statement(&self, caller: &Caller, statement: &Statement) -> Result<Answer> {
        let verb = statement.entry.name;
        match &statement.command {
            Command::Rdl(change) => {
                may_change(caller)?;
                self.define(caller, change).await?;
                Ok(Answer::Done(verb.to_owned()))
            }
            Command::Rql(question) => self.answer(caller, question).await,
            Command::Ral(order) => self.administer(caller, order, verb).await,
            Command::Rul(Rul::Help(like)) => Ok(Answer::Rows {
                labels: statement.entry.columns.iter().map(|&label| label.to_owned()).collect(),
                rows: help::rows(like.as_deref(), &self.shared.language)
                    .map(|row| row.into_iter().map(|cell| Some(cell.into_owned())).collect())
                    .collect(),
            }),
            Command::Rul(Rul::Parse(text)) => Ok(Answer::Errand(Errand::Parse(text.text.clone()))),
            Command::Rul(Rul::Format(text)) => {
                Ok(Answer::Errand(Errand::Format(text.text.clone())))
            }
            Command::Rul(Rul::Preview(_)) => Err(Error::internal("PREVIEW is the session's")),
        }
    }

    async fn define(&self, caller: &Caller, statement: &Rdl) -> Result<()> {
        let database = chosen(caller, None)?;
        if let Rdl::EncryptTable { step, table, .. } = statement {
            let of = StepOf { family: caller.family, database, table: &table.text };
            return self.take_encrypt_step(of, *step, statement).await;
        }
        self.change(&|model| {
            let change =
                self.around(caller.family, |around| model.apply(database, statement, around))?;
            at_own_door(caller, database, &change)?;
            Ok(change)
        })
        .await
    }

    async fn administer(&self, caller: &Caller, order: &Ral, verb: &str) -> Result<Answer> {
        let done = || Ok(Answer::Done(verb.to_owned()));
        match order {
            Ral::SetVariable { name, value } if is_transaction_type(name) => {
                Ok(Answer::Errand(Errand::ChooseTransactionType(transaction_type(value)?)))
            }
            Ral::ShowVariable(name) if is_transaction_type(name) => {
                Ok(Answer::Errand(Errand::ShowTransactionType))
            }
            Ral::ShowInDoubt => {
                is_administrator(caller)?;
                Ok(Answer::Errand(Errand::ShowInDoubt))
            }
            Ral::ShowTransactionStatus => Ok(Answer::Errand(Errand::ShowTransactionStatus)),
            Ral::Resolve { global, ending } => {
                is_administrator(caller)?;
                let verdict = match ending {
                    Resolution::Commit => Verdict::Commit,
                    Resolution::Rollback => Verdict::Abort,
                };
                Ok(Answer::Errand(Errand::Resolve { global: global.clone(), verdict }))
            }
            Ral::SetVariable { .. }
            | Ral::AlterTransactionRule(_)
            | Ral::AlterParserRule(_)
            | Ral::AlterFederationRule(_)
            | Ral::AlterTranslatorRule(_)
            | Ral::AlterClockRule(_) => {
                may_change(caller)?;
                self.change(&|model| {
                    self.around(caller.family, |around| model.administer(order, around))
                })
                .await?;
                done()
            }
            Ral::ShowVariable(_)
            | Ral::ShowVariables { .. }
            | Ral::ShowReadUnits { .. }
            | Ral::ComputeNode(ComputeNode::List | ComputeNode::Info | ComputeNode::Mode)
            | Ral::ShowPlugins(_) => self.show(caller, order),
            Ral::ShowStatus { of, database } => {
                let named = database.as_ref().map(|name| name.text.as_str());
                let database = self.database(chosen(caller, named)?)?;
                let rows = match of {
                    Status::EncryptTables => self.refill_states(&database),
                    Status::StorageUnits
                    | Status::Limits
                    | Status::CircuitBreakers
                    | Status::Mirrors
                    | Status::MirrorDifferences => {
                        self.shared.house.states(&database.name.value, *of)
                    }
                };
                let labels = pando_distsql::entries().find(|entry| entry.name == verb);
                let labels = labels.map(|entry| entry.columns).unwrap_or_default();
                Ok(Answer::Rows {
                    labels: labels.iter().map(|&one| one.to_owned()).collect(),
                    rows,
                })
            }
            Ral::ShowGlobalRule(_) => {
                is_administrator(caller)?;
                self.show(caller, order)
            }
            Ral::ComputeNode(
                ComputeNode::SetState { .. }
                | ComputeNode::Label { .. }
                | ComputeNode::Unlabel { .. }
                | ComputeNode::Alter { .. },
            )
            | Ral::SetReadUnitState { .. }
            | Ral::SetStorageUnitState { .. }
            | Ral::LockCluster { .. }
            | Ral::UnlockCluster { .. } => {
                may_change(caller)?;
                self.set_state(caller, order).await?;
                done()
            }
            Ral::Metadata(order) => self.metadata(caller, order, verb).await,
        }
    }

    async fn metadata(&self, caller: &Caller, order: &Metadata, verb: &str) -> Result<Answer> {
        match order {
            Metadata::RefreshTable { unit, .. } => {
                is_administrator(caller)?;
                let database = self.database(chosen(caller, None)?)?;
                if let Some(unit) = unit
                    && database.storage_unit(&unit.text).is_none()
                {
                    return Err(missing_unit(&unit.text, &database.name.value));
                }
                Ok(Answer::Errand(Errand::ForgetTables))
            }
            Metadata::ShowTable { tables, database } => {
                let database = database.as_ref().map(|name| name.text.clone());
                if let Some(database) = &database {
                    may_see(caller, database)?;
                    self.database(database)?;
                }
                let tables = tables.iter().map(|table| table.text.clone()).collect();
                Ok(Answer::Errand(Errand::ShowTables { database, tables }))
            }
            Metadata::RefreshDatabase { .. }
            | Metadata::ExportDatabase { .. }
            | Metadata::ImportDatabase { .. }
            | Metadata::Export { .. }
            | Metadata::Import(_)
            | Metadata::ExportStorageNodes { .. }
            | Metadata::ConvertYaml { .. } => {
                is_administrator(caller)?;
                self.files(caller, order, verb).await
            }
        }
    }
}

/// The one variable that belongs to a session.
fn is_transaction_type(name: &Name) -> bool {
    name.text.eq_ignore_ascii_case("transaction_type")
}

fn transaction_type(value: &Value) -> Result<TransactionType> {
    let invalid = || refused(Kind::InvalidVariable, "`transaction_type` is LOCAL, XA or BASE");
    match value {
        Value::Text(text) | Value::Number(text) => {
            text.parse().map_err(|error: Error| refused(Kind::InvalidVariable, &error.to_string()))
        }
        _ => Err(invalid()),
    }
}

/// The database a statement is about: the one it names, else the session's.
pub(crate) fn chosen<'c>(caller: &'c Caller, named: Option<&'c str>) -> Result<&'c str> {
    let database = named.or(caller.database.as_deref());
    let database = database.ok_or_else(|| Error::new(ErrorKind::NoDatabase))?;
    may_see(caller, database)?;
    Ok(database)
}

/// To who may not see a database, it does not exist.
fn may_see(caller: &Caller, database: &str) -> Result<()> {
    let is_seen = caller
        .databases
        .as_ref()
        .is_none_or(|own| own.iter().any(|name| name.eq_ignore_ascii_case(database)));
    if is_seen { Ok(()) } else { Err(ErrorKind::UnknownDatabase(database.to_owned()).into()) }
}

fn is_administrator(caller: &Caller) -> Result<()> {
    if caller.is_administrator {
        return Ok(());
    }
    let message = format!("user `{}` is no administrator", caller.user);
    Err(ErrorKind::AccessDenied(message).into())
}

pub(crate) fn may_change(caller: &Caller) -> Result<()> {
    is_administrator(caller)?;
    if caller.in_transaction {
        return Err(coded(
            13001,
            "25001",
            "the configuration cannot be changed inside a transaction; commit it or roll it back first",
        ));
    }
    Ok(())
}

/// Storage units of another family would put the session, and everybody at its door, out of the database.
fn at_own_door(caller: &Caller, database: &str, change: &Change) -> Result<(), Refusal> {
    if !change.checks.iter().any(|check| matches!(check, Check::Connects { .. })) {
        return Ok(());
    }
    let (after, _) = change.model.read(database, ENVIRONMENT)?;
    let foreign = after.storage_units.iter().find_map(|unit| {
        let family = match unit.url.vendor {
            Vendor::MySql | Vendor::MariaDb => "mysql",
            Vendor::Postgres | Vendor::OpenGauss => "postgres",
            Vendor::Sqlite => return None,
        };
        (!caller.family.is_empty() && family != caller.family).then_some((unit, family))
    });
    match foreign {
        None => Ok(()),
        Some((unit, family)) => Err(Refusal {
            kind: Kind::InvalidStorageUnit,
            message: format!(
                "storage unit `{}` speaks {family}, and a database with it can be used through Pando's {family} port only; register it there",
                unit.name.value
            ),
        }),
    }
}

fn unchanged(model: &pando_model::Model) -> Change {
    Change { model: model.clone(), database: None, checks: Vec::new(), tasks: Vec::new() }
}

fn has_schema_column(question: &Rql) -> bool {
    matches!(question.subject, Subject::SingleTables(_) | Subject::UnloadedSingleTables { .. })
}
