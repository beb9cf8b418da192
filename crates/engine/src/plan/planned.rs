//! What planning makes: plain data.

use std::sync::{Arc, OnceLock};

use pando_kernel::changes::{Turn, TurnedField};
use pando_kernel::effects::Leaves;
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{GeneratedKeys, Need, Spread, Target};
use pando_kernel::{Attribute, Column, DeclaredType, Lists, Oids, Timed, Value};

use super::assemble::Assembly;
use super::steps::InSteps;

/// What is wanted of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// It will be run, or shown as if.
    Run,
    /// Only its parameter and column types are asked for: one target is enough, nothing is added to the select list.
    Describe,
}

/// The outcome of planning: how a statement is run, described and previewed.
#[derive(Debug)]
pub enum Planned {
    /// It runs as one statement.
    Run(Box<Plan>),
    /// Rows must be read first, over which one unit then answers.
    Assembly(Box<Assembly>),
    /// It runs as several statements, one after the other.
    Steps(Box<InSteps>),
    /// Something must be found out first.
    Needs(Need),
}

impl Planned {
    /// What must be found out, apart from all else.
    pub(crate) fn known(self) -> std::result::Result<Self, Need> {
        match self {
            Self::Needs(need) => Err(need),
            Self::Run(_) | Self::Assembly(_) | Self::Steps(_) => Ok(self),
        }
    }
}

/// How one statement is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What is sent where, in target order; never empty.
    pub units: Vec<Unit>,
    /// How the answers become one.
    pub spread: Spread,
    /// How rows are merged, and told; of a single unit's only the latter.
    pub merge: MergePlan,
    /// Keys generated for an INSERT.
    pub keys: Option<GeneratedKeys>,
    /// Fields of the lines that the client sends, and that go as others to every unit.
    pub fields: Vec<TurnedField>,
    /// It changes data or definitions.
    pub writes: bool,
    /// Statements that run on the one unit's connection before; that connection then stands apart from any transaction, and is reset.
    pub before: Vec<Arc<str>>,
    /// What its connections are told of the time first, so that it is the same on all of them.
    pub timed: Timed,
    /// It asks catalogues for what is shown as one: a text that servers would take long to compile.
    pub asks_catalogue: bool,
    /// What it may leave on its connections that nobody knows of: they forget it before they serve others.
    pub leaves: Leaves,
    /// The catalogue's epoch when that was judged; `None` where it does not rest on what was read of names.
    pub judged: Option<u64>,
    /// The user variables that it sets on its only unit's connection, and that the session is to know afterwards.
    pub assigns: Option<Arc<[String]>>,
    /// How the columns of its replies are told.
    pub told: Told,
    /// Parameters of which no unit may be told, and the types that they are described by.
    pub read_here: Vec<(u32, DeclaredType)>,
}

/// Columns as a unit gave them first, and as they were told: nearly every reply of a target has the same. What makes a plan once notes nothing. Plans do not differ by it.
#[derive(Debug, Clone, Default)]
pub struct Told(Option<Arc<Note>>);

/// The columns given, and the same as they are told.
type Pair = (Arc<[Column]>, Arc<[Column]>);

#[derive(Debug)]
struct Note {
    pair: OnceLock<Pair>,
    /// What the numbers of its unit are shown as.
    numbers: OnceLock<Arc<Oids>>,
    /// What others of the template's targets tell.
    lists: Arc<Lists>,
}

impl Told {
    /// For plans of one target that is met again.
    pub fn noted(lists: &Arc<Lists>) -> Self {
        Self(Some(Arc::new(Note {
            pair: OnceLock::new(),
            numbers: OnceLock::new(),
            lists: Arc::clone(lists),
        })))
    }

    /// What the numbers of the target's unit are shown as, if that was noted.
    pub(crate) fn numbers(&self) -> Option<&Arc<Oids>> {
        self.0.as_ref()?.numbers.get()
    }

    /// Notes what the numbers of the target's unit are shown as.
    pub(crate) fn set_oids(&self, numbers: &Arc<Oids>) {
        if let Some(note) = &self.0 {
            let _ = note.numbers.set(Arc::clone(numbers));
        }
    }

    /// The columns as they are told, if the unit gave the same before.
    pub fn get(&self, given: &Arc<[Column]>) -> Option<&Arc<[Column]>> {
        let (known, told) = self.0.as_ref()?.pair.get()?;
        (Arc::ptr_eq(known, given) || known == given).then_some(told)
    }

    /// Notes how these are told, unless others were noted before. Gives the list that others tell as well.
    pub fn set(&self, given: Arc<[Column]>, told: Arc<[Column]>) -> Arc<[Column]> {
        let Some(note) = &self.0 else { return told };
        if note.pair.get().is_some() {
            return told;
        }
        let told = note.lists.shared(told);
        let _ = note.pair.set((given, Arc::clone(&told)));
        told
    }
}

impl PartialEq for Told {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// One actual statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// Where it is sent.
    pub target: Target,
    /// Its text.
    pub sql: Arc<str>,
    /// Which of the statement's parameters it takes, in its own order.
    pub parameters: Vec<u32>,
    /// Which of these go as other values than the client's, by their place among them.
    pub turns: Vec<(usize, Turn)>,
    /// Values that stand in for the client's, by their place among these: names of tables that are others there.
    pub replaced: Vec<(usize, Value)>,
    /// For each column of the result the table's column it shows, when the unit's answer does not tell it; empty when it does.
    pub attributes: Vec<Attribute>,
}
