//! The doors' side of TLS.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use pando_kernel::runtime::{BoxFuture, Stream, TlsAcceptor};
use pando_kernel::{Channel, Secured};
use rustls::crypto::CryptoProvider;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{ServerConfig, SupportedCipherSuite, SupportedProtocolVersion};

use super::{certificate, pem, provider};

/// Secures accepted streams with one certificate chain.
pub(crate) struct Acceptor {
    acceptor: tokio_rustls::TlsAcceptor,
    /// See [`Channel::endpoint`].
    endpoint: Option<Vec<u8>>,
}

/// PEM files of a door.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Files<'a> {
    /// The chain, the server's own certificate first.
    pub(crate) chain: &'a Path,
    /// Its key.
    pub(crate) key: &'a Path,
    /// Who signs the certificates of clients; without it none is asked for.
    pub(crate) clients: Option<&'a Path>,
}

impl Acceptor {
    /// Reads the chain and its key.
    pub(crate) fn load(files: &Files<'_>, terms: &Terms<'_>) -> io::Result<Arc<Self>> {
        let chain = pem::certificates(files.chain)?;
        let key = pem::key(files.key)?;
        let endpoint = chain.first().and_then(|own| certificate::endpoint(own));
        let suites = CryptoProvider {
            cipher_suites: cipher_suites(terms.ciphers)?,
            ..CryptoProvider::clone(&provider())
        };
        let config = ServerConfig::builder_with_provider(Arc::new(suites))
            .with_protocol_versions(&protocol_versions(terms.versions)?)
            .map_err(|_| {
                let (versions, ciphers) = (terms.versions.join(","), terms.ciphers.join(","));
                invalid(format!("no cipher suite of `{ciphers}` belongs to `{versions}`"))
            })?
            .with_client_cert_verifier(clients(files.clients)?)
            .with_single_cert(chain, key)
            .map_err(|error| {
                invalid(format!("`{}` and its key cannot be used: {error}", files.chain.display()))
            })?;
        Ok(Arc::new(Self { acceptor: Arc::new(config).into(), endpoint }))
    }
}

/// Who judges the certificates of clients. One that is shown must be good; whether a user needs one is judged when he is known.
fn clients(authority: Option<&Path>) -> io::Result<Arc<dyn ClientCertVerifier>> {
    let Some(path) = authority else { return Ok(WebPkiClientVerifier::no_client_auth()) };
    let roots = Arc::new(pem::roots_of(path)?);
    WebPkiClientVerifier::builder_with_provider(roots, provider())
        .allow_unauthenticated()
        .build()
        .map_err(|error| invalid(format!("`{}` cannot be used: {error}", path.display())))
}

/// What is offered to clients.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'a> {
    /// As in `proxy-frontend-ssl-version`; empty means 1.2 and 1.3.
    pub(crate) versions: &'a [String],
    /// As in `proxy-frontend-ssl-cipher`, best first; empty means the usual ones.
    pub(crate) ciphers: &'a [String],
}

impl fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acceptor").finish_non_exhaustive()
    }
}

impl TlsAcceptor for Acceptor {
    fn accept(&self, stream: Box<dyn Stream>) -> BoxFuture<'static, io::Result<Secured>> {
        let (handshake, endpoint) = (self.acceptor.accept(stream), self.endpoint.clone());
        Box::pin(async move {
            let stream = handshake.await?;
            let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
            let peer = shown.and_then(|own| certificate::peer(own));
            let channel = Channel { is_secured: true, endpoint, peer };
            Ok(Secured { stream: Box::new(stream), channel })
        })
    }
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn protocol_versions(names: &[String]) -> io::Result<Vec<&'static SupportedProtocolVersion>> {
    if names.is_empty() {
        return Ok(rustls::ALL_VERSIONS.to_vec());
    }
    let known = |name: &String| match name.as_str() {
        "TLSv1.3" => Ok(&rustls::version::TLS13),
        "TLSv1.2" => Ok(&rustls::version::TLS12),
        other => Err(invalid(format!(
            "TLS version `{other}` is not served; use `TLSv1.2`, `TLSv1.3` or both"
        ))),
    };
    names.iter().map(known).collect()
}

/// Suites by their IANA names, as Java has them.
fn cipher_suites(names: &[String]) -> io::Result<Vec<SupportedCipherSuite>> {
    let all = provider().cipher_suites.clone();
    if names.is_empty() {
        return Ok(all);
    }
    let known = |name: &String| {
        let found = all.iter().find(|suite| iana_name(suite).eq_ignore_ascii_case(name)).copied();
        found.ok_or_else(|| {
            let served: Vec<String> = all.iter().map(iana_name).collect();
            invalid(format!(
                "cipher suite `{name}` is not served; use some of {}",
                served.join(", ")
            ))
        })
    };
    names.iter().map(known).collect()
}

/// The library marks those of TLS 1.3 in their names.
fn iana_name(suite: &SupportedCipherSuite) -> String {
    format!("{:?}", suite.suite()).replacen("TLS13_", "TLS_", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    fn check(versions: &str, expected: Option<usize>) {
        let found = protocol_versions(&names(versions)).ok().map(|list| list.len());
        assert_eq!(found, expected, "{versions}");
    }

    #[test]
    fn protocol_versions_are_read_by_name_and_old_ones_refused() {
        check("", Some(2));
        check("TLSv1.2,TLSv1.3", Some(2));
        check("TLSv1.3", Some(1));
        check("TLSv1.1", None);
    }

    #[test]
    fn cipher_suites_are_read_by_name_in_their_order() {
        let given = names("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256");
        let found = cipher_suites(&given).unwrap();
        assert_eq!(found.iter().map(iana_name).collect::<Vec<_>>(), given);
        assert!(cipher_suites(&[]).unwrap().len() > 2);
        let error = cipher_suites(&names("TLS_RSA_WITH_RC4_128_MD5")).unwrap_err().to_string();
        assert!(error.contains("RC4") && error.contains("TLS_AES_256_GCM_SHA384"), "{error}");
    }

    #[test]
    fn a_missing_certificate_file_is_named_in_the_error() {
        let terms = Terms { versions: &[], ciphers: &[] };
        let nowhere = Path::new("/nowhere/cert.pem");
        let files = Files { chain: nowhere, key: Path::new("/nowhere/key.pem"), clients: None };
        let error = Acceptor::load(&files, &terms).unwrap_err();
        assert!(error.to_string().contains("/nowhere/cert.pem"), "{error}");
    }
}
