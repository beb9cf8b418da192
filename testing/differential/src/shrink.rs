//! Cutting a case down to what still shows the difference.

use std::time::{Duration, Instant};

use crate::arena::{Arena, Room};
use crate::case::{Case, Difference};
use crate::generate::Step;
use crate::render;
use crate::tree::{Body, By, Change, Expr, GroupForm, Make, Query, Select, Statement, What};
use crate::wire::Mode;

/// One case gets no more time than this.
const PATIENCE: Duration = Duration::from_secs(12);

/// The smallest case found, and what is different there. `None` if the case shows nothing when run alone.
pub(crate) fn shrink(room: &Room, case: &Case) -> Option<(Case, Difference)> {
    let mut arena = case.arena(room).ok()?;
    let mut best = case.clone();
    let mut found = best.run(&mut arena)?;
    best.steps.truncate(found.step + 1);
    let mut cutter = Cutter { room, arena, began: Instant::now(), kind: found.kind() };
    while !cutter.is_over() {
        let smaller = candidates(&best).into_iter().find_map(|smaller| cutter.still(&smaller));
        match smaller {
            Some((case, difference)) => (best, found) = (case, difference),
            None => break,
        }
    }
    let bare = without_unused(&best);
    if let Ok(arena) = bare.arena(room) {
        cutter.arena = arena;
        if let Some(still) = cutter.still(&bare) {
            (best, found) = still;
        }
    }
    Some((best, found))
}

struct Cutter<'a> {
    room: &'a Room,
    arena: Arena,
    began: Instant,
    kind: String,
}

impl Cutter<'_> {
    fn is_over(&self) -> bool {
        self.began.elapsed() > PATIENCE
    }

    fn still(&mut self, case: &Case) -> Option<(Case, Difference)> {
        if self.is_over() {
            return None;
        }
        let found = case.run(&mut self.arena)?;
        if found.kind() == "connection" {
            self.arena = case.arena(self.room).ok()?;
        }
        (found.kind() == self.kind).then(|| {
            let mut case = case.clone();
            case.steps.truncate(found.step + 1);
            (case, found)
        })
    }
}

/// Smaller cases, the boldest cuts first.
fn candidates(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    let with = |change: &dyn Fn(&mut Case)| {
        let mut smaller = case.clone();
        change(&mut smaller);
        smaller
    };
    let count = case.steps.len();
    if count > 1 {
        all.push(with(&|smaller| drop(smaller.steps.drain(..count - 1))));
        all.push(with(&|smaller| drop(smaller.steps.drain(..count / 2))));
        for at in 0..count {
            all.push(with(&|smaller| drop(smaller.steps.remove(at))));
        }
    }
    for at in 0..case.contents.len() {
        let rows = case.contents[at].1.len();
        if rows == 0 {
            continue;
        }
        all.push(with(&|smaller| smaller.contents[at].1.clear()));
        if rows > 1 {
            all.push(with(&|smaller| drop(smaller.contents[at].1.drain(..rows / 2))));
            all.push(with(&|smaller| smaller.contents[at].1.truncate(rows / 2)));
        }
    }
    if let Some(last) = case.steps.last() {
        for step in smaller_steps(last) {
            all.push(with(&|smaller| {
                if let Some(last) = smaller.steps.last_mut() {
                    last.clone_from(&step);
                }
            }));
        }
    }
    for at in 0..case.contents.len() {
        let rows = case.contents[at].1.len();
        if rows <= 12 {
            for row in 0..rows {
                all.push(with(&|smaller| drop(smaller.contents[at].1.remove(row))));
            }
        }
    }
    all
}

/// Without tables and columns that no statement names.
fn without_unused(case: &Case) -> Case {
    let mut bare = case.clone();
    let texts: Vec<String> =
        bare.steps.iter().map(|step| render::text(bare.server, &step.statement)).collect();
    let all = texts.join(" ");
    let names =
        |name: &str| all.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    bare.tables.retain(|table| names(&table.name));
    bare.contents.retain(|(table, _)| names(table));
    bare.layout.places.retain(|(table, _)| names(table));
    for group in &mut bare.layout.bound {
        group.retain(|table| names(table));
    }
    bare.layout.bound.retain(|group| group.len() > 1);
    if all.contains('*') && !all.contains("count(*)") {
        return bare;
    }
    for table in &mut bare.tables {
        let kept: Vec<usize> = (0..table.columns.len())
            .filter(|at| {
                let name = table.columns[*at].name.as_str();
                let needed =
                    bare.layout.of(&table.name).is_some_and(|p| p.columns().contains(&name));
                table.key.contains(at) || needed || names(name)
            })
            .collect();
        table.key = table.key.iter().filter_map(|at| kept.iter().position(|k| k == at)).collect();
        table.columns = kept.iter().map(|at| table.columns[*at].clone()).collect();
        for (name, rows) in &mut bare.contents {
            if *name == table.name {
                for row in rows {
                    *row = kept.iter().filter_map(|at| row.get(*at).cloned()).collect();
                }
            }
        }
    }
    bare
}

