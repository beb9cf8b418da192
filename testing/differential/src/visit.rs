//! Walks through every constant of a statement.

use crate::tree::{Body, By, Change, Expr, Given, Insert, Query, Select, Source, Statement, What};
use crate::values::Constant;

/// Calls `of` for each constant that travels as a parameter, in no promised order.
pub(crate) fn constants(statement: &mut Statement, of: &mut dyn FnMut(&mut Constant)) {
    match statement {
        Statement::Select(inner) => query(inner, of),
        Statement::Insert(inner) => insert(inner, of),
        Statement::Update(inner) | Statement::Delete(inner) => change(inner, of),
        // Definitions take no parameters.
        Statement::Make(_) | Statement::Plain(_) => {}
    }
}

/// Writes out the constants of an expression, so that none travels as a parameter.
pub(crate) fn written(one: &mut Expr) {
    match one {
        Expr::Value(_, given) => *given = Given::Written,
        Expr::Parts(parts) => parts.iter_mut().for_each(written),
        Expr::Raw(_) | Expr::Column(..) | Expr::Query(_) => {}
    }
}

type Visitor<'a> = &'a mut dyn FnMut(&mut Constant);

fn expr(one: &mut Expr, of: Visitor<'_>) {
    match one {
        Expr::Raw(_) | Expr::Column(..) | Expr::Value(_, Given::Written) => {}
        Expr::Value(constant, Given::Bound) => of(constant),
        Expr::Parts(parts) => parts.iter_mut().for_each(|part| expr(part, of)),
        Expr::Query(inner) => query(inner, of),
    }
}

fn query(one: &mut Query, of: Visitor<'_>) {
    for common in &mut one.with {
        query(&mut common.query, of);
    }
    match &mut one.body {
        Body::Select(inner) => select(inner, of),
        Body::Set { left, right, .. } => {
            query(left, of);
            query(right, of);
        }
    }
    for key in &mut one.order {
        if let By::Hidden(inner) = &mut key.by {
            expr(inner, of);
        }
    }
    one.limit.iter_mut().chain(&mut one.offset).for_each(|one| expr(one, of));
}

fn select(one: &mut Select, of: Visitor<'_>) {
    // A group and the item that shows it stay the same.
    let shown: Vec<Option<usize>> = one
        .group
        .iter()
        .map(|group| one.items.iter().position(|item| item.expr == *group))
        .collect();
    for item in &mut one.items {
        expr(&mut item.expr, of);
    }
    for (group, at) in one.group.iter_mut().zip(shown) {
        match at {
            Some(at) => group.clone_from(&one.items[at].expr),
            None => expr(group, of),
        }
    }
    sources(&mut one.from, of);
    one.filter.iter_mut().chain(&mut one.having).for_each(|one| expr(one, of));
}

fn sources(all: &mut [Source], of: Visitor<'_>) {
    for source in all {
        if let What::Derived(inner) = &mut source.what {
            query(inner, of);
        }
        if let Some(on) = &mut source.on {
            expr(on, of);
        }
    }
}

fn insert(one: &mut Insert, of: Visitor<'_>) {
    one.rows.iter_mut().flatten().for_each(|one| expr(one, of));
    if let Some(inner) = &mut one.query {
        query(inner, of);
    }
}

fn change(one: &mut Change, of: Visitor<'_>) {
    sources(&mut one.from, of);
    one.sets.iter_mut().for_each(|(_, value)| expr(value, of));
    one.filter.iter_mut().chain(&mut one.limit).for_each(|one| expr(one, of));
}
