//! A server on a free port, with tokens for an admin, a reader and two submitters, and functions that send raw requests
//! to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use makespan_service::http::{Problem, RequestLimits, RunningServer, ServerOptions, bind};
use makespan_service::tokens::{Tokens, add};
use makespan_service::words::Role;
use makespan_service::{Log, Service};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::Value;
use tempfile::TempDir;

use super::fake::Fake;

/// Maximum wait for a condition.
pub const LIMIT: Duration = Duration::from_mins(1);

pub struct Site {
    pub server: RunningServer,
    pub fake: Arc<Fake>,
    pub store: TempDir,
    pub admin: String,
    pub reader: String,
    pub alice: String,
    pub bob: String,
}

pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Checks the properties that every problem has, and returns the problem.
    pub fn problem(&self, status: u16) -> Problem {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"));
        let problem: Problem = serde_json::from_slice(&self.body).unwrap();
        assert_eq!(problem.status, status);
        assert!(problem.kind.starts_with("urn:makespan:") && !problem.detail.is_empty());
        problem
    }
}

pub fn quick_limits() -> RequestLimits {
    RequestLimits {
        head: Duration::from_secs(2),
        body: Duration::from_secs(2),
        write: Duration::from_secs(2),
        alive: Duration::from_millis(300),
        grace: Duration::from_secs(2),
        ..RequestLimits::default()
    }
}

impl Site {
    pub fn new() -> Self {
        Self::with(RequestLimits::default())
    }

    pub fn with(limits: RequestLimits) -> Self {
        let fake = Arc::new(Fake::default());
        Self::serving(fake.clone(), fake, limits)
    }

    /// Starts a server for the given service.
    pub fn of(service: Arc<dyn Service>) -> Self {
        Self::serving(service, Arc::default(), RequestLimits::default())
    }

    fn serving(service: Arc<dyn Service>, fake: Arc<Fake>, limits: RequestLimits) -> Self {
        static FILES: Once = Once::new();
        FILES.call_once(|| {
            let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
            setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
        });
        let store = TempDir::new().unwrap();
        let token = |user: &str, role| add(store.path(), user, role, None).unwrap();
        let admin = token("root", Role::Admin);
        let reader = token("eve", Role::Reader);
        let (alice, bob) = (token("alice", Role::Submitter), token("bob", Role::Submitter));
        let log = Log::open(Some(&store.path().join("log"))).unwrap();
        let tokens = Arc::new(Tokens::open(store.path()).unwrap().with_log(log.clone()));
        let listen = vec!["127.0.0.1:0".parse().unwrap()];
        let options = ServerOptions { listen, tls: None, behind_proxy: false, tokens, limits, log };
        let server = bind(options, service).unwrap().start().unwrap();
        Self { server, fake, store, admin, reader, alice, bob }
    }

    pub fn address(&self) -> SocketAddr {
        self.server.addresses()[0]
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.set_write_timeout(Some(LIMIT)).unwrap();
        stream
    }

    /// Sends bytes and reads the response.
    pub fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        answer(stream)
    }

    /// Sends a request with the given header lines, and reads the response.
    pub fn request(&self, line: &str, head: &[&str], body: &[u8]) -> Answer {
        let mut text = format!("{line} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address());
        for line in head {
            text += line;
            text += "\r\n";
        }
        if !body.is_empty() {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        let mut bytes = (text + "\r\n").into_bytes();
        bytes.extend_from_slice(body);
        self.raw(&bytes)
    }

    pub fn get(&self, token: &str, path: &str) -> Answer {
        self.request(&format!("GET {path}"), &[&bearer(token)], b"")
    }

    /// Sends a request with a JSON body, and reads the response.
    pub fn send(&self, token: &str, line: &str, body: &str) -> Answer {
        self.request(line, &[&bearer(token), "Content-Type: application/json"], body.as_bytes())
    }

    pub fn submit(&self, token: &str, name: &str) -> u64 {
        let answer = self.send(token, "POST /api/v1/jobs", &submission(name));
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["jobs"][0].as_u64().unwrap()
    }

    /// Opens a stream of events.
    pub fn events(&self, token: &str, query: &str, head: &str) -> Stream {
        let mut stream = self.connect();
        let address = self.address();
        let request =
            format!("GET /api/v1/events{query} HTTP/1.1\r\nHost: {address}\r\n{}\r\n{head}\r\n", bearer(token));
        stream.write_all(request.as_bytes()).unwrap();
        Stream(BufReader::new(stream))
    }
}

pub fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

pub fn submission(name: &str) -> String {
    serde_json::json!({ "content": { "command": { "argv": ["true"] } }, "name": name }).to_string()
}

/// Reads a response up to the end of the connection.
pub fn answer(mut stream: impl Read) -> Answer {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| {
        panic!("no head: {}", String::from_utf8_lossy(&bytes));
    });
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> = lines
        .map(|line| line.split_once(':').unwrap())
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let mut answer = Answer { status, headers, body: bytes[end + 4..].to_vec() };
    if answer.header("transfer-encoding") == Some("chunked") {
        answer.body = joined(&answer.body);
    }
    answer
}

/// Joins the chunks of a chunked body.
fn joined(mut body: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            break;
        }
        all.extend_from_slice(&body[end + 2..end + 2 + size]);
        body = &body[end + 2 + size + 2..];
    }
    all
}

/// A stream of events. The lines with the sizes of chunks are not lines of events, and are skipped.
pub struct Stream(BufReader<TcpStream>);

impl Stream {
    /// Reads up to the next line that begins with `start`, and returns the rest of this line.
    pub fn line(&mut self, start: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream has ended before `{start}`");
            if let Some(rest) = line.strip_prefix(start) {
                return rest.trim().to_owned();
            }
        }
    }

    /// Returns the next event of a job.
    pub fn happening(&mut self) -> Value {
        loop {
            let value: Value = serde_json::from_str(&self.line("data:")).unwrap();
            if value.get("kind").is_some() {
                return value;
            }
        }
    }

    /// Reads until the server ends the stream.
    pub fn ends(mut self) {
        let mut rest = Vec::new();
        let _ = self.0.read_to_end(&mut rest);
    }
}

/// Waits until `holds` returns true.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
