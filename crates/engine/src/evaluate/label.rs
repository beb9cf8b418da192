//! What the columns of such an answer are called: as servers call them.

use pando_sql::ast::{Expr, Literal, Node, Select, SelectItem};

use super::{Asked, Table};

/// What PostgreSQL calls what has no better name.
const NAMELESS: &str = "?column?";

impl Asked<'_> {
    pub(super) fn labels(&self, select: &Select, from: Option<&Table>) -> Option<Vec<String>> {
        let mut labels = Vec::with_capacity(select.items.len());
        for item in &select.items {
            match item {
                SelectItem::Expr { alias: Some(alias), .. } => labels.push(alias.value.clone()),
                SelectItem::Expr { expr, alias: None, .. } => labels.push(self.label(expr)),
                SelectItem::Star(_) => labels.extend(from?.rows.columns.iter().cloned()),
                SelectItem::QualifiedStar(name, _) => {
                    let table = from?;
                    let own = &name.parts.last()?.value;
                    if !table.owners.iter().all(|owner| own.eq_ignore_ascii_case(owner)) {
                        return None;
                    }
                    labels.extend(table.rows.columns.iter().cloned());
                }
            }
        }
        Some(labels)
    }

    fn label(&self, expr: &Expr) -> String {
        if let Node::Column(name) = &expr.node {
            return name.parts.last().map_or(String::new(), |part| part.value.clone());
        }
        if !self.source.names_by_text() {
            return self.name(expr).unwrap_or_else(|| NAMELESS.to_owned());
        }
        if let Node::Literal(Literal::Text(text)) = &expr.node {
            return text.clone();
        }
        expr.span.of(self.text).to_owned()
    }

    /// The name an expression has in PostgreSQL.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
    fn name(&self, expr: &Expr) -> Option<String> {
        match &expr.node {
            Node::Column(name) => name.parts.last().map(|part| part.value.clone()),
            Node::Function(call) => call.name.parts.last().map(|part| part.value.clone()),
            Node::Nested(inner) => self.name(inner),
            Node::Literal(Literal::Boolean(_)) => Some("bool".to_owned()),
            Node::Cast { operand, to } => self.name(operand).or_else(|| {
                let to = to.of(self.text).to_ascii_lowercase();
                Some(match to.split('(').next().map(str::trim) {
                    Some("int" | "integer") => "int4".to_owned(),
                    Some("bigint") => "int8".to_owned(),
                    Some("boolean") => "bool".to_owned(),
                    Some(name) => name.to_owned(),
                    None => to,
                })
            }),
            Node::Case { otherwise, .. } => {
                let named = otherwise.as_ref().and_then(|last| self.name(last));
                Some(named.unwrap_or_else(|| "case".to_owned()))
            }
            _ => None,
        }
    }
}
