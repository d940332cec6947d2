//! The HTTP side of `makespan serve`.

use std::path::Path;
use std::sync::Arc;

use makespan_service::Service;
use makespan_service::client::write_url;
use makespan_service::http::{Limits, RunningServer, ServerOptions, TlsFiles, bind};
use makespan_service::tokens::{Tokens, ensure_own};
use miette::{Result, miette};

use crate::args::ServeHttpOptions;

/// Answers for a service in the background, until what is returned is stopped or dropped. The store gets a token for its own user and
/// the address, for the verbs that ask.
pub fn listen(options: &ServeHttpOptions, store: &Path, service: Arc<dyn Service>) -> Result<RunningServer> {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok().flatten().map(|user| user.name);
    let user = user.unwrap_or_else(|| format!("u{}", nix::unistd::getuid()));
    ensure_own(store, &user).map_err(|error| miette!("{error}"))?;
    let tokens = Arc::new(Tokens::open(store).map_err(|error| miette!("{error}"))?);
    let files = options.tls_certificate.clone().zip(options.tls_key.clone());
    let options = ServerOptions {
        listen: options.listen.clone(),
        tls: files.map(|(certificate, key)| TlsFiles { certificate, key }),
        behind_proxy: options.behind_proxy,
        tokens,
        limits: Limits::default(),
    };
    let server = bind(options, service).map_err(|error| miette!("--listen {error}"))?.start();
    let server = server.map_err(|error| miette!("{error}"))?;
    write_url(store, server.url()).map_err(|error| miette!("{error}"))?;
    Ok(server)
}
