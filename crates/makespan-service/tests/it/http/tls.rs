//! Tests of encrypted connections. The certificates are only for these tests, and the private key of their authority no longer
//! exists.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use makespan_service::client::{Client, ClientOptions};
use makespan_service::http::{RequestLimits, RunningServer, ServerError, ServerOptions, TlsFiles, bind};
use makespan_service::tokens::{Tokens, ensure_own};
use makespan_service::words::Who;
use tempfile::TempDir;

use crate::http::fake::Fake;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/http/tls").join(name)
}

/// Copies the private key to a file with the given mode, and returns the path of this file.
fn key(store: &TempDir, mode: u32) -> PathBuf {
    let path = store.path().join(format!("key-{mode:o}.pem"));
    fs::copy(file("key.pem"), &path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

fn files(store: &TempDir) -> TlsFiles {
    TlsFiles { certificate: file("certificate.pem"), key: key(store, 0o600) }
}

fn start(
    store: &TempDir,
    listen: &str,
    tls: Option<TlsFiles>,
    behind_proxy: bool,
) -> Result<RunningServer, ServerError> {
    let tokens = Arc::new(Tokens::open(store.path()).unwrap());
    let listen: Vec<SocketAddr> = vec![listen.parse().unwrap()];
    bind(
        ServerOptions {
            listen,
            tls,
            behind_proxy,
            tokens,
            limits: RequestLimits::default(),
            log: makespan_service::Log::default(),
        },
        Arc::new(Fake::default()),
    )?
    .start()
}

#[test]
fn a_client_trusts_the_authority_that_it_is_told_and_no_other() {
    let store = TempDir::new().unwrap();
    let token_file = Some(ensure_own(store.path(), "me").unwrap());
    let server = start(&store, "127.0.0.1:0", Some(files(&store)), false).unwrap();
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
    assert!(start(&store, "0.0.0.0:0", Some(files(&store)), false).unwrap().url().starts_with("https://127.0.0.1:"));
    assert!(start(&store, "0.0.0.0:0", None, true).is_ok());
}

#[test]
fn files_that_are_no_certificates_are_refused_by_name() {
    let store = TempDir::new().unwrap();
    let refused = |certificate: PathBuf, key: PathBuf, name: &str| {
        let error = start(&store, "127.0.0.1:0", Some(TlsFiles { certificate, key }), false).err().unwrap().to_string();
        assert!(error.contains(name), "{error}");
    };
    let private = |name: &str| {
        let path = store.path().join(name);
        fs::copy(file(name), &path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    };
    refused(file("missing.pem"), private("key.pem"), "missing.pem");
    refused(file("key.pem"), private("key.pem"), "key.pem: the file contains no certificate");
    refused(file("certificate.pem"), private("certificate.pem"), "no private key");
    refused(file("ca.pem"), private("key.pem"), "does not belong to the certificate");
}

#[test]
fn a_key_that_everybody_may_read_is_refused() {
    let store = TempDir::new().unwrap();
    for mode in [0o644, 0o604, 0o602, 0o666] {
        let files = TlsFiles { certificate: file("certificate.pem"), key: key(&store, mode) };
        let error = start(&store, "127.0.0.1:0", Some(files), false).err().unwrap().to_string();
        assert!(error.contains(&format!("mode {mode:o}")) && error.contains("chmod o="), "{error}");
    }
    for mode in [0o400, 0o600, 0o640] {
        let files = TlsFiles { certificate: file("certificate.pem"), key: key(&store, mode) };
        start(&store, "127.0.0.1:0", Some(files), false).unwrap();
    }
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

/// The server sends the header `Strict-Transport-Security` if and only if the connection is encrypted.
#[test]
fn encrypted_answers_ask_to_come_encrypted_only() {
    let store = TempDir::new().unwrap();
    let pem = fs::read(file("ca.pem")).unwrap();
    let roots = ureq::tls::RootCerts::new_with_certs(&[ureq::tls::Certificate::from_pem(&pem).unwrap()]);
    let tls = ureq::tls::TlsConfig::builder().root_certs(roots).build();
    let agent =
        ureq::Agent::config_builder().proxy(None).http_status_as_error(false).tls_config(tls).build().new_agent();
    let asked = |tls: Option<TlsFiles>| {
        let server = start(&store, "127.0.0.1:0", tls, false).unwrap();
        ["/", "/api/v1/health", "/api/v1/jobs", "/nowhere"].map(|path| {
            let answer = agent.get(format!("{}{path}", server.url())).call().unwrap();
            answer.headers().get("strict-transport-security").map(|value| value.to_str().unwrap().to_owned())
        })
    };
    assert_eq!(asked(Some(files(&store))), std::array::from_fn(|_| Some("max-age=31536000".into())));
    assert_eq!(asked(None), std::array::from_fn(|_| None));
}
