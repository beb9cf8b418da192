//! What a MySQL client may send: packets off a stream, the login, commands with their parameters.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pando_fuzz::Choices;
use pando_mysql::codec::{
    Capabilities, ChangeUser, Command, Execute, HandshakeResponse, Inbound, ParameterType, Query,
    Run, SslRequest,
};
use pando_mysql::types::parameter_value;

/// Small, so that the limit itself is met.
const LIMIT: usize = 4096;

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices(data);
    let capabilities = Capabilities::from_halves(choices.number(), 0);
    let chunk = usize::from(choices.byte()) + 1;
    let bytes = choices.rest();
    payload(bytes, capabilities);
    stream(bytes, chunk, capabilities);
    runs(bytes, chunk);
});

fn stream(bytes: &[u8], chunk: usize, capabilities: Capabilities) {
    let mut inbound = Inbound::new(LIMIT);
    for piece in bytes.chunks(chunk) {
        inbound.buffer_mut().extend_from_slice(piece);
        loop {
            match inbound.next_packet() {
                Ok(Some(packet)) => {
                    assert!(packet.payload.len() <= LIMIT);
                    payload(&packet.payload, capabilities);
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
        assert!(inbound.buffered().len() <= bytes.len());
    }
}

fn runs(bytes: &[u8], chunk: usize) {
    let mut inbound = Inbound::new(LIMIT);
    for piece in bytes.chunks(chunk) {
        inbound.buffer_mut().extend_from_slice(piece);
        while let Ok(Run::Packets(packets, count)) =
            inbound.run(|first, length| first == 0xFE && length < 9)
        {
            assert!(count > 0 && !packets.is_empty());
        }
    }
}

fn payload(bytes: &[u8], capabilities: Capabilities) {
    if let Ok(login) = HandshakeResponse::decode(bytes) {
        assert!(login.attribute_pairs().count() <= bytes.len());
    }
    let _ = SslRequest::is_one(bytes).then(|| SslRequest::decode(bytes));
    let _ = ChangeUser::decode(bytes, capabilities);
    if let Ok(query) = Query::decode(bytes, capabilities) {
        assert!(query.attributes.list.len() <= bytes.len());
    }
    let Ok(Command::Execute(head)) = Command::decode(bytes, capabilities) else { return };
    let kept = [3, 8, 253, 12, 5].map(|type_id| ParameterType { type_id, unsigned: type_id == 8 });
    for count in [0, 1, 5, 17] {
        let head = head.clone();
        let Ok(execute) = Execute::decode(head, capabilities, count, &kept, |index| index == 3)
        else {
            continue;
        };
        assert!(execute.parameters.len() >= count);
        for parameter in &execute.parameters {
            if let Some(raw) = parameter.value {
                let _ = parameter_value(parameter.parameter_type, raw);
            }
        }
    }
}
