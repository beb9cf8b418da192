//! One analysis: what it knows, and what it has found.

use pando_kernel::Context;
use pando_kernel::route::Need;
use pando_sql::ast::Statement;
use pando_sql::{Fold, Span};

use crate::interest::{Interest, same};
use crate::lookup::Mention;
use crate::outlet::Outlet;
use crate::scope::{Common, Scope};
use crate::stop::Stop;
use crate::text::Text;
use crate::uses::{Place, Star, Use, Uses};

pub(crate) type Result<T> = std::result::Result<T, Stop>;

pub(crate) struct Analysis<'a> {
    pub(crate) ctx: &'a Context<'a>,
    pub(crate) interest: &'a Interest,
    pub(crate) text: Text<'a>,
    pub(crate) scopes: Vec<Scope<'a>>,
    pub(crate) common: Vec<Common<'a>>,
    pub(crate) found: Uses,
    /// Names that were looked at and mean something else.
    pub(crate) others: Vec<Span>,
}

/// The whole of it: early ways out, the walk, the safety net.
pub(crate) fn run(ctx: &Context<'_>, stmt: &Statement, interest: &Interest) -> Result<Uses> {
    let Some(text) = Text::new(&stmt.text, ctx.dialect.syntax()) else {
        return Err(Stop::unclear("its words cannot be told apart"));
    };
    let (scopes, common, others) = (Vec::new(), Vec::new(), Vec::new());
    let found = Uses::default();
    let mut analysis = Analysis { ctx, interest, text, scopes, common, found, others };
    if !analysis.may_concern() {
        return Ok(Uses::default());
    }
    if analysis.text.has_disguised_name() {
        return Err(Stop::unclear("a name is longer than servers keep, or spelled with escapes"));
    }
    if analysis.calls_reader() {
        return Err(Stop::unclear("a function in it reads tables that a text names"));
    }
    if stmt.hints.iter().any(|(key, _)| key == "DATA_SOURCE_NAME" || key == "SKIP_SQL_REWRITE") {
        return Err(Stop::unclear("a hint sends it as it is"));
    }
    // What tells whether a table is there, and where. The session asks so before it reads the columns: a need for them
    // would have it ask for ever.
    if analysis.text.is_number_from_table() {
        return Ok(Uses::default());
    }
    analysis.kind(&stmt.kind, &Outlet::Result)?;
    analysis.checked()
}

impl<'a> Analysis<'a> {
    pub(crate) fn fold(&self) -> Fold {
        self.text.syntax.fold
    }

    pub(crate) fn same(&self, a: &str, b: &str) -> bool {
        same(self.fold(), a, b)
    }

    /// A use.
    pub(crate) fn put(&mut self, mention: Mention, place: Place) {
        let Mention { of, span, qualifier, by } = mention;
        self.found.columns.push(Use { of, span, qualifier, by, place });
    }

    pub(crate) fn put_star(&mut self, star: Star) {
        self.found.stars.push(star);
    }

    /// This range's names mean something else.
    pub(crate) fn other(&mut self, span: Span) {
        self.others.push(span);
    }

    /// Whether any FROM around has columns of interest.
    pub(crate) fn is_concerned(&self) -> bool {
        self.scopes.iter().any(Scope::is_of_interest)
    }

    /// Names of the table's columns.
    pub(crate) fn read(
        &self,
        key: &str,
    ) -> Result<std::sync::Arc<Vec<pando_kernel::dialect::TableColumn>>> {
        let columns = self.ctx.catalog.columns(key);
        columns.ok_or_else(|| Stop::Need(Need::Columns(key.to_owned())))
    }

    /// What the text of a range says, for messages.
    pub(crate) fn shown(&self, span: Span) -> &'a str {
        span.of(self.text.text)
    }
}
