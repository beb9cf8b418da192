//! What the statements of a transaction have done that settles its modes.

use pando_sql::ast::Kind;

/// What the statements of a transaction have done that settles its modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(in crate::session) enum Touched {
    /// Nothing: units that have taken part were told settings.
    #[default]
    Nothing,
    /// Tables are locked, and nobody has looked at them.
    Locks,
    /// They have looked at data: a snapshot was taken.
    Data,
}

impl Touched {
    /// What a statement touches: as in PostgreSQL's `PlannedStmtRequiresSnapshot`.
    pub(in crate::session) fn by(kind: &Kind) -> Self {
        match kind {
            Kind::Empty
            | Kind::Transaction(_)
            | Kind::Set(_)
            | Kind::Show(_)
            | Kind::Use(_)
            | Kind::Kill { .. }
            | Kind::Administration => Self::Nothing,
            Kind::Lock(_) => Self::Locks,
            Kind::Utility { verb, .. } if verb.starts_with("UNLISTEN") => Self::Nothing,
            Kind::Select(_)
            | Kind::Insert(_)
            | Kind::Update(_)
            | Kind::Delete(_)
            | Kind::Define(_)
            | Kind::Explain { .. }
            | Kind::Prepare { .. }
            | Kind::Execute { .. }
            | Kind::Deallocate(_)
            | Kind::Cursor(_)
            | Kind::Copy(_)
            | Kind::Load(_)
            | Kind::Preview(_)
            | Kind::SetFor(_)
            | Kind::Immediate(_)
            | Kind::Utility { .. }
            | Kind::Opaque => Self::Data,
        }
    }
}
