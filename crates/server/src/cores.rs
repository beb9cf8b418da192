//! Which cores there are, which one a thread runs on, and on which one a socket's bytes arrive. Nothing of it is needed for right answers: where the system does
//! not tell or does not allow it, threads run where they like.

#[cfg(target_os = "linux")]
mod system {
    use std::io;

    use rustix::net::sockopt;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    use tokio::net::TcpStream;

    /// The cores that the calling thread may run on.
    pub(crate) fn allowed() -> Vec<usize> {
        let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
        (0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect()
    }

    /// Keeps the calling thread, and threads that it starts, on this core.
    ///
    /// # Errors
    /// What the system says where it does not allow it.
    pub(crate) fn stay_on(core: usize) -> io::Result<()> {
        let mut set = CpuSet::new();
        set.set(core);
        Ok(sched_setaffinity(None, &set)?)
    }

    /// The core that the last of this socket's bytes arrived on (socket(7), `SO_INCOMING_CPU`): where the other side runs if it is on this machine, otherwise the core that
    /// serves the network card's queue.
    pub(crate) fn arrival(socket: &TcpStream) -> Option<usize> {
        usize::try_from(sockopt::socket_incoming_cpu(socket).ok()?).ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;

    use tokio::net::TcpStream;

    pub(crate) fn allowed() -> Vec<usize> {
        Vec::new()
    }

    pub(crate) fn stay_on(_: usize) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn arrival(_: &TcpStream) -> Option<usize> {
        None
    }
}

pub(crate) use system::{allowed, arrival, stay_on};

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;

    use super::*;

    /// A sender on each core in turn.
    #[tokio::test]
    async fn bytes_arrive_on_the_core_of_who_sends_them() {
        for core in allowed() {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let sender = std::thread::spawn(move || {
                stay_on(core).unwrap();
                assert_eq!(allowed(), [core]);
                std::io::Write::write_all(
                    &mut std::net::TcpStream::connect(address).unwrap(),
                    b"here",
                )
            });
            let (mut accepted, _) = listener.accept().await.unwrap();
            sender.join().unwrap().unwrap();
            let mut bytes = [0; 4];
            accepted.read_exact(&mut bytes).await.unwrap();
            assert_eq!(arrival(&accepted), Some(core));
        }
    }
}
