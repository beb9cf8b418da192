//! COM_STMT_EXECUTE.

use bytes::{BufMut, BytesMut};

use super::binary_row::binary_value_len;
use super::capabilities::Capabilities;
use super::malformed::{Fault, Malformed};
use super::reader::Reader;

/// The type of a bound parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterType {
    /// Type byte.
    pub type_id: u8,
    /// Whether an integer is unsigned.
    pub unsigned: bool,
}

/// One parameter as sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundParameter<'a> {
    /// Its type.
    pub parameter_type: ParameterType,
    /// Its name; empty for the placeholders of the statement.
    pub name: &'a [u8],
    /// The binary form without a length prefix; `None` is NULL or comes as long data.
    pub value: Option<&'a [u8]>,
}

/// The part of COM_STMT_EXECUTE that can be read without knowing the statement.
#[derive(Debug, Clone)]
pub struct ExecuteHead<'a> {
    /// The statement's number.
    pub statement: u32,
    /// Whether a read-only cursor is asked for.
    pub cursor: bool,
    counted: bool,
    rest: Reader<'a>,
}

const CURSOR_TYPES: u8 = 0x07;
const COUNT_AVAILABLE: u8 = 0x08;

impl<'a> ExecuteHead<'a> {
    /// Reads a payload after its command byte.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn decode(body: &'a [u8], capabilities: Capabilities) -> Result<Self, Malformed> {
        let mut rest = Reader::new("execute", body);
        let statement = rest.u32("statement")?;
        let flags = rest.u8("flags")?;
        rest.u32("iteration count")?;
        let counted =
            capabilities.has(Capabilities::QUERY_ATTRIBUTES) && flags & COUNT_AVAILABLE != 0;
        let named = capabilities.has(Capabilities::QUERY_ATTRIBUTES);
        let cursor = flags & CURSOR_TYPES != 0;
        Ok(Self { statement, cursor, counted: counted && named, rest })
    }
}

/// COM_STMT_EXECUTE with its parameters.
///
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html>
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execute<'a> {
    /// One entry per placeholder, then the query attributes if any.
    pub parameters: Vec<BoundParameter<'a>>,
    /// The types that came with this execution; they hold for later ones that send none. `None` when none came.
    pub new_types: Option<Vec<ParameterType>>,
}

impl<'a> Execute<'a> {
    /// Reads the parameters of a statement with `count` placeholders. `kept` are the types of an earlier execution,
    /// `is_long` tells the parameters that came as long data and so have no value here.
    ///
    /// # Errors
    /// `Malformed`; also when no types were ever sent.
    pub fn decode(
        head: ExecuteHead<'a>,
        capabilities: Capabilities,
        count: usize,
        kept: &[ParameterType],
        is_long: impl Fn(usize) -> bool,
    ) -> Result<Self, Malformed> {
        let mut reader = head.rest;
        let names = match capabilities.has(Capabilities::QUERY_ATTRIBUTES) {
            true => Names::Sent,
            false => Names::Absent,
        };
        let mut total = count;
        if head.counted {
            let sent = reader.lenenc_int("number of parameters")?;
            // A client with attributes but no own count of placeholders sends at least the placeholders.
            total = usize::try_from(sent)
                .ok()
                .filter(|sent| *sent >= count && *sent <= count + reader.remaining())
                .ok_or_else(|| reader.fault("number of parameters", Fault::Value(sent)))?;
        }
        if total == 0 {
            return Ok(Self { parameters: Vec::new(), new_types: None });
        }
        let nulls = reader.bytes("null bitmap", total.div_ceil(8))?;
        let fresh = reader.u8("new types flag")?;
        if fresh == 0 {
            let Some(kept) = kept.get(..total) else {
                return Err(reader.fault("new types flag", Fault::Value(0)));
            };
            let types = kept.iter().map(|kept| (*kept, &[][..]));
            let parameters = read_values(&mut reader, nulls, types, is_long)?;
            return Ok(Self { parameters, new_types: None });
        }
        let types = read_types(&mut reader, total, names)?;
        let parameters = read_values(&mut reader, nulls, types.iter().copied(), is_long)?;
        let new_types = types.iter().map(|(parameter_type, _)| *parameter_type).collect();
        Ok(Self { parameters, new_types: Some(new_types) })
    }

    /// Appends the whole payload of an execution: header, null bitmap, types and values. `parameters` gives the type
    /// and the binary form (length prefix included) of each placeholder; `None` is NULL.
    pub fn encode(
        statement: u32,
        parameters: &[(ParameterType, Option<&[u8]>)],
        out: &mut BytesMut,
    ) {
        out.put_u8(0x17);
        out.put_u32_le(statement);
        out.put_u8(0);
        out.put_u32_le(1);
        if parameters.is_empty() {
            return;
        }
        for group in parameters.chunks(8) {
            let bits = group.iter().enumerate().map(|(i, (_, v))| u8::from(v.is_none()) << i);
            out.put_u8(bits.sum());
        }
        out.put_u8(1);
        for (parameter_type, _) in parameters {
            out.put_u8(parameter_type.type_id);
            out.put_u8(if parameter_type.unsigned { 0x80 } else { 0 });
        }
        for value in parameters.iter().filter_map(|(_, value)| *value) {
            out.put_slice(value);
        }
    }
}

