//! The client side of TLS, towards storage units.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};

use pando_kernel::runtime::{Stream, TlsMode};
use rustls::ClientConfig;
use rustls::client::danger::ServerCertVerifier;
use rustls_pki_types::ServerName;
use tokio_rustls::TlsConnector;

use super::verify::AnyName;
use super::{pem, provider};

/// Configurations made so far, one per mode and authority: a trust store is read from disk once, not once per connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Client {
    configurations: Arc<Mutex<HashMap<Trust, Arc<ClientConfig>>>>,
}

/// Which certificates are believed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Trust {
    Anything,
    Chain(Option<String>),
    ChainAndName(Option<String>),
}

impl Client {
    /// The client's handshake on `stream`; with [`TlsMode::Off`] the stream as it was.
    pub(crate) async fn secure(
        &self,
        stream: Box<dyn Stream>,
        host: &str,
        mode: TlsMode,
        authority: Option<&str>,
    ) -> io::Result<Box<dyn Stream>> {
        let authority = authority.map(str::to_owned);
        let trust = match mode {
            TlsMode::Off => return Ok(stream),
            TlsMode::Prefer | TlsMode::Require => Trust::Anything,
            TlsMode::VerifyCa => Trust::Chain(authority),
            TlsMode::VerifyFull => Trust::ChainAndName(authority),
        };
        let name = server_name(host, mode)?;
        let connector = TlsConnector::from(self.configuration(trust)?);
        Ok(Box::new(connector.connect(name, stream).await?))
    }

    fn configuration(&self, trust: Trust) -> io::Result<Arc<ClientConfig>> {
        let mut known = self.configurations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&trust) {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(configure(&trust)?);
        known.insert(trust, Arc::clone(&made));
        Ok(made)
    }
}

fn configure(trust: &Trust) -> io::Result<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let believing = |verifier: Arc<dyn ServerCertVerifier>| {
        builder.clone().dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    };
    Ok(match trust {
        Trust::Anything => believing(Arc::new(AnyName::from_anyone(provider()))),
        Trust::Chain(authority) => {
            let roots = pem::roots(authority.as_deref())?;
            believing(Arc::new(AnyName::signed_by(provider(), roots)))
        }
        Trust::ChainAndName(authority) => {
            builder.with_root_certificates(pem::roots(authority.as_deref())?).with_no_client_auth()
        }
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
