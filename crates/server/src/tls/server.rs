//! The doors' side of TLS.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use pando_kernel::runtime::{BoxFuture, Stream, TlsAcceptor};
use rustls::{ServerConfig, SupportedProtocolVersion};

use super::{pem, provider};

/// Secures accepted streams with one certificate chain.
pub(crate) struct Acceptor {
    acceptor: tokio_rustls::TlsAcceptor,
}

impl Acceptor {
    /// Reads the chain and its key. `versions` names protocol versions as in `proxy-frontend-ssl-version`; empty means 1.2 and 1.3.
    pub(crate) fn load(certificate: &Path, key: &Path, versions: &str) -> io::Result<Arc<Self>> {
        let chain = pem::certificates(certificate)?;
        let key = pem::key(key)?;
        let config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&protocol_versions(versions)?)
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| {
                io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("`{}` and its key cannot be used: {error}", certificate.display()),
                )
            })?;
        Ok(Arc::new(Self { acceptor: Arc::new(config).into() }))
    }
}

impl fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acceptor").finish_non_exhaustive()
    }
}

impl TlsAcceptor for Acceptor {
    fn accept(&self, stream: Box<dyn Stream>) -> BoxFuture<'static, io::Result<Box<dyn Stream>>> {
        let handshake = self.acceptor.accept(stream);
        Box::pin(async move { Ok(Box::new(handshake.await?) as Box<dyn Stream>) })
    }
}

fn protocol_versions(names: &str) -> io::Result<Vec<&'static SupportedProtocolVersion>> {
    let mut versions = Vec::new();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match name {
            "TLSv1.3" => versions.push(&rustls::version::TLS13),
            "TLSv1.2" => versions.push(&rustls::version::TLS12),
            other => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!(
                        "TLS version `{other}` is not served; use `TLSv1.2`, `TLSv1.3` or both"
                    ),
                ));
            }
        }
    }
    if versions.is_empty() {
        versions.extend(rustls::ALL_VERSIONS);
    }
    Ok(versions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &str, expected: Option<usize>) {
        assert_eq!(protocol_versions(names).ok().map(|list| list.len()), expected, "{names}");
    }

    #[test]
    fn protocol_versions_are_read_by_name_and_old_ones_refused() {
        check("", Some(2));
        check("TLSv1.2,TLSv1.3", Some(2));
        check(" TLSv1.3 ", Some(1));
        check("TLSv1.1", None);
    }

    #[test]
    fn a_missing_certificate_file_is_named_in_the_error() {
        let error =
            Acceptor::load(Path::new("/nowhere/cert.pem"), Path::new("/nowhere/key.pem"), "")
                .unwrap_err();
        assert!(error.to_string().contains("/nowhere/cert.pem"), "{error}");
    }
}