fn smaller_steps(step: &Step) -> Vec<Step> {
    let of = |statement| Step { statement, mode: step.mode };
    let mut all = Vec::new();
    if step.mode != Mode::Text {
        all.push(Step { statement: step.statement.clone(), mode: Mode::Text });
    }
    match &step.statement {
        Statement::Select(query) => {
            all.extend(queries(query, false).into_iter().map(|query| of(Statement::Select(query))));
        }
        Statement::Insert(insert) => {
            for row in 0..insert.rows.len() {
                if insert.rows.len() > 1 {
                    let mut smaller = insert.clone();
                    smaller.rows.remove(row);
                    all.push(of(Statement::Insert(smaller)));
                }
            }
            for cut in [0, 1] {
                let mut smaller = insert.clone();
                if cut == 0 {
                    smaller.conflict = None
                } else {
                    smaller.returning = None
                }
                if smaller != *insert {
                    all.push(of(Statement::Insert(smaller)));
                }
            }
            if let Some(query) = &insert.query {
                for query in queries(query, true) {
                    let mut smaller = insert.clone();
                    if query.items().len() == insert.columns.len() {
                        smaller.query = Some(query);
                        all.push(of(Statement::Insert(smaller)));
                    }
                }
            }
        }
        Statement::Update(change) => {
            all.extend(changes(change).into_iter().map(|change| of(Statement::Update(change))));
        }
        Statement::Delete(change) => {
            all.extend(changes(change).into_iter().map(|change| of(Statement::Delete(change))));
        }
        Statement::Make(make) => {
            for query in queries(&make.query, true) {
                if query.items().len() == make.query.items().len() {
                    all.push(of(Statement::Make(Make { query, ..make.clone() })));
                }
            }
        }
        Statement::Plain(_) => {}
    }
    all
}

fn changes(change: &Change) -> Vec<Change> {
    let mut all = Vec::new();
    let mut with = |edit: &dyn Fn(&mut Change)| {
        let mut smaller = change.clone();
        edit(&mut smaller);
        if smaller != *change {
            all.push(smaller);
        }
    };
    with(&|smaller| smaller.returning = None);
    with(&|smaller| smaller.limit = None);
    with(&|smaller| smaller.filter = None);
    if change.sets.len() > 1 {
        for at in 0..change.sets.len() {
            with(&|smaller| drop(smaller.sets.remove(at)));
        }
    }
    for filter in change.filter.iter().flat_map(expressions) {
        with(&|smaller| smaller.filter = Some(filter.clone()));
    }
    all
}

/// Smaller queries. The order of an inner query stays while there is a LIMIT: without it the answer would be open.
fn queries(query: &Query, is_inner: bool) -> Vec<Query> {
    let mut all = Vec::new();
    let mut with = |edit: &dyn Fn(&mut Query)| {
        let mut smaller = query.clone();
        edit(&mut smaller);
        if smaller != *query {
            all.push(smaller);
        }
    };
    with(&|smaller| (smaller.limit, smaller.offset) = (None, None));
    with(&|smaller| smaller.offset = None);
    with(&|smaller| smaller.lock = None);
    with(&|smaller| smaller.with.clear());
    if !(is_inner && query.limit.is_some()) {
        with(&|smaller| smaller.order.clear());
        for at in 0..query.order.len() {
            with(&|smaller| drop(smaller.order.remove(at)));
        }
    }
    for at in 0..query.order.len() {
        with(&|smaller| smaller.order[at].suffix.clear());
        if let By::Hidden(expr) = &query.order[at].by {
            for expr in expressions(expr) {
                with(&|smaller| smaller.order[at].by = By::Hidden(expr.clone()));
            }
        }
    }
    for at in 0..query.with.len() {
        for inner in queries(&query.with[at].query, true) {
            if inner.items().len() == query.with[at].query.items().len() {
                with(&|smaller| smaller.with[at].query.clone_from(&inner));
            }
        }
    }
    match &query.body {
        Body::Select(select) => {
            for select in selects(select) {
                with(&|smaller| {
                    smaller.body = Body::Select(Box::new(select.clone()));
                    keep_known_keys(smaller);
                });
            }
        }
        Body::Set { left, right, .. } => {
            for one in [left, right] {
                with(&|smaller| {
                    smaller.body = one.body.clone();
                    keep_known_keys(smaller);
                });
            }
            set_sides(query, left, right, &mut all);
        }
    }
    all
}

fn set_sides(query: &Query, left: &Query, right: &Query, all: &mut Vec<Query>) {
    let Body::Set { operator, .. } = &query.body else { return };
    let mut push = |left: &Query, right: &Query| {
        let mut smaller = query.clone();
        let (left, right) = (Box::new(left.clone()), Box::new(right.clone()));
        smaller.body = Body::Set { operator: operator.clone(), left, right };
        all.push(smaller);
    };
    for smaller in queries(left, true) {
        if smaller.items().len() == left.items().len() {
            push(&smaller, right);
        }
    }
    for smaller in queries(right, true) {
        if smaller.items().len() == right.items().len() {
            push(left, &smaller);
        }
    }
}

