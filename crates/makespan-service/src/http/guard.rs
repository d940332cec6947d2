//! Access control. The guard checks each request before it is handled, and adds headers to each response.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::app::App;
use super::connections::Connection;
use super::limits::{LimitedGroup, network};
use super::problem::{LoggedProblem, Problem};
use crate::words::{Role, Who};

/// Maximum length of the path and the query of a request, in bytes.
const MAX_ADDRESS: usize = 8192;
/// Maximum length of the value of a header `Authorization`, in bytes.
const MAX_TOKEN: usize = 256;
/// Title of the problem of a client with too many connections.
const TOO_MANY_CONNECTIONS: &str = "Too many connections";
/// Content security policy: a page loads only files of this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Value of the header `Strict-Transport-Security`. A browser that receives this header uses only encrypted connections
/// to this host for a year.
const ENCRYPTED: &str = "max-age=31536000";

/// The connection of a request.
#[derive(Clone)]
pub(super) struct ConnectionInfo {
    /// The address of the client.
    pub(super) from: SocketAddr,
    /// The address of the server.
    pub(super) at: SocketAddr,
    /// True if the connection is encrypted.
    pub(super) tls: bool,
    /// Entry for this connection in the table of connections.
    pub(super) connection: Arc<Connection>,
}

/// The client that sent a request, and the id of its token.
#[derive(Clone)]
pub(super) struct RequestClient {
    pub(super) who: Who,
    pub(super) token: String,
}

impl RequestClient {
    /// Returns the client, or a problem if the client is a reader, because readers may not change anything.
    pub(super) fn may_change(&self) -> Result<&Who, Problem> {
        match self.who.role {
            Role::Reader => {
                Err(Problem::forbidden("a reader may not change anything").remedy("use the token of a submitter"))
            }
            Role::Submitter | Role::Admin => Ok(&self.who),
        }
    }
}

/// Forwards a request to its handler if it is allowed, and adds security headers to the response.
pub(super) async fn guard(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let is_encrypted = request.extensions().get::<ConnectionInfo>().is_some_and(|peer| peer.tls);
    let from = request.extensions().get::<ConnectionInfo>().map(|peer| peer.from.ip().to_canonical());
    let asked = logged_request(&request);
    let admitted = admit(&app, &mut request);
    let user = request.extensions().get::<RequestClient>().map(|asker| asker.who.user.clone());
    let mut response = match admitted {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    app.counts.answered(response.status());
    // The table of connections writes its own line for each client.
    if let Some(LoggedProblem(problem)) = response.extensions().get()
        && problem != TOO_MANY_CONNECTIONS
    {
        let from = from.map_or_else(String::new, |from| from.to_string());
        let user = user.unwrap_or_else(|| "a client without a valid token".into());
        app.log.refused(&format!(
            "refused {asked} of {user} at {from} with status {}: {problem}",
            response.status().as_u16()
        ));
    }
    if is_encrypted {
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(ENCRYPTED));
    }
    secured(response)
}

/// Returns the method and the path of a request for the log. A client may have typed a token or another secret into the
/// path, so only the words of the matching route and numbers are kept.
fn logged_request(request: &Request) -> String {
    const METHODS: [Method; 7] =
        [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::HEAD, Method::PATCH, Method::OPTIONS];
    let method = METHODS.iter().find(|known| *known == request.method()).map_or("another method", Method::as_str);
    let Some(route) = request.extensions().get::<MatchedPath>() else { return format!("{method} of an unknown path") };
    let is_number = |part: &str| !part.is_empty() && part.len() < 16 && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = route.as_str().split('/').zip(request.uri().path().split('/'));
    let parts = parts.map(|(part, actual)| if part.starts_with('{') && is_number(actual) { actual } else { part });
    format!("{method} {}", parts.collect::<Vec<_>>().join("/"))
}

fn admit(app: &App, request: &mut Request) -> Result<(), Problem> {
    let peer = request.extensions().get::<ConnectionInfo>().cloned().ok_or_else(Problem::internal)?;
    let asker = token(request.headers())?
        .map(|token| app.tokens.who(token).ok_or_else(|| unknown_token("this token is unknown")));
    // Every refusal of a request with a valid token names the user in the log.
    if let Some(Ok((who, token))) = &asker {
        request.extensions_mut().insert(RequestClient { who: who.clone(), token: token.clone() });
        if !peer.connection.is_known(token, &who.user) {
            return Err(too_many_connections());
        }
    }
    let counted = match &asker {
        Some(Ok((_, id))) => LimitedGroup::Token(id.clone()),
        _ => LimitedGroup::Address(network(peer.from.ip())),
    };
    app.buckets.take(counted, Instant::now()).map_err(too_many)?;
    if request.uri().path_and_query().is_some_and(|path| path.as_str().len() > MAX_ADDRESS) {
        let detail = format!("the address has more than {MAX_ADDRESS} bytes");
        return Err(Problem::new(StatusCode::URI_TOO_LONG, "too_large", "Too large", detail));
    }
    check_host(app, request, &peer)?;
    check_origin(app, request.headers(), &peer)?;
    if request.headers().contains_key(header::UPGRADE) {
        return Err(Problem::bad_input("this server supports only HTTP, without websockets")
            .at("header.upgrade")
            .remedy("read the stream of events at /api/v1/events"));
    }
    match asker {
        Some(found) => found.map(drop),
        None if needs_token(request.uri().path()) => Err(unknown_token("the request has none")),
        None => Ok(()),
    }
}

