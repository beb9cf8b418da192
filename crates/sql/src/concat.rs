//! `||` of sessions with MySQL's mode PIPES_AS_CONCAT, spelled out: everybody behind the parser then reads the statement as in any other session.
//! <https://dev.mysql.com/doc/refman/8.0/en/sql-mode.html#sqlmode_pipes_as_concat>

use std::collections::{BTreeSet, HashSet};

use crate::ast::{BinaryOp, Expr, Kind, Node, SelectItem};
use crate::edits::Edits;
use crate::error::SyntaxError;
use crate::parse::parse;
use crate::span::Span;
use crate::syntax::Syntax;
use crate::visit;

/// The longest alias MySQL takes, in characters.
const LONGEST: usize = 256;

/// The statement with `CONCAT(a, b)` for `a || b`; `None` where it has none that the parser sees.
///
/// # Errors
/// Those of [`parse`].
pub fn concatenate(text: &str, syntax: &Syntax) -> Result<Option<String>, SyntaxError> {
    let syntax = Syntax { pipes_concatenate: true, ..*syntax };
    let statement = parse(text, &syntax)?;
    let text = &*statement.text;
    let mut edits = Edits::default();
    let pipes = pipes(&statement.kind, &mut edits);
    if pipes.is_empty() {
        return Ok(None);
    }
    visit::items(&statement.kind, &mut |item| {
        // What has no alias is called as it is written.
        if let SelectItem::Expr { expr, alias: None, span } = item
            && pipes.range(span.start..span.end).next().is_some()
        {
            let label: String = expr.span.of(text).chars().take(LONGEST).collect();
            edits.replace(Span::at(span.end), format!(" AS `{}`", label.replace('`', "``")));
        }
    });
    Ok(Some(edits.apply(text)))
}

/// Spells all of them out, a chain as one call. Where they begin.
fn pipes(kind: &Kind, edits: &mut Edits) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut inside: HashSet<Span> = HashSet::new();
    visit::exprs(kind, &mut |expr| {
        let Some((left, right)) = operands(expr) else { return };
        let gap = Span::new(left.span.end, right.span.start);
        let links = [left, right].into_iter().filter(|operand| operands(operand).is_some());
        inside.extend(links.map(|operand| operand.span));
        if !inside.contains(&expr.span) {
            edits.replace(Span::at(expr.span.start), "CONCAT(");
            edits.replace(Span::at(expr.span.end), ")");
        }
        edits.replace(gap, ", ");
        found.insert(gap.start);
    });
    found
}

fn operands(expr: &Expr) -> Option<(&Expr, &Expr)> {
    let Node::Binary { op: BinaryOp::Other(op), left, right } = &expr.node else { return None };
    (op == "||").then_some((left, right))
}
