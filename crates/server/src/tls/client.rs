//! The client side of TLS, towards storage units.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use pando_kernel::runtime::{Stream, TlsMode};
use pando_kernel::{Channel, ClientTls, Identity, Secured};
use rustls::ClientConfig;
use rustls::client::danger::ServerCertVerifier;
use rustls_pki_types::ServerName;
use tokio_rustls::TlsConnector;

use super::verify::AnyName;
use super::{certificate, pem, provider};

/// Configurations made so far, one for what is asked for: files are read when they have changed, not once per connection.
#[derive(Debug, Clone, Default)]
pub struct Client {
    configurations: Arc<Mutex<HashMap<Asked, Made>>>,
}

type Made = (Stamps, Arc<ClientConfig>);

/// What a configuration is asked for.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Asked {
    trust: Trust,
    identity: Option<Identity>,
}

/// When the files of authority, certificate and key were written.
type Stamps = [Option<SystemTime>; 3];

/// Which certificates are believed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Trust {
    Anything,
    Chain(Option<String>),
    ChainAndName(Option<String>),
}

impl Client {
    /// The client's handshake on `stream`; with [`TlsMode::Off`] the stream as it was.
    pub async fn secure(
        &self,
        stream: Box<dyn Stream>,
        host: &str,
        tls: &ClientTls,
    ) -> io::Result<Secured> {
        let authority = tls.authority.clone();
        let trust = match tls.mode {
            TlsMode::Off => return Ok(Secured { stream, channel: Channel::default() }),
            TlsMode::Prefer | TlsMode::Require => Trust::Anything,
            TlsMode::VerifyCa => Trust::Chain(authority),
            TlsMode::VerifyFull => Trust::ChainAndName(authority),
        };
        let name = server_name(host, tls.mode)?;
        let configuration = self.configuration(Asked { trust, identity: tls.identity.clone() })?;
        let stream = TlsConnector::from(configuration).connect(name, stream).await?;
        let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let endpoint = shown.and_then(|theirs| certificate::endpoint(theirs));
        let channel = Channel { is_secured: true, endpoint, peer: None };
        Ok(Secured { stream: Box::new(stream), channel })
    }

    fn configuration(&self, asked: Asked) -> io::Result<Arc<ClientConfig>> {
        let stamps = stamps(&asked);
        let mut known = self.configurations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((read, found)) = known.get(&asked)
            && *read == stamps
        {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(configure(&asked)?);
        known.insert(asked, (stamps, Arc::clone(&made)));
        Ok(made)
    }
}

fn stamps(asked: &Asked) -> Stamps {
    let Asked { trust, identity } = asked;
    let authority = match trust {
        Trust::Anything => None,
        Trust::Chain(authority) | Trust::ChainAndName(authority) => authority.as_ref(),
    };
    let own = identity.as_ref();
    [authority, own.map(|own| &own.certificate), own.map(|own| &own.key)]
        .map(|path| std::fs::metadata(Path::new(path?)).and_then(|file| file.modified()).ok())
}

fn configure(asked: &Asked) -> io::Result<ClientConfig> {
    let Asked { trust, identity } = asked;
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let believing = |verifier: Arc<dyn ServerCertVerifier>| {
        builder.clone().dangerous().with_custom_certificate_verifier(verifier)
    };
    let builder = match trust {
        Trust::Anything => believing(Arc::new(AnyName::from_anyone(provider()))),
        Trust::Chain(authority) => {
            let roots = pem::roots(authority.as_deref())?;
            believing(Arc::new(AnyName::signed_by(provider(), roots)))
        }
        Trust::ChainAndName(authority) => {
            builder.clone().with_root_certificates(pem::roots(authority.as_deref())?)
        }
    };
    let Some(Identity { certificate, key }) = identity else {
        return Ok(builder.with_no_client_auth());
    };
    let chain = pem::certificates(Path::new(certificate))?;
    builder.with_client_auth_cert(chain, pem::key(Path::new(key))?).map_err(|error| {
        let message = format!("`{certificate}` and `{key}` cannot be used together: {error}");
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })
}

/// The name the server is asked for. Where the name is not checked, a host that cannot stand in a certificate (a socket's path) is
/// replaced by an address, which is not sent.
fn server_name(host: &str, mode: TlsMode) -> io::Result<ServerName<'static>> {
    match ServerName::try_from(host.to_owned()) {
        Ok(name) => Ok(name),
        Err(_) if mode != TlsMode::VerifyFull => {
            Ok(ServerName::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST).into()))
        }
        Err(error) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{host}` is no host name a certificate could be checked against: {error}"),
        )),
    }
}
