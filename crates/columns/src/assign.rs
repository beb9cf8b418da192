//! `column = value` of UPDATE, INSERT … SET and upserts.

use pando_sql::Fold;
use pando_sql::ast::{ColumnAssignment, Expr, Node};

use crate::analysis::{Analysis, Result};
use crate::lookup::Mention;
use crate::stop::Stop;
use crate::uses::{Given, Place};

impl<'a> Analysis<'a> {
    pub(crate) fn assignments(&mut self, list: &'a [ColumnAssignment]) -> Result<()> {
        let mut rest = list;
        while let Some(first) = rest.first() {
            let many = rest.iter().take_while(|one| one.span == first.span).count();
            let (group, behind) = rest.split_at(many);
            match group {
                [one] => self.assignment(one)?,
                _ => self.row_assignment(group, &first.value)?,
            }
            rest = behind;
        }
        Ok(())
    }

    fn assignment(&mut self, assignment: &'a ColumnAssignment) -> Result<()> {
        let target = self.assigned(assignment)?;
        let into = target.as_ref().map(|mention| mention.of.clone());
        let given = self.stored_value(&assignment.value, into)?;
        if let Some(mention) = target {
            self.put(mention, Place::Assigned(given));
        }
        Ok(())
    }

    /// `(a, b) = (1, 2)`, `(a, b) = (SELECT …)`: all share one value.
    fn row_assignment(&mut self, group: &'a [ColumnAssignment], value: &'a Expr) -> Result<()> {
        let parts: Option<&'a [Expr]> = match &value.node {
            Node::Row(list) if list.len() == group.len() => Some(list),
            Node::Row(_)
            | Node::Column(_)
            | Node::Literal(_)
            | Node::Parameter(_)
            | Node::Variable(_)
            | Node::Unary { .. }
            | Node::Binary { .. }
            | Node::Between { .. }
            | Node::InList { .. }
            | Node::InQuery { .. }
            | Node::Like { .. }
            | Node::IsNull { .. }
            | Node::Function(_)
            | Node::Case { .. }
            | Node::Cast { .. }
            | Node::Collate { .. }
            | Node::Subquery(_)
            | Node::Exists(_)
            | Node::Nested(_)
            | Node::Other(_)
            | Node::Default => None,
        };
        if parts.is_none() {
            self.expr(value, value.span)?;
        }
        for (at, assignment) in group.iter().enumerate() {
            let target = self.assigned(assignment)?;
            let into = target.as_ref().map(|mention| mention.of.clone());
            let given = match parts.and_then(|parts| parts.get(at)) {
                Some(part) => self.stored_value(part, into)?,
                None => Given::Expression(value.span),
            };
            if let Some(mention) = target {
                self.put(mention, Place::Assigned(given));
            }
        }
        Ok(())
    }

    /// What is assigned to.
    fn assigned(&mut self, assignment: &'a ColumnAssignment) -> Result<Option<Mention>> {
        let name = &assignment.column;
        let mention = match self.fold() {
            Fold::Keep => self.column(name)?,
            Fold::Lower => self.assigned_in_target(assignment)?,
        };
        let follows = self.text.word_at(name.span.end);
        if mention.is_some() && !matches!(follows, "=" | ":=" | "," | ")") {
            let shown = self.shown(name.span);
            return Err(Stop::unclear(format!("a part of `{shown}` alone is set")));
        }
        Ok(mention)
    }

    /// The first part of the name is a column of the target, and what follows it a field.
    fn assigned_in_target(&mut self, assignment: &'a ColumnAssignment) -> Result<Option<Mention>> {
        let name = &assignment.column;
        let Some(scope) = self.scopes.last_mut() else { return Ok(None) };
        let before = scope.visible.replace(0..1);
        let is_field = name.parts.len() > 1;
        if is_field && scope.is_of_interest() {
            let shown = self.shown(name.span);
            return Err(Stop::unclear(format!("`{shown}` is a part of a column")));
        }
        let mention = if is_field { None } else { self.column(name)? };
        if is_field {
            self.other(name.span);
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.visible = before;
        }
        Ok(mention)
    }
}
