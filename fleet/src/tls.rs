//! Which certificates a server of TLS is believed with.

use std::path::Path;

use anyhow::{Context, Result, bail};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::place::needed;

/// Longest file of certificates, in bytes.
const MAX: u64 = 1 << 20;

/// A client that trusts the certificates in a file and no others, or the public ones.
pub fn trusting(ca: Option<&Path>) -> Result<ClientConfig> {
    Ok(ClientConfig::builder().with_root_certificates(roots(ca)?).with_no_client_auth())
}

/// What such a client trusts.
pub fn roots(ca: Option<&Path>) -> Result<RootCertStore> {
    match ca {
        Some(path) => of_file(path),
        None => Ok(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }),
    }
}

fn of_file(path: &Path) -> Result<RootCertStore> {
    let file = path.display();
    let pem = needed(path, MAX)?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| anyhow::anyhow!("{file}: {error}"))?;
        roots.add(certificate).with_context(|| file.to_string())?;
    }
    if roots.is_empty() {
        bail!("{file}: it has no certificate");
    }
    Ok(roots)
}
