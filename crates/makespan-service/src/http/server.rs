//! Listens on addresses, and serves each connection.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use nix::sys::resource::{Resource, getrlimit};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tower::ServiceExt;

use super::app::{App, Counting};
use super::connection::TimedConnection;
use super::connections::{Connections, answered};
use super::guard::ConnectionInfo;
use super::hub::Hub;
use super::limits::network;
use super::options::{ServerOptions, TlsFiles};
use super::routes::router;
use crate::Service;

/// Maximum size of the head of a request, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// Maximum number of threads for calls of the service.
const THREADS: usize = 48;
/// Pause after a connection could not be accepted, for example because there were no free file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// The reason why a server cannot start.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The connections to an address that other machines can reach would be unencrypted.
    #[error(
        "{0}: other machines can reach this address, but connections would be unencrypted; use --tls-certificate and \
         --tls-key, or use --behind-proxy if a proxy encrypts, or listen on 127.0.0.1"
    )]
    Unencrypted(SocketAddr),
    /// The list of addresses is empty.
    #[error("there is no address to listen on; name an address with --listen, such as 127.0.0.1:8321")]
    Nowhere,
    /// The server cannot listen on an address.
    #[error(
        "{address}: cannot listen: {source}; name another address with --listen, or stop the program that listens on \
         this address"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file of the certificate is unreadable or invalid.
    #[error("{path}: {message}")]
    Certificate {
        /// The path of the file.
        path: String,
        /// A description of the problem.
        message: String,
    },
    /// The file of the private key is unreadable, invalid, or open to other users.
    #[error("{path}: {message}")]
    Key {
        /// The path of the file.
        path: String,
        /// A description of the problem.
        message: String,
    },
    /// The operating system provides no threads or no random numbers.
    #[error("cannot start the server: {0}")]
    System(String),
}

/// A server that listens and does not yet accept connections.
pub struct Server {
    listeners: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
    acceptor: Option<TlsAcceptor>,
    options: ServerOptions,
    service: Arc<dyn Service>,
    life: String,
}

/// Binds the addresses in the options. The returned server does not yet accept connections.
///
/// # Errors
/// [`ServerError`], for example if an address cannot be used, if a certificate is invalid, or if connections would be
/// unencrypted.
pub fn bind(mut options: ServerOptions, service: Arc<dyn Service>) -> Result<Server, ServerError> {
    let Listening { listeners, addresses, acceptor } =
        listening(&options.listen, options.tls.as_ref(), options.behind_proxy)?;
    // A quarter of the file descriptors is reserved for jobs and the store.
    if let Ok((soft, _)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let most = usize::try_from(soft / 4 * 3).unwrap_or(usize::MAX).max(16);
        options.limits.connections = options.limits.connections.min(most);
    }
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| ServerError::System(error.to_string()))?;
    let life = u64::from_ne_bytes(random).to_string();
    Ok(Server { listeners, addresses, acceptor, options, service, life })
}

/// Listeners, their addresses and the encryption of a server.
struct Listening {
    listeners: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
    acceptor: Option<TlsAcceptor>,
}

/// Checks whether a server could listen on the addresses with these files. Listens for a moment, then closes the
/// sockets.
///
/// # Errors
/// A [`ServerError`], as [`bind`] returns it.
pub fn check_listening(listen: &[SocketAddr], tls: Option<&TlsFiles>, behind_proxy: bool) -> Result<(), ServerError> {
    listening(listen, tls, behind_proxy).map(drop)
}

