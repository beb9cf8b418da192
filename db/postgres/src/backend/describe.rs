//! RowDescription and ParameterDescription as the kernel's columns and types.

use std::sync::Arc;

use pando_kernel::{Column, Columns, Format, Native};

use crate::codec::backend::{ParameterDescription, RowDescription};
use crate::row::DataRows;
use crate::types;

/// The columns as described, each with the format the description says.
pub(super) fn columns(description: &RowDescription<'_>) -> Vec<Column> {
    description
        .columns()
        .map(|column| Column {
            format: column.format,
            native: Native {
                family: types::FAMILY,
                type_id: column.oid,
                length: column.size.into(),
                modifier: column.modifier,
                relation: column.table,
                attribute: column.attribute,
                ..Native::default()
            },
            ..Column::computed(
                String::from_utf8_lossy(column.name).into_owned(),
                types::kind(column.oid),
            )
        })
        .collect()
}

/// Columns with the formats asked for: none means text, one means all, else one per column.
pub(super) fn formatted(columns: &[Column], formats: &[Format]) -> Columns {
    let mut list = columns.to_vec();
    for (index, column) in list.iter_mut().enumerate() {
        let at = if formats.len() == 1 { 0 } else { index };
        column.format = formats.get(at).copied().unwrap_or_default();
    }
    with_codec(list)
}

/// Columns whose rows come as DataRow frames.
pub(super) fn with_codec(list: Vec<Column>) -> Columns {
    Columns { list, codec: Arc::new(DataRows) }
}

/// The types of a statement's parameters.
pub(super) fn parameters(description: &ParameterDescription<'_>) -> Vec<Native> {
    description
        .types()
        .map(|type_id| Native {
            family: types::FAMILY,
            type_id,
            length: types::size(type_id).into(),
            modifier: -1,
            ..Native::default()
        })
        .collect()
}
