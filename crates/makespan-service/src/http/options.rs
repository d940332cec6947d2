//! The options of the HTTP server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use super::limits::RequestLimits;
use crate::log::Log;
use crate::tokens::Tokens;

/// The options of a server.
pub struct ServerOptions {
    /// The addresses on which the server listens.
    pub listen: Vec<SocketAddr>,
    /// The certificate and the key, if the server itself encrypts its connections.
    pub tls: Option<TlsFiles>,
    /// Whether a proxy encrypts connections instead.
    pub behind_proxy: bool,
    /// The tokens of the clients.
    pub tokens: Arc<Tokens>,
    /// The limits on requests and connections.
    pub limits: RequestLimits,
    /// The log, which contains the refused requests.
    pub log: Log,
}

/// The files for encryption, in PEM format.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The file with the certificate of the server, followed by its intermediate certificates.
    pub certificate: PathBuf,
    /// The file with the private key.
    pub key: PathBuf,
}