fn listening(listen: &[SocketAddr], tls: Option<&TlsFiles>, behind_proxy: bool) -> Result<Listening, ServerError> {
    if listen.is_empty() {
        return Err(ServerError::Nowhere);
    }
    let open = listen.iter().find(|address| !address.ip().to_canonical().is_loopback());
    if let Some(address) = open.filter(|_| tls.is_none() && !behind_proxy) {
        return Err(ServerError::Unencrypted(*address));
    }
    let acceptor = tls.map(acceptor).transpose()?;
    let (mut listeners, mut addresses) = (Vec::new(), Vec::new());
    for &address in listen {
        let bound = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            addresses.push(listener.local_addr()?);
            Ok(listener)
        });
        listeners.push(bound.map_err(|source| ServerError::Listen { address, source })?);
    }
    Ok(Listening { listeners, addresses, acceptor })
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, ServerError> {
    let certificate =
        |message: String| ServerError::Certificate { path: files.certificate.display().to_string(), message };
    let key = |message: String| ServerError::Key { path: files.key.display().to_string(), message };
    let certificates = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| certificate(format!("no certificates in PEM can be read: {error}")))?;
    if certificates.is_empty() {
        return Err(certificate(
            "the file contains no certificate; a certificate begins with BEGIN CERTIFICATE".into(),
        ));
    }
    let mode = std::fs::metadata(&files.key).map(|metadata| metadata.mode()).unwrap_or_default();
    if mode & 0o007 != 0 {
        return Err(key(format!(
            "all users can read or write the private key (mode {:o}); run chmod o= {}",
            mode & 0o777,
            files.key.display()
        )));
    }
    let secret = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| key(format!("no private key in PEM can be read: {error}")))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| ServerError::System(error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(certificates, secret)
        .map_err(|error| key(format!("the key does not belong to the certificate: {error}")))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

impl Server {
    /// Returns the addresses on which the server listens, with the ports that the system has chosen.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns the URL of the web page for a browser on this machine.
    pub fn url(&self) -> String {
        let scheme = if self.acceptor.is_some() { "https" } else { "http" };
        let mut address = self.addresses[0];
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() {
                [127, 0, 0, 1].into()
            } else {
                std::net::Ipv6Addr::LOCALHOST.into()
            });
        }
        format!("{scheme}://{address}")
    }

    /// Starts serving requests on background threads.
    ///
    /// # Errors
    /// [`ServerError::System`], if threads cannot be started.
    pub fn start(self) -> Result<RunningServer, ServerError> {
        let (stop, stopped) = oneshot::channel::<()>();
        let (url, addresses) = (self.url(), self.addresses.clone());
        let runtime = runtime()?;
        let thread = std::thread::Builder::new().name("http".into()).spawn(move || {
            self.run_on(&runtime, async {
                let _ = stopped.await;
            });
        });
        let thread = thread.map_err(|error| ServerError::System(error.to_string()))?;
        Ok(RunningServer { stop: Some(stop), thread: Some(thread), url, addresses })
    }

    /// Serves requests until `stop` completes, and then finishes the current requests.
    ///
    /// # Errors
    /// [`ServerError::System`], if threads cannot be started.
    pub fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServerError> {
        let runtime = runtime()?;
        self.run_on(&runtime, stop);
        // The time is limited, so that a hanging call of the service does not prevent the program from ending.
        runtime.shutdown_timeout(Duration::from_secs(1));
        Ok(())
    }

    fn run_on(self, runtime: &tokio::runtime::Runtime, stop: impl Future<Output = ()>) {
        let Self { listeners, acceptor, options, service, life, .. } = self;
        let (close, closing) = watch::channel(false);
        let hub = Arc::new(Hub::new(service.as_ref()));
        let grace = options.limits.grace;
        let app = Arc::new(App::new(service, options, hub, closing, life));
        runtime.block_on(async {
            let (heard, told) = (app.hub.clone(), app.service.clone());
            let listening = tokio::task::spawn_blocking(move || heard.run(told.as_ref()));
            let places = Arc::new(Semaphore::new(app.limits.connections));
            let connections = Connections::new(app.limits.connections, app.log.clone());
            let door = ConnectionAcceptor {
                router: router(app.clone()),
                app: app.clone(),
                acceptor,
                places: places.clone(),
                connections,
            };
            for listener in listeners {
                match tokio::net::TcpListener::from_std(listener) {
                    Ok(listener) => drop(tokio::spawn(door.clone().accept(listener))),
                    Err(error) => app.log.error(&format!("the server cannot listen: {error}")),
                }
            }
            stop.await;
            close.send_replace(true);
            app.hub.close();
            let all = u32::try_from(app.limits.connections).unwrap_or(u32::MAX);
            let _ = tokio::time::timeout(grace, places.acquire_many(all)).await;
            let _ = tokio::time::timeout(Duration::from_secs(1), listening).await;
        });
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, ServerError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(THREADS)
        .thread_name("http")
        .enable_all()
        .build()
        .map_err(|error| ServerError::System(error.to_string()))
}

