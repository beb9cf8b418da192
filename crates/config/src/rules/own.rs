//! Sections of rooms of Pando's own: what is in them, their rooms alone know.

use super::Rules;
use crate::node::Node;
use crate::place::{Problem, Report};
use crate::read::Fields;
use crate::suggest;

impl Rules {
    /// Whether a section of a room of Pando's own is given.
    pub fn has_section(&self, tag: &str) -> bool {
        self.section(tag).is_some()
    }

    /// Reads the section of a room of Pando's own; `None` where it is not given.
    ///
    /// # Errors
    /// Every problem of the section, in file order, a field that `read` did not ask for among them.
    pub fn read_section<T>(
        &self,
        tag: &str,
        read: impl FnOnce(&mut Fields<'_, '_>) -> T,
    ) -> Result<Option<T>, Vec<Problem>> {
        let Some(node) = self.section(tag) else { return Ok(None) };
        let mut report = Report::default();
        let value = Fields::of_tagged(node, &mut report).map(|mut fields| {
            let value = read(&mut fields);
            fields.finish();
            value
        });
        match report.finish() {
            Ok(_) => Ok(value),
            Err(errors) => Err(errors.problems().to_vec()),
        }
    }

    fn section(&self, tag: &str) -> Option<&Node> {
        self.own.iter().find(|node| node.tag.as_deref() == Some(tag))
    }

    /// What is no slip of a known tag may be a room's own.
    pub(super) fn read_own(&mut self, tag: &str, node: &Node, report: &mut Report) {
        let is_tag = tag.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        if !is_tag || suggest::nearest(tag, Self::TAGS).is_some() {
            let hint = suggest::hint(tag, Self::TAGS);
            report.error(node.at.problem(format!("unknown rule `!{tag}`{hint}")));
            return;
        }
        match node.entries(report) {
            Some([]) => report.error(node.at.problem(format!("rule `!{tag}` says nothing"))),
            Some(_) => self.own.push(node.clone()),
            // Already reported.
            None => {}
        }
    }
}
