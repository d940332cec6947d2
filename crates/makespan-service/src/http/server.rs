//! Listens, and answers each connection.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
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
use super::connection::Patient;
use super::guard::Peer;
use super::hub::Hub;
use super::limits::{Limits, network};
use super::routes::router;
use super::strangers::Strangers;
use crate::Service;
use crate::tokens::Tokens;

/// Most bytes of the head of a request.
const MAX_HEAD: usize = 64 << 10;
/// Divisor of the maximum number of connections. The quotient is the maximum number of connections without a token for
/// one address.
const SHARE: usize = 8;
/// Threads for questions to the service.
const THREADS: usize = 48;
/// How long accepting waits after it has failed, for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// How the server listens, and whom it answers.
pub struct ServerOptions {
    /// Where it listens.
    pub listen: Vec<SocketAddr>,
    /// With what it encrypts.
    pub tls: Option<TlsFiles>,
    /// Whether a proxy encrypts instead.
    pub behind_proxy: bool,
    /// Who may ask.
    pub tokens: Arc<Tokens>,
    /// How much may be asked.
    pub limits: Limits,
}

/// Files in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate, and those that lead to one that clients know.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Why a server cannot listen.
#[derive(Debug, Error)]
pub enum ServerError {
    /// Others could read what passes.
    #[error(
        "{0}: other machines reach this address, and others could read what passes; name --tls-certificate and --tls-key, or \
         state --behind-proxy if a proxy encrypts, or listen on 127.0.0.1"
    )]
    Unencrypted(SocketAddr),
    /// There is no address to listen on.
    #[error("there is no address to listen on; name one with --listen, such as 127.0.0.1:8321")]
    Nowhere,
    /// An address cannot be used.
    #[error("{address}: cannot listen: {source}; name another one with --listen, or stop what listens there")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The file of the certificate is not right.
    #[error("{path}: {message}")]
    Certificate {
        /// Which.
        path: String,
        /// Why.
        message: String,
    },
    /// The file of the private key is not right.
    #[error("{path}: {message}")]
    Key {
        /// Which.
        path: String,
        /// Why.
        message: String,
    },
    /// The system has no threads or random numbers for it.
    #[error("cannot start the server: {0}")]
    System(String),
}

/// A server that listens and does not answer yet.
pub struct Server {
    listeners: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
    acceptor: Option<TlsAcceptor>,
    options: ServerOptions,
    service: Arc<dyn Service>,
    life: String,
}

