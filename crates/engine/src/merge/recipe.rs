//! A merge plan resolved against the columns that came.

use std::sync::Arc;

use pando_kernel::column::Columns;
use pando_kernel::dialect;
use pando_kernel::error::{Error, Result};
use pando_kernel::merge::{Group, MergePlan};

use super::aggregate::AggregateSpec;
use super::compute::Compute;
use super::distinct::Unique;
use super::filter::Filter;
use super::group::{Form, GroupSpec, Grouper};
use super::key::{KeySpec, Resolver};
use super::limit::Window;
use super::pipeline::Forms;
use super::row::Layout;
use super::sorter::Sorter;

/// What to do with the streams.
#[derive(Debug)]
pub(super) struct Recipe {
    /// The form of the rows, and the columns the client sees.
    pub(super) layout: Layout,
    /// What the streams are merged by; empty: they are taken one after the other.
    pub(super) order: Vec<KeySpec>,
    /// Whose turn it is, row by row.
    pub(super) turns: Option<Arc<[u32]>>,
    /// What rows go through.
    pub(super) forms: Forms,
    /// Which rows pass in the end.
    pub(super) window: Window,
    /// Rows pass as they are: nothing has to look into them.
    pub(super) untouched: bool,
}

impl Recipe {
    /// Resolves `plan` against the columns of the first of `streams` streams.
    ///
    /// # Errors
    /// `UnknownColumn` and `Refused` for names; `Refused` when values of a column cannot be compared; `Internal` for a broken plan.
    pub(super) fn new(
        plan: &MergePlan,
        columns: Columns,
        streams: usize,
        dialect: &dyn dialect::Ordering,
    ) -> Result<Self> {
        let visible = columns
            .list
            .len()
            .checked_sub(plan.derived)
            .ok_or_else(|| Error::internal("a merge plan derives more columns than came"))?;
        let mut output = columns.clone();
        if visible < columns.list.len() {
            output.list = columns.list.iter().take(visible).cloned().collect();
        }
        let resolver = Resolver { columns: &columns, visible, dialect };
        let (mut order, mut sorted) = (resolver.keys(&plan.order)?, Vec::new());
        let mut group = None;
        if let Some(plan) = &plan.group {
            let spec = group_spec(plan, &mut order, resolver)?;
            for aggregate in &spec.aggregates {
                if let Some(column) = Arc::make_mut(&mut output.list).get_mut(aggregate.output) {
                    column.kind = aggregate.kind();
                }
            }
            sorted.clone_from(&spec.sort);
            group = Some(Grouper::new(spec));
        }
        if !plan.sort.is_empty() {
            sorted = resolver.keys(&plan.sort)?;
        }
        if sorted.is_empty() {
            sorted.clone_from(&order);
        }
        let unique = match &plan.distinct {
            Some(keys) => Some(Unique::new(resolver.keys(keys)?, &sorted)),
            None => None,
        };
        let filter =
            plan.filter.as_ref().map(|filter| Filter::new(filter, resolver)).transpose()?;
        let computed = plan.computed.iter().map(|(position, computed)| {
            Ok((resolver.column(position)?, Compute::new(computed, resolver)?))
        });
        let computed = computed.collect::<Result<Vec<_>>>()?;
        let sort = sorter(plan, resolver)?;
        let turns = plan.turns.clone().filter(|_| streams > 1);
        let untouched = (order.is_empty() || streams == 1)
            && turns.is_none()
            && plan.derived == 0
            && filter.is_none()
            && computed.is_empty()
            && sort.is_none()
            && group.is_none()
            && unique.is_none();
        let window = Window::new(plan.offset, plan.limit);
        let layout = Layout::new(columns, output);
        let forms = Forms { filter, computed, sort, group, unique };
        Ok(Self { layout, order, turns, forms, window, untouched })
    }
}

/// What sorts rows in memory. Where nothing is dropped behind it, no run keeps more rows than the window lets through.
fn sorter(plan: &MergePlan, resolver: Resolver<'_>) -> Result<Option<Sorter>> {
    if plan.sort.is_empty() {
        return Ok(None);
    }
    let last = plan.limit.map(|limit| limit.saturating_add(plan.offset));
    let most = last.filter(|_| plan.distinct.is_none()).and_then(|last| usize::try_from(last).ok());
    Ok(Some(Sorter::new(resolver.keys(&plan.sort)?).keeping(most)))
}

/// Resolves the grouping. `order` becomes what the streams are merged by: empty for the memory form, which needs no order.
fn group_spec(plan: &Group, order: &mut Vec<KeySpec>, resolver: Resolver<'_>) -> Result<GroupSpec> {
    let keys = resolver.keys(&plan.keys)?;
    let mut sort = resolver.keys(&plan.then_order)?;
    let mut form = Form::Memory;
    let requested = order.clone();
    if plan.sorted {
        for key in &keys {
            if !order.iter().any(|other| other.same(key)) {
                order.push(key.clone());
            }
        }
        if let Some(count) = leading(&keys, order) {
            form = Form::Stream(count);
        }
    }
    if form == Form::Memory {
        order.clear();
        if sort.is_empty() {
            sort = requested;
        }
    }
    let behind = match &form {
        Form::Stream(count) => *count,
        Form::Memory => 0,
    };
    let behind = order.get(behind..).unwrap_or_default();
    let aggregates = plan
        .aggregates
        .iter()
        .map(|aggregate| AggregateSpec::new(aggregate, resolver, behind))
        .collect::<Result<_>>()?;
    Ok(GroupSpec { keys, form, aggregates, sort })
}

/// How many of the first keys of the order are the group's, when no other key stands between them: only then do equal rows follow one another.
fn leading(keys: &[KeySpec], order: &[KeySpec]) -> Option<usize> {
    let mut end = 0;
    for key in keys {
        end = end.max(1 + order.iter().position(|other| other.same(key))?);
    }
    let own = |other: &KeySpec| keys.iter().any(|key| key.same(other));
    order.iter().take(end).all(own).then_some(end)
}
