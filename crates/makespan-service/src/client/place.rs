//! The address of the service, and the token of the client.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::ClientError;
use crate::tokens::{TokenError, read_private, write_private};

/// Maximum wait for the address that a service writes when it starts.
const BEGINNING: Duration = Duration::from_secs(3);

/// Options that determine the address of the service and the token of the client.
#[derive(Clone, Debug, Default)]
pub struct ClientOptions {
    /// The address of the service, such as `http://127.0.0.1:8321`. The default is the address in `MAKESPAN_URL`, or
    /// else the address in the store.
    pub url: Option<String>,
    /// The file with the token. The default is the file in `MAKESPAN_TOKEN_FILE`, or else the file `token` in the
    /// store.
    pub token_file: Option<PathBuf>,
    /// A PEM file with the certificates that the client trusts. The default is the set of certificate authorities that
    /// browsers trust.
    pub ca: Option<PathBuf>,
    /// The store of the service. The default is [`default_store`].
    pub store: Option<PathBuf>,
}

/// Returns the default store: the folder in `MAKESPAN_STORE`, or else `makespan/service` in the data folder of this
/// user.
pub fn default_store() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("MAKESPAN_STORE").or_else(|| {
        let data = named("XDG_DATA_HOME").filter(|path| path.is_absolute());
        data.or_else(|| named("HOME").map(|home| home.join(".local/share"))).map(|data| data.join("makespan/service"))
    })
}

/// Writes the address of the service into its store.
///
/// # Errors
/// [`TokenError::File`].
pub fn write_url(store: &Path, url: &str) -> Result<(), TokenError> {
    write_private(&store.join("url"), format!("{url}\n").as_bytes())
}

impl ClientOptions {
    /// Returns the address of the service and the token.
    pub(super) fn found(&self) -> Result<(String, String), ClientError> {
        let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let store = self.store.clone().or_else(default_store);
        let setup = |error: TokenError| ClientError::Setup(error.to_string());
        let url = match self.url.clone().or_else(|| environment("MAKESPAN_URL")) {
            Some(url) => url,
            None => {
                let path = store.as_ref().map(|store| store.join("url")).filter(|path| appears(path));
                let path = path.ok_or_else(|| {
                    ClientError::Setup(
                        "no service is known; start a service with `makespan serve`, or name a service with --url or \
                         MAKESPAN_URL, or its store with MAKESPAN_STORE"
                            .into(),
                    )
                })?;
                read_private(&path).map_err(setup)?
            }
        };
        let file = self.token_file.clone().or_else(|| environment("MAKESPAN_TOKEN_FILE").map(PathBuf::from));
        let file = file.or_else(|| store.map(|store| store.join("token")).filter(|path| path.exists()));
        let file = file.ok_or_else(|| {
            ClientError::Setup(
                "no token is known; name the file of a token with --token-file or MAKESPAN_TOKEN_FILE, or the store \
                 of the service with MAKESPAN_STORE"
                    .into(),
            )
        })?;
        let token = read_private(&file).map_err(setup)?.trim().to_owned();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ClientError::Setup(format!("{}: the file contains no token", file.display())));
        }
        Ok((checked(url.trim())?, token))
    }
}

/// Waits up to [`BEGINNING`] for a file to appear, and returns true if it exists. A service that was just started may
/// not have written the file yet.
fn appears(path: &Path) -> bool {
    let begun = Instant::now();
    while !path.exists() {
        if begun.elapsed() > BEGINNING {
            return false;
        }
        std::thread::sleep(BEGINNING / 100);
    }
    true
}

/// Checks and returns an address. An address must have no path. Requests contain the token, so the scheme must be
/// `https`, unless the host is this machine.
fn checked(url: &str) -> Result<String, ClientError> {
    let wrong = |message: &str| ClientError::Setup(format!("{}: {message}", url.escape_debug()));
    let parsed: ureq::http::Uri = url
        .parse()
        .map_err(|_| wrong("this is not an address of a service; write an address such as http://127.0.0.1:8321"))?;
    let scheme = parsed.scheme_str().unwrap_or_default();
    let Some(authority) = parsed.authority().filter(|_| matches!(scheme, "http" | "https")) else {
        return Err(wrong("this is not an address of a service; write an address such as http://127.0.0.1:8321"));
    };
    if parsed.path() != "/" || parsed.query().is_some() || authority.as_str().contains('@') {
        return Err(wrong("write only the address, such as http://127.0.0.1:8321"));
    }
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let is_here = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    if scheme == "http" && !is_here {
        return Err(wrong(
            "the token would be sent unencrypted; write https, or use a tunnel: ssh -L 8321:127.0.0.1:8321 HOST",
        ));
    }
    Ok(format!("{scheme}://{authority}"))
}
