//! The values of a Bind as parameters: decoded for routing, raw for passing on.

use bytes::Bytes;
use pando_kernel::{Description, Format, Native, Parameter, Prepared, Result, Value};

use super::end::own;
use super::recode;
use crate::codec::frontend::Bind;
use crate::encoding::Encoding;
use crate::types::{self, FAMILY};

/// Bodies up to this many bytes are copied for a portal with a name, so that values that stay do not
/// hold on to the client's input buffer. There is but one portal without.
const COPY_BELOW: usize = 16 * 1024;

/// Whether the types must be asked for: a value came in binary and its type is not known.
pub(super) fn needs_types(prepared: &Prepared, bind: &Bind<'_>) -> bool {
    let open = |index: usize| prepared.declared.get(index).is_none_or(|oid| *oid == 0);
    prepared.description.get().is_none()
        && (0..bind.values.len())
            .any(|index| open(index) && bind.formats.get(index) == Format::Binary)
}

/// The parameters of a Bind.
///
/// # Errors
/// SQLSTATE 08P01 when their number is wrong, 22P03 when binary bytes are no value of their type; what the client's
/// encoding makes of texts ([`recode::value`]).
pub(super) fn parameters(
    prepared: &Prepared,
    bind: &Bind<'_>,
    body: &Bytes,
    encoding: Encoding,
) -> Result<Vec<Parameter>> {
    let (given, wanted) = (bind.values.len(), prepared.statement.parameters as usize);
    if given != wanted {
        let name = bind.statement;
        let message = format!(
            "bind message supplies {given} parameters, but prepared statement \"{name}\" requires {wanted}"
        );
        return Err(own("08P01", message));
    }
    let kept = match bind.values.is_empty() {
        true => Bytes::new(),
        false if !bind.portal.is_empty() && body.len() < COPY_BELOW => Bytes::copy_from_slice(body),
        false => body.clone(),
    };
    let start = body.as_ptr() as usize;
    let description = prepared.description.get();
    let mut parameters = Vec::with_capacity(given);
    for (index, value) in bind.values.iter().enumerate() {
        let raw = value.map(|value| {
            let at = value.as_ptr() as usize - start;
            kept.slice(at..at + value.len())
        });
        let type_id = type_of(prepared, description, index);
        let format = bind.formats.get(index);
        let raw = match raw {
            Some(raw) => Some(recode::value(encoding, type_id, format, &raw)?.unwrap_or(raw)),
            None => None,
        };
        parameters.push(parameter(type_id, format, raw)?);
    }
    Ok(parameters)
}

/// The type the client declared, else the one the storage unit found; 0 when neither is known.
fn type_of(prepared: &Prepared, description: Option<&Description>, index: usize) -> u32 {
    match prepared.declared.get(index) {
        Some(oid) if *oid != 0 => *oid,
        Some(_) | None => description
            .and_then(|description| description.parameters.get(index))
            .filter(|native| native.family == FAMILY)
            .map_or(0, |native| native.type_id),
    }
}

fn parameter(type_id: u32, format: Format, raw: Option<Bytes>) -> Result<Parameter> {
    let native = Native {
        family: FAMILY,
        type_id,
        length: types::size(type_id).into(),
        modifier: -1,
        ..Native::default()
    };
    let value = match (&raw, format) {
        (None, _) => Value::Null,
        (Some(bytes), Format::Binary) => types::decode(type_id, format, bytes)
            .map_err(|error| own("22P03", error.to_string()))?,
        // The server reads more spellings than we do (`0x1F`, `tr`): it shall judge.
        (Some(bytes), Format::Text) => match types::decode(type_id, format, bytes) {
            Ok(value) => value,
            Err(_) => types::decode(types::oid::TEXT, format, bytes)?,
        },
    };
    Ok(Parameter { value, native, format, raw })
}