/// Whether the types of parameters come with names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Names {
    Sent,
    Absent,
}

/// Reads `count` parameter types.
pub(super) fn read_types<'a>(
    reader: &mut Reader<'a>,
    count: usize,
    names: Names,
) -> Result<Vec<(ParameterType, &'a [u8])>, Malformed> {
    if reader.remaining() < count * 2 {
        return Err(reader.fault("parameter types", Fault::Truncated));
    }
    let mut types = Vec::with_capacity(count);
    for _ in 0..count {
        let type_id = reader.u8("parameter type")?;
        let unsigned = reader.u8("parameter flag")? & 0x80 != 0;
        let name = match names {
            Names::Sent => reader.lenenc_bytes("parameter name")?,
            Names::Absent => &[],
        };
        types.push((ParameterType { type_id, unsigned }, name));
    }
    Ok(types)
}

/// Reads the values of parameters that are neither NULL nor long data.
pub(super) fn read_values<'a>(
    reader: &mut Reader<'a>,
    nulls: &[u8],
    types: impl ExactSizeIterator<Item = (ParameterType, &'a [u8])>,
    is_long: impl Fn(usize) -> bool,
) -> Result<Vec<BoundParameter<'a>>, Malformed> {
    let mut parameters = Vec::with_capacity(types.len());
    for (index, (parameter_type, name)) in types.enumerate() {
        let null = nulls.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1);
        let value = if null || is_long(index) {
            None
        } else {
            let len = binary_value_len(parameter_type.type_id, reader)?;
            Some(reader.bytes("parameter value", len)?)
        };
        parameters.push(BoundParameter { parameter_type, name, value });
    }
    Ok(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_CAPABILITIES: Capabilities = Capabilities(0);
    const BIGINT: ParameterType = ParameterType { type_id: 8, unsigned: true };
    const TEXT: ParameterType = ParameterType { type_id: 253, unsigned: false };

    fn decode<'a>(
        body: &'a [u8],
        capabilities: Capabilities,
        count: usize,
        kept: &[ParameterType],
    ) -> Result<Execute<'a>, Malformed> {
        let head = ExecuteHead::decode(body, capabilities)?;
        Execute::decode(head, capabilities, count, kept, |_| false)
    }

    fn sample() -> BytesMut {
        let mut out = BytesMut::new();
        let parameters: [(ParameterType, Option<&[u8]>); 3] =
            [(BIGINT, Some(&[7, 0, 0, 0, 0, 0, 0, 0])), (TEXT, Some(b"\x02ab")), (TEXT, None)];
        Execute::encode(5, &parameters, &mut out);
        out
    }

    #[test]
    fn parameters_come_back_and_cuts_are_refused() {
        let out = sample();
        let execute = decode(&out[1..], NO_CAPABILITIES, 3, &[]).unwrap();
        let values: Vec<_> = execute.parameters.iter().map(|p| p.value).collect();
        assert_eq!(values, [Some(&[7, 0, 0, 0, 0, 0, 0, 0][..]), Some(&b"ab"[..]), None]);
        assert_eq!(execute.new_types, Some(vec![BIGINT, TEXT, TEXT]));
        for cut in 0..out.len() - 1 {
            assert!(decode(&out[1..=cut], NO_CAPABILITIES, 3, &[]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn types_of_an_earlier_execution_are_used_when_none_come() {
        let body = [5, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, b'h', b'i'];
        let execute = decode(&body, NO_CAPABILITIES, 1, &[TEXT]).unwrap();
        assert_eq!(execute.parameters[0].value, Some(&b"hi"[..]));
        assert_eq!(execute.new_types, None);
        assert!(decode(&body, NO_CAPABILITIES, 1, &[]).is_err());
    }

    #[test]
    fn long_data_has_no_value_in_the_packet() {
        let body = [5, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 252, 0, 8, 0, 9, 0, 0, 0, 0, 0, 0, 0];
        let head = ExecuteHead::decode(&body, NO_CAPABILITIES).unwrap();
        let execute = Execute::decode(head, NO_CAPABILITIES, 2, &[], |i| i == 0).unwrap();
        assert_eq!(execute.parameters[0].value, None);
        assert_eq!(execute.parameters[1].value, Some(&[9, 0, 0, 0, 0, 0, 0, 0][..]));
    }

    #[test]
    fn query_attributes_follow_the_placeholders() {
        let capabilities = Capabilities::QUERY_ATTRIBUTES;
        let body = b"\x05\0\0\0\x08\x01\0\0\0\x02\0\x01\xFD\0\0\xFD\0\x05trace\x01x\x01y";
        let execute = decode(body, capabilities, 1, &[]).unwrap();
        assert_eq!(execute.parameters[0].value, Some(&b"x"[..]));
        assert_eq!(
            (execute.parameters[1].name, execute.parameters[1].value),
            (&b"trace"[..], Some(&b"y"[..]))
        );
        for lie in [0u8, 0xFA] {
            let mut body = body.to_vec();
            body[9] = lie;
            assert!(decode(&body, capabilities, 1, &[]).is_err());
        }
    }

    #[test]
    fn a_cursor_is_seen() {
        let head = ExecuteHead::decode(&[5, 0, 0, 0, 1, 1, 0, 0, 0], NO_CAPABILITIES).unwrap();
        assert!(head.cursor);
        assert_eq!(head.statement, 5);
    }
}
