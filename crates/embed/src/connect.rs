//! Sockets to storage units, without waiting in the operating system.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::Poll;

use pando_kernel::runtime::Address;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::addr::SocketAddrArg;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect as begin, socket_with, sockopt,
};
use tokio::sync::oneshot;

use crate::reactor::Reactor;
use crate::socket::{Descriptor, Socket};

/// The first address that lets us in.
///
/// # Errors
/// What the operating system says of the last one.
pub(crate) async fn connect(address: &Address, reactor: &Arc<Reactor>) -> io::Result<Socket> {
    match address {
        Address::Unix(path) => {
            let address = SocketAddrUnix::new(path.as_str())?;
            to(AddressFamily::UNIX, &address, reactor).await
        }
        Address::Tcp(host, port) => {
            let mut last =
                io::Error::new(io::ErrorKind::NotFound, "the name stands for no address");
            for address in resolved(host, *port).await? {
                let family =
                    if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
                match to(family, &address, reactor).await {
                    Ok(socket) => return Ok(socket),
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
    }
}

/// What a name stands for. The system's look-up waits, so a thread of its own does it.
async fn resolved(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let (tell, told) = oneshot::channel();
    let name = host.to_owned();
    std::thread::Builder::new().name("pando-resolve".to_owned()).spawn(move || {
        let found = (name.as_str(), port).to_socket_addrs().map(Iterator::collect);
        // Nobody asks any more where the connection was given up.
        drop(tell.send(found));
    })?;
    told.await.unwrap_or_else(|_| Err(io::ErrorKind::Interrupted.into()))
}

async fn to(
    family: AddressFamily,
    address: &impl SocketAddrArg,
    reactor: &Arc<Reactor>,
) -> io::Result<Socket> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let fd = socket_with(family, SocketType::STREAM, flags, None)?;
    let is_there = match begin(&fd, address) {
        Ok(()) => true,
        Err(Errno::INPROGRESS | Errno::AGAIN) => false,
        Err(error) => return Err(error.into()),
    };
    let descriptor = Descriptor::new(fd, reactor);
    if !is_there {
        std::future::poll_fn(|cx| match is_writable(descriptor.fd()) {
            Ok(true) => Poll::Ready(Ok(())),
            Ok(false) => match descriptor.wait(PollFlags::OUT, cx) {
                Ok(()) => Poll::Pending,
                Err(error) => Poll::Ready(Err(error)),
            },
            Err(error) => Poll::Ready(Err(error)),
        })
        .await?;
        if let Err(error) = sockopt::socket_error(descriptor.fd())? {
            return Err(error.into());
        }
    }
    if family != AddressFamily::UNIX {
        pando_server::prepare(descriptor.fd())?;
    }
    Ok(Socket::new(descriptor))
}

/// Whether the connection is made, or has failed.
fn is_writable(fd: &OwnedFd) -> io::Result<bool> {
    let mut one = [PollFd::new(fd, PollFlags::OUT)];
    match poll(&mut one, Some(&Timespec::default())) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
