//! `transaction`: how a transaction over several storage units ends.

use crate::algorithm::Props;
use crate::node::Node;
use crate::place::{Placed, Report};
use crate::read::Fields;

/// The section; LOCAL by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transaction {
    /// What a session starts with.
    pub default_type: TransactionType,
    /// ShardingSphere's provider, as `Narayana`; Pando has one per type.
    pub provider: Option<Placed<String>>,
    /// The provider's properties.
    pub props: Props,
}

/// How the parts of a transaction are held together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransactionType {
    /// Each storage unit commits by itself.
    #[default]
    Local,
    /// Two-phase commit.
    Xa,
    /// Commit at once, undo by compensation.
    Base,
}

impl Transaction {
    pub(super) fn read(node: &Node, report: &mut Report) -> Self {
        let types = [
            ("LOCAL", TransactionType::Local),
            ("XA", TransactionType::Xa),
            ("BASE", TransactionType::Base),
        ];
        let Some(mut fields) = Fields::of_tagged(node, report) else { return Self::default() };
        let default_type = fields.optional("defaultType");
        let default_type = default_type.and_then(|node| node.choice(&types, fields.report()));
        let provider = fields.optional_name("providerType");
        let props = fields.optional("props");
        let props = props.and_then(|node| Props::read(node, fields.report())).unwrap_or_default();
        fields.finish();
        Self { default_type: default_type.unwrap_or_default(), provider, props }
    }
}
