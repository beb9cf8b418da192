//! `mode`: where the configuration is kept and whether several servers share it.

use crate::algorithm::Algorithm;
use crate::node::Node;
use crate::place::Report;
use crate::read::Fields;

/// Alone or in a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// One server, which may keep its configuration in a repository.
    Standalone(Option<Repository>),
    /// Several servers that share a repository.
    Cluster(Repository),
}

/// A repository is written as any algorithm: a type and properties.
pub type Repository = Algorithm;

impl Default for Mode {
    fn default() -> Self {
        Self::Standalone(None)
    }
}

impl Mode {
    /// Also gives `overwrite`.
    pub(super) fn read(node: &Node, report: &mut Report) -> (Self, bool) {
        let Some(mut fields) = Fields::of(node, report) else { return (Self::default(), false) };
        let is_cluster = [("Standalone", false), ("Cluster", true), ("Memory", false)];
        let kind = fields.field("type");
        let is_cluster = kind.and_then(|node| node.choice(&is_cluster, fields.report()));
        let repository = fields.optional("repository");
        let repository = repository.and_then(|node| Algorithm::read(node, fields.report()));
        let overwrite = fields.optional("overwrite");
        let overwrite =
            overwrite.and_then(|node| node.boolean(fields.report())).unwrap_or_default();
        if is_cluster == Some(false) {
            fields.ignored("repository", "a server that stands alone keeps its configuration in the folder that `--data` names");
        }
        if is_cluster == Some(true) && repository.is_none() {
            fields.field("repository");
        }
        fields.finish();
        let mode = match (is_cluster, repository) {
            (Some(true), Some(repository)) => Self::Cluster(repository),
            (_, repository) => Self::Standalone(repository),
        };
        (mode, overwrite)
    }
}
