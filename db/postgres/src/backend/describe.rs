//! RowDescription and ParameterDescription as the kernel's columns and types.

use std::sync::{Arc, LazyLock};

use pando_kernel::{Column, Columns, Format, Native, RowCodec};

use crate::codec::backend::{ParameterDescription, RowDescription};
use crate::row::DataRows;
use crate::types;

/// The columns as described, each with the format the description says.
pub(super) fn columns(description: &RowDescription<'_>) -> Arc<[Column]> {
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
pub(super) fn formatted(columns: &Arc<[Column]>, formats: &[Format]) -> Columns {
    let format = |index| {
        let at = if formats.len() == 1 { 0 } else { index };
        formats.get(at).copied().unwrap_or_default()
    };
    let mut list = Arc::clone(columns);
    if list.iter().enumerate().any(|(index, column)| column.format != format(index)) {
        for (index, column) in Arc::make_mut(&mut list).iter_mut().enumerate() {
            column.format = format(index);
        }
    }
    with_codec(list)
}

/// Columns whose rows come as DataRow frames.
pub(super) fn with_codec(list: Arc<[Column]>) -> Columns {
    static CODEC: LazyLock<Arc<dyn RowCodec>> = LazyLock::new(|| Arc::new(DataRows));
    Columns { list, codec: Arc::clone(&CODEC) }
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