/// Keys of items that are gone go with them.
fn keep_known_keys(query: &mut Query) {
    let ids: Vec<usize> = query.items().iter().map(|item| item.id).collect();
    query.order.retain(|key| match &key.by {
        By::Ordinal(id) | By::Name(id) => ids.contains(id),
        By::Hidden(_) => true,
    });
}

fn selects(select: &Select) -> Vec<Select> {
    let mut all = Vec::new();
    let mut with = |edit: &dyn Fn(&mut Select)| {
        let mut smaller = select.clone();
        edit(&mut smaller);
        if smaller != *select {
            all.push(smaller);
        }
    };
    with(&|smaller| smaller.filter = None);
    with(&|smaller| smaller.having = None);
    with(&|smaller| smaller.distinct = false);
    with(&|smaller| smaller.rollup = false);
    with(&|smaller| smaller.grouped_by = GroupForm::Expression);
    for at in 1..select.from.len() {
        with(&|smaller| drop(smaller.from.remove(at)));
        with(&|smaller| "join".clone_into(&mut smaller.from[at].join));
    }
    if select.items.len() > 1 {
        for at in 0..select.items.len() {
            with(&|smaller| drop(smaller.items.remove(at)));
        }
    }
    for group in &select.group {
        // Items of a group that is gone would show any of its rows.
        let named = render::expression(group);
        with(&|smaller| {
            smaller.group.retain(|other| other != group);
            smaller.items.retain(|item| render::expression(&item.expr) != named);
        });
    }
    all.retain(|smaller| !smaller.items.is_empty());
    all.extend(inside(select));
    // An item of no group shows any of the rows where the server lets it.
    if shows_groups(select) {
        all.retain(shows_groups);
    }
    all
}

/// False where a row of a group shows something else than the group and aggregates.
fn shows_groups(select: &Select) -> bool {
    let adds_up = |expr: &Expr| {
        const WORDS: [&str; 11] = [
            "count(", "sum(", "avg(", "min(", "max(", "_agg(", "_concat(", "bit_", "bool_",
            "every(", "var_",
        ];
        let text = render::expression(expr);
        text.contains("stddev_") || WORDS.iter().any(|word| text.contains(word))
    };
    let is_grouped = !select.group.is_empty()
        || select.having.is_some()
        || select.items.iter().any(|item| adds_up(&item.expr) && !is_window(&item.expr));
    let is_shown = |expr: &Expr| select.group.contains(expr) || adds_up(expr);
    !is_grouped || select.items.iter().all(|item| is_shown(&item.expr))
}

fn is_window(expr: &Expr) -> bool {
    render::expression(expr).contains(" over (")
}

/// The same clauses with smaller expressions.
fn inside(select: &Select) -> Vec<Select> {
    let mut all = Vec::new();
    let mut with = |edit: &dyn Fn(&mut Select)| {
        let mut smaller = select.clone();
        edit(&mut smaller);
        all.push(smaller);
    };
    for filter in select.filter.iter().flat_map(expressions) {
        with(&|smaller| smaller.filter = Some(filter.clone()));
    }
    for having in select.having.iter().flat_map(expressions) {
        with(&|smaller| smaller.having = Some(having.clone()));
    }
    for at in 0..select.items.len() {
        let item = &select.items[at];
        if item.alias.is_some() {
            with(&|smaller| smaller.items[at].alias = None);
        }
        for expr in expressions(&item.expr) {
            // The group and the item that shows it change together.
            with(&|smaller| {
                for group in &mut smaller.group {
                    if *group == item.expr {
                        group.clone_from(&expr);
                    }
                }
                smaller.items[at].expr.clone_from(&expr);
            });
        }
    }
    for at in 0..select.from.len() {
        if let What::Derived(query) = &select.from[at].what {
            for inner in queries(query, true) {
                if inner.items().len() == query.items().len() {
                    with(&|smaller| smaller.from[at].what = What::Derived(Box::new(inner.clone())));
                }
            }
        }
    }
    all
}

/// Smaller expressions: any meaningful part for the whole, or one part cut down. What makes no sense both servers refuse alike.
fn expressions(expr: &Expr) -> Vec<Expr> {
    let mut all = Vec::new();
    match expr {
        Expr::Raw(_) | Expr::Column(..) | Expr::Value(..) => {}
        Expr::Parts(parts) => {
            for (at, part) in parts.iter().enumerate() {
                if !matches!(part, Expr::Raw(_)) {
                    let is_on = matches!(parts.first(), Some(Expr::Raw(word)) if word == "on ");
                    if !is_on {
                        all.push(part.clone());
                    }
                    for smaller in expressions(part) {
                        let mut parts = parts.clone();
                        parts[at] = smaller;
                        all.push(Expr::Parts(parts));
                    }
                }
            }
        }
        Expr::Query(query) => {
            all.extend(queries(query, true).into_iter().map(|query| Expr::Query(Box::new(query))));
        }
    }
    all
}
