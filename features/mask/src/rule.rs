//! `!MASK`, validated.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pando_columns::{Interest, Origin};
use pando_config::{Placed, Problem, rules};
use pando_kernel::{Around, CellTurn};
use pando_sql::Fold;

use crate::algorithm::mask;
use crate::shown::Masked;

/// All masked columns.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) interest: Interest,
    columns: HashMap<Origin, MaskedColumn>,
}

/// A masked column.
#[derive(Debug)]
pub(crate) struct MaskedColumn {
    /// What its algorithm is called in the rule.
    pub(crate) algorithm: String,
    pub(crate) shown: Arc<dyn CellTurn>,
    /// Whether conditions, by which it can be guessed, may look at it.
    pub(crate) conditions: Conditions,
    /// Users who see it as it is.
    pub(crate) unmasked: Vec<String>,
}

/// Whether a column may be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conditions {
    Allowed,
    Refused,
}

impl Rule {
    /// Every problem is found, not only the first.
    pub(crate) fn new(section: &rules::Mask, around: &Around<'_>) -> Result<Self, Vec<Problem>> {
        let fold = around.fold;
        let (mut problems, mut algorithms) = (Vec::new(), HashMap::new());
        for (name, algorithm) in section.algorithms.iter() {
            match mask(algorithm, around.modules) {
                Ok(made) => {
                    algorithms.insert(name.as_str(), made);
                }
                Err(problem) => problems.push(problem),
            }
        }
        let (mut columns, mut tables) = (HashMap::new(), HashSet::new());
        for (table, list) in section.tables.iter() {
            if !tables.insert(table.to_lowercase()) {
                let message = format!("table `{}` is named twice", table.value);
                problems.push(table.at.problem(message));
            }
            for (name, column) in list.columns.iter() {
                let Some(algorithm) = algorithms.get(column.algorithm.as_str()) else { continue };
                // A key is in lower case unless the client's language tells tables apart by case.
                for key in HashSet::from([table.to_lowercase(), table.value.clone()]) {
                    let of = Origin { table: key.into(), column: stored(name, fold).into() };
                    let masked = MaskedColumn {
                        algorithm: column.algorithm.value.clone(),
                        shown: Arc::new(Masked(Arc::clone(algorithm))),
                        conditions: match column.allows_conditions {
                            true => Conditions::Allowed,
                            false => Conditions::Refused,
                        },
                        unmasked: column.unmasked.iter().map(|user| user.value.clone()).collect(),
                    };
                    columns.insert(of, masked);
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let pairs = columns.keys().map(|of| (&*of.table, &*of.column));
        Ok(Self { interest: Interest::new(pairs), columns })
    }

    /// A column that a use is of.
    pub(crate) fn column(&self, of: &Origin) -> Option<&MaskedColumn> {
        self.columns.get(of)
    }
}

impl MaskedColumn {
    /// Whether this user sees masks.
    pub(crate) fn is_masked_for(&self, user: &str) -> bool {
        !self.unmasked.iter().any(|one| one == user)
    }
}

/// A name as the server has it: one in double quotes keeps its case, as in a statement.
fn stored(name: &Placed<String>, fold: Fold) -> String {
    let quoted = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match (quoted, fold) {
        (Some(quoted), _) => quoted.to_owned(),
        (None, Fold::Lower) => name.to_lowercase(),
        (None, Fold::Keep) => name.value.clone(),
    }
}
