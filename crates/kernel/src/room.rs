//! What the crate of a room gives to the list of rooms, and what a room is made among.

use std::sync::Arc;

use pando_config::{Problem, Rules};
use pando_sql::Fold;

use crate::algorithm::AlgorithmKind;
use crate::feature::Feature;
use crate::grammar::RuleGrammar;
use crate::module::Modules;
use crate::route::{Place, UnitName};
use crate::states::States;
use crate::table::LogicTable;

/// What a crate gives to the list of rooms: all that the list, and who asks it, need to know of a room.
#[derive(Debug, Clone, Copy)]
pub struct Offer {
    /// Makes the room of a database.
    pub build: Build,
    /// The tag of the rules it is made from, as `SHARDING`; `None` where it needs none.
    pub section: Option<&'static str>,
    /// The statements about the rules in it, a line for each sort of rules; of a section whose rules DistSQL's own table
    /// has, none.
    pub grammar: &'static [RuleGrammar],
    /// When it is made.
    pub turn: Turn,
    /// The kinds of algorithms that its rules may name, those of one sort together.
    pub algorithms: fn() -> Vec<AlgorithmKind>,
}

/// Validates a database's rules and makes its room.
pub type Build = fn(&Rules, &Around<'_>) -> Built;

/// The room; `None` where the database has no use for one; every problem of its rules, in file order.
pub type Built = Result<Option<Arc<dyn Feature>>, Vec<Problem>>;

/// When a room is made. It is not when it is asked: a room may have to know what one knows that is asked after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// First: it groups storage units, and the groups are places where other rooms' tables stand.
    Groups,
    /// Then: it sets storage units and groups of them beside others, and has one name for both.
    Shadows,
    /// Then: its rules name tables and where they are.
    Tables,
    /// Last: it takes all tables as others have placed them.
    Rest,
}

/// What a room is made among.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// The names of all storage units, in file order.
    pub units: &'a [UnitName],
    /// What tables can stand in: storage units, and groups in the place of their members. While groups are made, every
    /// unit by itself; while shadows are set beside them, units and groups without shadows.
    pub places: &'a [Place],
    /// The tables of the rooms made before this one.
    pub others: &'a [LogicTable],
    /// How the storage units are.
    pub states: &'a States,
    /// How the storage units read names without quotes.
    pub fold: Fold,
    /// Where algorithms of type `CLASS_BASED` are.
    pub modules: &'a dyn Modules,
}

/// The tags of the rules that a list of rooms serves.
pub fn sections(list: &[Offer]) -> Vec<&'static str> {
    list.iter().filter_map(|offer| offer.section).collect()
}

/// Every kind of algorithm that their rules may name, those of one sort together.
pub fn algorithms(list: &[Offer]) -> Vec<AlgorithmKind> {
    list.iter().flat_map(|offer| (offer.algorithms)()).collect()
}

impl Offer {
    /// A room without rules and algorithms of its own, made last.
    pub const fn new(build: Build) -> Self {
        Self { build, section: None, grammar: &[], turn: Turn::Rest, algorithms: Vec::new }
    }
}
