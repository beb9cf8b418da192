//! A relay between an instance and its server, so that a test can cut what is between them.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Passes bytes between its own port and a server until it is cut. Its threads end with its connections and with it.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    lines: Arc<Mutex<Lines>>,
}

#[derive(Debug, Default)]
struct Lines {
    is_cut: bool,
    is_over: bool,
    sockets: Vec<TcpStream>,
}

impl Relay {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// The system's, when there is no port.
    pub fn to(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let lines = Arc::new(Mutex::new(Lines::default()));
        let shared = lines.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let mut lines = lock(&shared);
                if lines.is_over {
                    return;
                }
                if lines.is_cut {
                    continue;
                }
                // A server that is not there shows to the client as a closed connection.
                drop(connect(client, server, &mut lines));
            }
        });
        Ok(Self { address, lines })
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends all connections, and new ones as soon as they come.
    pub fn cut(&self) {
        let mut lines = lock(&self.lines);
        lines.is_cut = true;
        for socket in lines.sockets.drain(..) {
            drop(socket.shutdown(Shutdown::Both));
        }
    }

    /// Lets new connections through again.
    pub fn heal(&self) {
        lock(&self.lines).is_cut = false;
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.cut();
        lock(&self.lines).is_over = true;
        // Wakes the thread that listens, so that it ends.
        drop(TcpStream::connect(self.address));
    }
}

fn connect(client: TcpStream, server: SocketAddr, lines: &mut Lines) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    for (mut from, mut to) in
        [(client.try_clone()?, server.try_clone()?), (server.try_clone()?, client.try_clone()?)]
    {
        to.set_nodelay(true)?;
        std::thread::spawn(move || {
            drop(io::copy(&mut from, &mut to));
            drop(to.shutdown(Shutdown::Both));
        });
    }
    lines.sockets.extend([client, server]);
    Ok(())
}

fn lock(lines: &Mutex<Lines>) -> MutexGuard<'_, Lines> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}