/// A server that serves requests until it is stopped or dropped.
pub struct RunningServer {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    url: String,
    addresses: Vec<SocketAddr>,
}

impl RunningServer {
    /// Returns the URL of the web page for a browser on this machine.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the addresses on which the server listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Stops accepting requests, ends the streams, and waits for the current requests up to the grace period of the limits.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.end();
    }
}

/// The data for accepting and serving connections.
#[derive(Clone)]
struct ConnectionAcceptor {
    router: Router,
    app: Arc<App>,
    acceptor: Option<TlsAcceptor>,
    places: Arc<Semaphore>,
    connections: Arc<Connections>,
}

impl ConnectionAcceptor {
    async fn accept(self, listener: tokio::net::TcpListener) {
        let mut closing = self.app.closing.clone();
        loop {
            let next = async {
                let place = self.places.clone().acquire_owned().await;
                (place, listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                next = next => next,
                _ = closing.wait_for(|&closing| closing) => return,
            };
            match (place, accepted) {
                (Ok(place), Ok((stream, from))) => {
                    let Ok(at) = stream.local_addr() else { continue };
                    let _ = stream.set_nodelay(true);
                    // The limits for each address do not apply behind a proxy, because all connections come from the
                    // address of the proxy.
                    let address = (!self.app.behind_proxy).then(|| network(from.ip().to_canonical()));
                    let connection = Arc::new(self.connections.enter(address));
                    let peer = ConnectionInfo { from, at, tls: self.acceptor.is_some(), connection };
                    tokio::spawn(self.clone().serve(stream, peer, place));
                }
                (Ok(_), Err(_)) => tokio::time::sleep(PAUSE).await,
                (Err(_), _) => return,
            }
        }
    }

    async fn serve(self, stream: tokio::net::TcpStream, peer: ConnectionInfo, place: OwnedSemaphorePermit) {
        let connection = peer.connection.clone();
        let _counting = Counting::new(self.app.clone(), |counts| &counts.connections);
        tokio::select! {
            // A request that has arrived is read before the connection is closed.
            biased;
            () = self.converse(stream, peer) => {}
            () = connection.ends() => {}
        }
        drop(place);
    }

    /// Answers the requests on a connection until the connection ends.
    async fn converse(&self, stream: tokio::net::TcpStream, peer: ConnectionInfo) {
        match &self.acceptor {
            None => self.answer(stream, peer).await,
            Some(acceptor) => {
                // The connection is closed if the TLS handshake fails or exceeds its time limit.
                if let Ok(Ok(stream)) = tokio::time::timeout(self.app.limits.head, acceptor.accept(stream)).await {
                    self.answer(stream, peer).await;
                }
            }
        }
    }

    async fn answer(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, peer: ConnectionInfo) {
        let io = TokioIo::new(TimedConnection::new(stream, self.app.limits.write));
        let router = self.router.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(peer.clone());
            answered(peer.connection.clone(), router.clone().oneshot(request))
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.app.limits.head).max_buf_size(MAX_HEAD);
        let connection = http.serve_connection(io, service);
        tokio::pin!(connection);
        let mut closing = self.app.closing.clone();
        tokio::select! {
            // An error needs no handling, because the client has received a response or the connection is closed.
            _ = connection.as_mut() => return,
            _ = closing.wait_for(|&closing| closing) => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}