/// Listens where the options say; nothing is answered yet.
///
/// # Errors
/// [`ServerError`] where an address cannot be used, a certificate is none, or others could read what passes.
pub fn bind(mut options: ServerOptions, service: Arc<dyn Service>) -> Result<Server, ServerError> {
    if options.listen.is_empty() {
        return Err(ServerError::Nowhere);
    }
    let open = options.listen.iter().find(|address| !address.ip().to_canonical().is_loopback());
    if let Some(address) = open.filter(|_| options.tls.is_none() && !options.behind_proxy) {
        return Err(ServerError::Unencrypted(*address));
    }
    let acceptor = options.tls.as_ref().map(acceptor).transpose()?;
    let (mut listeners, mut addresses) = (Vec::new(), Vec::new());
    for &address in &options.listen {
        let bound = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            addresses.push(listener.local_addr()?);
            Ok(listener)
        });
        listeners.push(bound.map_err(|source| ServerError::Listen { address, source })?);
    }
    // Jobs, the store and what they need have file descriptors, too.
    if let Ok((soft, _)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let most = usize::try_from(soft / 4 * 3).unwrap_or(usize::MAX).max(16);
        options.limits.connections = options.limits.connections.min(most);
    }
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| ServerError::System(error.to_string()))?;
    let life = u64::from_ne_bytes(random).to_string();
    Ok(Server { listeners, addresses, acceptor, options, service, life })
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, ServerError> {
    let certificate =
        |message: String| ServerError::Certificate { path: files.certificate.display().to_string(), message };
    let key = |message: String| ServerError::Key { path: files.key.display().to_string(), message };
    let certificates = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| certificate(format!("no certificates in PEM can be read: {error}")))?;
    if certificates.is_empty() {
        return Err(certificate("there is no certificate in it; one begins with BEGIN CERTIFICATE".into()));
    }
    let mode = std::fs::metadata(&files.key).map(|metadata| metadata.mode()).unwrap_or_default();
    if mode & 0o007 != 0 {
        return Err(key(format!(
            "all users can read or write the private key (mode {:o}); `chmod o= {}`",
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
    /// Where it listens, with the ports that the system has chosen.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Where its page is, for somebody on this machine.
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

    /// Answers in the background, on threads of its own.
    ///
    /// # Errors
    /// [`ServerError::System`] where there are no threads for it.
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

    /// Answers until `stop` is ready, then ends what it answers.
    ///
    /// # Errors
    /// [`ServerError::System`] where there are no threads for it.
    pub fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServerError> {
        let runtime = runtime()?;
        self.run_on(&runtime, stop);
        // A question that hangs does not keep the program from ending.
        runtime.shutdown_timeout(Duration::from_secs(1));
        Ok(())
    }

    fn run_on(self, runtime: &tokio::runtime::Runtime, stop: impl Future<Output = ()>) {
        let Self {
            listeners,
            acceptor,
            options: ServerOptions { tokens, limits, behind_proxy, .. },
            service,
            life,
            ..
        } = self;
        let (close, closing) = watch::channel(false);
        let hub = Arc::new(Hub::new(service.as_ref()));
        let grace = limits.grace;
        let app = Arc::new(App::new(service, tokens, limits, behind_proxy, hub, closing, life));
        runtime.block_on(async {
            let (heard, told) = (app.hub.clone(), app.service.clone());
            let listening = tokio::task::spawn_blocking(move || heard.run(told.as_ref()));
            let places = Arc::new(Semaphore::new(app.limits.connections));
            let strangers = Strangers::new(app.limits.connections / SHARE);
            let door =
                Door { router: router(app.clone()), app: app.clone(), acceptor, places: places.clone(), strangers };
            for listener in listeners {
                match tokio::net::TcpListener::from_std(listener) {
                    Ok(listener) => drop(tokio::spawn(door.clone().accept(listener))),
                    Err(error) => eprintln!("error: the server cannot listen: {error}"),
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

/// A server that answers until it is stopped or dropped.
pub struct RunningServer {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    url: String,
    addresses: Vec<SocketAddr>,
}

impl RunningServer {
    /// Where its page is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Takes no more requests, ends streams, and waits for what is being answered, for some seconds at most.
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

/// What a connection is answered with.
#[derive(Clone)]
struct Door {
    router: Router,
    app: Arc<App>,
    acceptor: Option<TlsAcceptor>,
    places: Arc<Semaphore>,
    strangers: Arc<Strangers>,
}

impl Door {
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
                    tokio::spawn(self.clone().serve(stream, from, at, place));
                }
                (Ok(_), Err(_)) => tokio::time::sleep(PAUSE).await,
                (Err(_), _) => return,
            }
        }
    }

    async fn serve(self, stream: tokio::net::TcpStream, from: SocketAddr, at: SocketAddr, place: OwnedSemaphorePermit) {
        // Behind a proxy, all connections come from one address.
        let stranger =
            (!self.app.behind_proxy).then(|| Arc::new(self.strangers.enter(network(from.ip().to_canonical()))));
        let peer = Peer { from, at, tls: self.acceptor.is_some(), stranger: stranger.clone() };
        let _counting = Counting::new(self.app.clone(), |counts| &counts.connections);
        let ends = async {
            match &stranger {
                Some(stranger) => stranger.ends().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.converse(stream, peer) => {}
            () = ends => {}
        }
        drop(place);
    }

    /// Answers the requests on a connection until the connection ends.
    async fn converse(&self, stream: tokio::net::TcpStream, peer: Peer) {
        match &self.acceptor {
            None => self.answer(stream, peer).await,
            Some(acceptor) => {
                // Who does not finish the handshake in time is no client.
                if let Ok(Ok(stream)) = tokio::time::timeout(self.app.limits.head, acceptor.accept(stream)).await {
                    self.answer(stream, peer).await;
                }
            }
        }
    }

    async fn answer(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, peer: Peer) {
        let io = TokioIo::new(Patient::new(stream, self.app.limits.write));
        let router = self.router.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(peer.clone());
            router.clone().oneshot(request)
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.app.limits.head).max_buf_size(MAX_HEAD);
        let connection = http.serve_connection(io, service);
        tokio::pin!(connection);
        let mut closing = self.app.closing.clone();
        tokio::select! {
            // What a client did wrong was answered, or it is gone.
            _ = connection.as_mut() => return,
            _ = closing.wait_for(|&closing| closing) => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}
