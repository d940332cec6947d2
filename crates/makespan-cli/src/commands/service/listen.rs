//! The HTTP server of `makespan serve`.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use makespan_service::client::write_url;
use makespan_service::http::{
    RequestLimits, RunningServer, ServerError, ServerOptions, TlsFiles, bind, check_listening,
};
use makespan_service::tokens::{Tokens, ensure_own};
use makespan_service::{Log, Service};
use miette::{Result, miette};

use crate::args::ServeHttpOptions;

/// Starts the HTTP server of a service in the background. The server runs until the returned value is stopped or
/// dropped. Writes a token for the current user and the URL into the store, where client commands such as
/// `makespan submit` read them.
pub fn listen(options: &ServeHttpOptions, store: &Path, service: Arc<dyn Service>, log: &Log) -> Result<RunningServer> {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok().flatten().map(|user| user.name);
    let user = user.unwrap_or_else(|| format!("u{}", nix::unistd::getuid()));
    ensure_own(store, &user).map_err(|error| miette!("{error}"))?;
    let tokens = Tokens::open(store).map_err(|error| miette!("{error}"))?;
    let tokens = Arc::new(tokens.with_log(log.clone()));
    let files = tls_files(options);
    if let Some(TlsFiles { key, .. }) = &files
        && key.metadata().is_ok_and(|metadata| metadata.mode() & 0o077 != 0)
    {
        log.warning(&format!(
            "--tls-key {}: other users may read this private key; restrict its permissions with chmod 600",
            key.display()
        ));
    }
    let options = ServerOptions {
        listen: options.listen.clone(),
        tls: files,
        behind_proxy: options.behind_proxy,
        tokens,
        limits: RequestLimits::default(),
        log: log.clone(),
    };
    let server = bind(options, service).map_err(of_option)?.start();
    let server = server.map_err(|error| miette!("{error}"))?;
    if let Err(error) = write_url(store, server.url()) {
        log.warning(&format!("{error}; the commands of the client need --url {}", server.url()));
    }
    Ok(server)
}

/// Returns an error if the addresses and the files for encryption do not fit, before the service starts. An address that
/// another program uses is reported later, because that program may be another service on this store.
pub fn check_addresses(options: &ServeHttpOptions) -> Result<()> {
    match check_listening(&options.listen, tls_files(options).as_ref(), options.behind_proxy) {
        Err(ServerError::Listen { .. }) => Ok(()),
        checked => checked.map_err(of_option),
    }
}

/// Names the option to which an error of the server belongs.
fn of_option(error: ServerError) -> miette::Report {
    match error {
        ServerError::Certificate { .. } => miette!("--tls-certificate {error}"),
        ServerError::Key { .. } => miette!("--tls-key {error}"),
        error => miette!("--listen {error}"),
    }
}

/// Returns the files for encryption, if the options name them.
pub fn tls_files(options: &ServeHttpOptions) -> Option<TlsFiles> {
    let files = options.tls_certificate.clone().zip(options.tls_key.clone());
    files.map(|(certificate, key)| TlsFiles { certificate, key })
}
