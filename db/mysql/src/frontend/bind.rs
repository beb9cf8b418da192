//! The values of an execution as parameters: decoded for routing, raw for passing on.

use std::collections::BTreeMap;

use bytes::Bytes;
use pando_kernel::{Error, Format, Native, Parameter, Result, Value};

use super::charset::Charset;
use super::reply::too_large;
use super::statements::Statement;
use crate::codec::{self, BoundParameter, Capabilities, ExecuteHead};
use crate::error::malformed;
use crate::types::{ColumnType, FAMILY, flag, parameter_value};

/// How a client speaks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spoken {
    pub(super) capabilities: Capabilities,
    pub(super) charset: Charset,
}

/// The parameters of an execution; types that came with it are kept.
pub(super) fn bind(
    statement: &mut Statement,
    long: Option<BTreeMap<u16, Bytes>>,
    payload: &Bytes,
    head: ExecuteHead<'_>,
    spoken: Spoken,
) -> Result<Vec<Parameter>> {
    let Spoken { capabilities, charset } = spoken;
    let long =
        long.ok_or_else(|| too_large("a parameter sent in pieces is longer than the limit"))?;
    let is_long = |index: usize| u16::try_from(index).is_ok_and(|index| long.contains_key(&index));
    let count = statement.parameters;
    let execute = codec::Execute::decode(head, capabilities, count, &statement.types, is_long)
        .map_err(malformed)?;
    let parameters = execute.parameters.iter().take(count).enumerate();
    let parameters = parameters
        .map(|(index, bound)| parameter(payload, bound, long_data(&long, index), charset))
        .collect::<Result<Vec<_>>>()?;
    if let Some(types) = execute.new_types {
        statement.types = types;
    }
    Ok(parameters)
}

fn long_data(long: &BTreeMap<u16, Bytes>, index: usize) -> Option<&Bytes> {
    long.get(&u16::try_from(index).ok()?)
}

fn parameter(
    payload: &Bytes,
    bound: &BoundParameter<'_>,
    long: Option<&Bytes>,
    charset: Charset,
) -> Result<Parameter, Error> {
    let mut parameter_type = bound.parameter_type;
    let mut raw = bound.value.map(|value| payload.slice_ref(value));
    if let Some(long) = long {
        // Pieces are octets or characters, whatever type the client announced.
        if !is_text(parameter_type.type_id) {
            parameter_type.type_id = ColumnType::Blob as u8;
        }
        raw = Some(long.clone());
    }
    if is_text(parameter_type.type_id)
        && let Some(text) = raw.as_deref().and_then(|raw| charset.translated(raw))
    {
        raw = Some(text.into());
    }
    let value = match &raw {
        Some(raw) => parameter_value(parameter_type, raw)?,
        None => Value::Null,
    };
    let native = Native {
        family: FAMILY,
        type_id: u32::from(parameter_type.type_id),
        flags: if parameter_type.unsigned { flag::UNSIGNED } else { 0 },
        ..Native::default()
    };
    Ok(Parameter { value, native, format: Format::Binary, raw })
}

fn is_text(type_id: u8) -> bool {
    let textual = [ColumnType::VarString, ColumnType::String, ColumnType::VarChar];
    textual.iter().any(|known| *known as u8 == type_id)
}
