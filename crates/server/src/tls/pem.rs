//! Certificates and keys from PEM files.

use std::io;
use std::path::Path;

use rustls::RootCertStore;
use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// Where the common distributions keep the trusted roots, most common first.
const SYSTEM_ROOTS: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Also what is said of DER, PKCS #12 and encrypted keys.
const NO_PEM: &str = "it holds none in PEM, unencrypted";

/// Every certificate of a PEM file, in its order; never empty.
pub(super) fn certificates(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(path, "certificates", &error))?;
    if found.is_empty() {
        return Err(unreadable(path, "certificates", &NO_PEM));
    }
    Ok(found)
}

/// The first private key of a PEM file.
pub(super) fn key(path: &Path) -> io::Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| {
        if matches!(error, pem::Error::NoItemsFound) {
            return unreadable(path, "a private key", &NO_PEM);
        }
        unreadable(path, "a private key", &error)
    })
}

/// The roots of `authority`, or of the system when it is `None`.
pub(super) fn roots(authority: Option<&str>) -> io::Result<RootCertStore> {
    let path = match authority {
        Some(path) => Path::new(path),
        None => SYSTEM_ROOTS.iter().map(Path::new).find(|path| path.exists()).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "no file with trusted certificate authorities was given and the system has none",
            )
        })?,
    };
    roots_of(path)
}

/// The roots of this file.
pub(super) fn roots_of(path: &Path) -> io::Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    let (added, _) = store.add_parsable_certificates(certificates(path)?);
    if added == 0 {
        return Err(unreadable(path, "certificates", &"none of them can be a root"));
    }
    Ok(store)
}

fn unreadable(path: &Path, what: &str, why: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("cannot read {what} from `{}`: {why}", path.display()),
    )
}