/// Returns true if a path requires a token. The page and the `OpenAPI` document need no token, because they contain no
/// secrets. The health response without a token contains only two fields.
fn needs_token(path: &str) -> bool {
    path.starts_with("/api/") && !matches!(path, "/api/v1/health" | "/api/v1/openapi.json")
}

/// Returns the token of a request, if it has one.
fn token(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let wrong = || unknown_token("the header Authorization does not have the form `Bearer TOKEN`");
    let (scheme, token) = value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(wrong)?;
    if values.next().is_some() || !scheme.eq_ignore_ascii_case("bearer") || value.len() > MAX_TOKEN {
        return Err(wrong());
    }
    Ok(Some(token.trim()))
}

fn unknown_token(why: &str) -> Problem {
    let detail = format!("a token is required, but {why}");
    Problem::new(StatusCode::UNAUTHORIZED, "token", "A token is required", detail)
        .at("header.authorization")
        .remedy("send the header Authorization: Bearer TOKEN; the user who started the service finds a token in the file `token` of the store")
}

fn too_many(seconds: u32) -> Problem {
    let detail = "the limit of requests per second is exceeded";
    Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many", "Too many requests", detail).retry(seconds)
}

fn too_many_connections() -> Problem {
    let detail = "this token has too many connections, and none of them is idle";
    let status = StatusCode::TOO_MANY_REQUESTS;
    let problem = Problem::new(status, "too_many_connections", TOO_MANY_CONNECTIONS, detail);
    problem.retry(10).remedy("close streams of events or other connections of this token")
}

/// Returns the host to which a request is addressed.
fn host(request: &Request) -> Result<Authority, Problem> {
    if let Some(authority) = request.uri().authority() {
        return Ok(authority.clone());
    }
    let mut values = request.headers().get_all(header::HOST).iter();
    let value = values.next().filter(|_| values.next().is_none()).and_then(|value| value.to_str().ok());
    value.and_then(|value| value.parse().ok()).ok_or_else(|| {
        Problem::bad_input("the request does not name its host").at("header.host").remedy("send one header Host")
    })
}

/// Returns a problem if the request names a foreign host, because a foreign name may resolve to this machine (DNS
/// rebinding).
fn check_host(app: &App, request: &Request, peer: &ConnectionInfo) -> Result<(), Problem> {
    let host = host(request)?;
    if app.behind_proxy || peer.tls || !peer.at.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    let name = host.host().trim_start_matches('[').trim_end_matches(']');
    let own =
        name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if own {
        return Ok(());
    }
    let status = StatusCode::MISDIRECTED_REQUEST;
    Err(Problem::new(
        status,
        "other_host",
        "The request is addressed to another host",
        format!("`{name}` is not this machine"),
    )
    .at("header.host")
    .remedy("send the request to 127.0.0.1 or localhost; behind a proxy, start the service with --behind-proxy"))
}

/// Returns a problem if the request comes from a page of another origin.
fn check_origin(app: &App, headers: &HeaderMap, peer: &ConnectionInfo) -> Result<(), Problem> {
    let refused = |what: &str| {
        Err(Problem::forbidden(format!("the request comes from a page of another origin: {what}"))
            .remedy("open the page of the service itself"))
    };
    let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok()).unwrap_or("none");
    let navigates = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
    if !matches!(site, "same-origin" | "none") && !navigates {
        return refused(&format!("Sec-Fetch-Site is `{}`", site.escape_default()));
    }
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    for origin in headers.get_all(header::ORIGIN) {
        let origin = String::from_utf8_lossy(origin.as_bytes()).to_ascii_lowercase();
        let own = |scheme: &str| origin == format!("{scheme}://{}", host.to_ascii_lowercase());
        let same =
            if app.behind_proxy { own("https") || own("http") } else { own(if peer.tls { "https" } else { "http" }) };
        if !same {
            return refused(&format!("the origin is `{}`", origin.escape_default()));
        }
    }
    Ok(())
}

/// Adds security headers to a response.
fn secured(mut response: Response) -> Response {
    const HEADERS: [(HeaderName, &str); 6] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
