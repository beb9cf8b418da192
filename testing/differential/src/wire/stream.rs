//! A socket with a buffer on either side.

use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use super::Fault;

/// A server that says nothing for so long hangs.
const SILENCE: Duration = Duration::from_secs(300);
/// Bytes; nothing the bench asks for is larger, so a larger length is a lie.
const LARGEST: usize = 64 << 20;

#[derive(Debug)]
pub(super) struct Stream {
    reader: BufReader<TcpStream>,
    out: Vec<u8>,
}

impl Stream {
    pub(super) fn connect(port: u16) -> Result<Self, Fault> {
        let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(told)?;
        socket.set_nodelay(true).map_err(told)?;
        socket.set_read_timeout(Some(SILENCE)).map_err(told)?;
        Ok(Self { reader: BufReader::with_capacity(1 << 16, socket), out: Vec::new() })
    }

    pub(super) fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    pub(super) fn flush(&mut self) -> Result<(), Fault> {
        let done = self.reader.get_mut().write_all(&self.out).map_err(told);
        self.out.clear();
        done
    }

    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes).map_err(told)?;
        Ok(bytes)
    }

    pub(super) fn take_all(&mut self, size: usize) -> Result<Vec<u8>, Fault> {
        if size > LARGEST {
            return Err(format!("a message of {size} bytes"));
        }
        let mut bytes = vec![0; size];
        self.reader.read_exact(&mut bytes).map_err(told)?;
        Ok(bytes)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn told(error: std::io::Error) -> Fault {
    format!("connection: {error}")
}

/// A message's bytes, read from the front.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn bytes(&mut self, size: usize) -> Result<&'a [u8], Fault> {
        let (front, rest) = self.0.split_at_checked(size).ok_or("a message ends too early")?;
        self.0 = rest;
        Ok(front)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        self.bytes(N)?.try_into().map_err(|_| "a message ends too early".to_owned())
    }

    /// Up to the zero byte, which is taken too.
    pub(super) fn text(&mut self) -> Result<String, Fault> {
        let end = self.0.iter().position(|byte| *byte == 0).ok_or("a text without an end")?;
        let text = String::from_utf8_lossy(self.bytes(end)?).into_owned();
        self.bytes(1)?;
        Ok(text)
    }
}
