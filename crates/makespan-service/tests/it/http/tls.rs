//! Encrypted connections, and when they are needed. The certificates are for these tests alone; nobody has the key of their authority.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use makespan_service::client::{Client, ClientOptions};
use makespan_service::http::{Limits, RunningServer, ServerError, ServerOptions, TlsFiles, bind};
use makespan_service::tokens::{Tokens, ensure_own};
use makespan_service::words::Who;
use tempfile::TempDir;

use crate::http::fake::Fake;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/http/tls").join(name)
}

fn files() -> TlsFiles {
    TlsFiles { certificate: file("certificate.pem"), key: file("key.pem") }
}

fn start(
    store: &TempDir,
    listen: &str,
    tls: Option<TlsFiles>,
    behind_proxy: bool,
) -> Result<RunningServer, ServerError> {
    let tokens = Arc::new(Tokens::open(store.path()).unwrap());
    let listen: Vec<SocketAddr> = vec![listen.parse().unwrap()];
    bind(ServerOptions { listen, tls, behind_proxy, tokens, limits: Limits::default() }, Arc::new(Fake::default()))?
        .start()
}

#[test]
fn a_client_trusts_the_authority_that_it_is_told_and_no_other() {
    let store = TempDir::new().unwrap();
    let token_file = Some(ensure_own(store.path(), "me").unwrap());
    let server = start(&store, "127.0.0.1:0", Some(files()), false).unwrap();
    assert!(server.url().starts_with("https://127.0.0.1:"));
    let options =
        ClientOptions { url: Some(server.url().to_owned()), token_file, ca: Some(file("ca.pem")), store: None };
    let who: Who = Client::open(&options).unwrap().get("whoami").unwrap();
    assert_eq!(who.user, "me");
    let stranger = Client::open(&ClientOptions { ca: None, ..options }).unwrap().get::<Who>("whoami").unwrap_err();
    assert!(stranger.to_string().contains("certificate of the service is not accepted"), "{stranger}");
}

#[test]
fn other_machines_are_answered_encrypted_or_behind_a_proxy_only() {
    let store = TempDir::new().unwrap();
    for open in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let error = start(&store, open, None, false).err().unwrap().to_string();
        assert!(error.contains("--tls-certificate") && error.contains("--behind-proxy"), "{error}");
    }
    assert!(start(&store, "0.0.0.0:0", Some(files()), false).unwrap().url().starts_with("https://127.0.0.1:"));
    assert!(start(&store, "0.0.0.0:0", None, true).is_ok());
}

#[test]
fn files_that_are_no_certificates_are_refused_by_name() {
    let store = TempDir::new().unwrap();
    let refused = |certificate: PathBuf, key: PathBuf, name: &str| {
        let error = start(&store, "127.0.0.1:0", Some(TlsFiles { certificate, key }), false).err().unwrap().to_string();
        assert!(error.contains(name), "{error}");
    };
    refused(file("missing.pem"), file("key.pem"), "missing.pem");
    refused(file("key.pem"), file("key.pem"), "key.pem: there is no certificate");
    refused(file("certificate.pem"), file("certificate.pem"), "no private key");
    refused(file("ca.pem"), file("key.pem"), "does not belong to the certificate");
}

#[test]
fn a_port_that_is_taken_is_named() {
    let store = TempDir::new().unwrap();
    let first = start(&store, "127.0.0.1:0", None, false).unwrap();
    let address = first.addresses()[0].to_string();
    let error = start(&store, &address, None, false).err().unwrap().to_string();
    assert!(error.starts_with(&address) && error.contains("--listen"), "{error}");
    first.stop();
    start(&store, &address, None, false).unwrap();
}
