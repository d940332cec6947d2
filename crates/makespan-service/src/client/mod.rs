//! A blocking client of the service, for the command line.

mod events;
mod place;

use std::io::Read;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use ureq::http::{Response, StatusCode};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::typestate::WithBody;
use ureq::{Agent, Body, RequestBuilder};

use crate::http::{Changed, Problem, Receipts, Submissions};
use crate::words::{
    JobNumber, JobSummary, LogPart, Page, Receipt, Reservation, State, Stream, Submission, UserChange, UserSettings,
    UserSummary, WhatIf,
};

pub use events::Events;
pub use place::{ClientOptions, default_store, write_url};

/// Maximum size of a response, in bytes.
const MAX_ANSWER: u64 = 256 << 20;
/// Maximum wait for the beginning of a response, and for the next bytes of a stream of events.
const PATIENCE: Duration = Duration::from_mins(1);
/// Maximum number of attempts to send a request if the connection fails.
const TRIES: u32 = 6;

/// The error of a request to the service.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The service refused the request.
    #[error("{}", said(.0))]
    Refused(Box<Problem>),
    /// The service cannot be reached.
    #[error(
        "{url}: the service cannot be reached: {message}; start the service with `makespan serve`, or name another \
         service with --url"
    )]
    Unreachable {
        /// The address of the service.
        url: String,
        /// The error of the connection.
        message: String,
    },
    /// The certificate of the service is not accepted.
    #[error("{url}: the certificate of the service is not accepted: {message}")]
    Untrusted {
        /// The address of the service.
        url: String,
        /// The reason and a remedy.
        message: String,
    },
    /// The response does not come from a makespan service.
    #[error("{url}: the response is not from the makespan service: {message}")]
    Strange {
        /// The address of the service.
        url: String,
        /// A description of the unexpected response.
        message: String,
    },
    /// The address of the service or the token is unknown or invalid.
    #[error("{0}")]
    Setup(String),
}

/// Returns a problem as one sentence.
fn said(problem: &Problem) -> String {
    let place = problem.place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
    let remedy = problem.remedy.as_ref().map_or_else(String::new, |remedy| format!("; {remedy}"));
    format!("{place}{}{remedy}", problem.detail)
}

impl ClientError {
    /// Returns true if a later attempt may succeed.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused(problem) => problem.status == StatusCode::SERVICE_UNAVAILABLE,
            Self::Untrusted { .. } | Self::Strange { .. } | Self::Setup(_) => false,
        }
    }
}

/// A client of a service.
pub struct Client {
    agent: Agent,
    url: String,
    token: String,
}

impl Client {
    /// Creates a client. Finds the address of the service and the token from the options, the environment or the store.
    ///
    /// # Errors
    /// [`ClientError::Setup`], if the address or the token is unknown, or if other users may read the file of the
    /// token.
    pub fn open(options: &ClientOptions) -> Result<Self, ClientError> {
        let (url, token) = options.found()?;
        let roots = match &options.ca {
            None => RootCerts::WebPki,
            Some(path) => {
                let wrong = |message: String| ClientError::Setup(format!("{}: {message}", path.display()));
                let pem = std::fs::read(path).map_err(|error| wrong(format!("cannot read: {error}")))?;
                let items: Vec<PemItem<'_>> = parse_pem(&pem)
                    .collect::<Result<_, _>>()
                    .map_err(|error| wrong(format!("no certificates in PEM can be read: {error}")))?;
                let certificates = items.into_iter().filter_map(|item| match item {
                    PemItem::Certificate(certificate) => Some(certificate.to_owned()),
                    _ => None,
                });
                let certificates: Vec<Certificate<'static>> = certificates.collect();
                if certificates.is_empty() {
                    return Err(wrong(
                        "the file contains no certificate; a certificate begins with BEGIN CERTIFICATE".into(),
                    ));
                }
                RootCerts::new_with_certs(&certificates)
            }
        };
        // Proxies and redirections are disabled, because they could pass the token to another server.
        let agent = Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_connect(Some(Duration::from_secs(10)))
            .timeout_recv_response(Some(PATIENCE))
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .build()
            .new_agent();
        Ok(Self { agent, url, token })
    }

    /// Returns the address of the service.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sends a GET request to a path below `/api/v1/`, and returns the parsed response.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.json(self.repeated(|| self.agent.get(self.at(path)).header("Authorization", self.bearer()).call())?)
    }

    fn at(&self, path: &str) -> String {
        format!("{}/api/v1/{path}", self.url)
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// Sends a request, and repeats it if the connection fails. The request must be safe to repeat.
    fn repeated(&self, send: impl Fn() -> Result<Response<Body>, ureq::Error>) -> Result<Response<Body>, ClientError> {
        let mut tries = 1;
        loop {
            match send() {
                Ok(response) => return self.accepted(response),
                Err(ureq::Error::Io(_)) if tries < TRIES => {
                    std::thread::sleep(Duration::from_millis(200) * tries);
                    tries += 1;
                }
                Err(error) => return Err(self.unreachable(&error)),
            }
        }
    }

    fn unreachable(&self, error: &dyn std::fmt::Display) -> ClientError {
        let (url, message) = (self.url.clone(), error.to_string());
        // The HTTP library reports certificate errors only in the text of the message.
        if !message.contains("certificate") {
            return ClientError::Unreachable { url, message };
        }
        let remedy = if message.contains("CaUsedAsEndEntity") {
            "the certificate of the service is for an authority (CA), not for a server; docs/service.md, section \
             HTTP, shows the command that makes a certificate for a server"
        } else if message.contains("NotValidForName") {
            "use a host name for which the certificate was made: --url https://NAME:PORT"
        } else {
            "name the certificate that signed this certificate: --ca FILE.pem"
        };
        ClientError::Untrusted { url, message: format!("{message}; {remedy}") }
    }

    fn strange(&self, message: String) -> ClientError {
        ClientError::Strange { url: self.url.clone(), message }
    }

    /// Returns a successful response, or the problem in the response as an error.
    fn accepted(&self, mut response: Response<Body>) -> Result<Response<Body>, ClientError> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let text = response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec().unwrap_or_default();
        match serde_json::from_slice::<Problem>(&text) {
            Ok(problem) => Err(ClientError::Refused(Box::new(problem))),
            Err(_) => Err(self.strange(format!("the status is {status}"))),
        }
    }

    fn json<T: DeserializeOwned>(&self, mut response: Response<Body>) -> Result<T, ClientError> {
        let bytes = response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec();
        let bytes = bytes.map_err(|error| self.unreachable(&error))?;
        serde_json::from_slice(&bytes).map_err(|error| self.strange(error.to_string()))
    }

    fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        key: Option<&str>,
    ) -> Result<T, ClientError> {
        let body = serde_json::to_vec(body).map_err(|error| ClientError::Setup(error.to_string()))?;
        let answer = self.repeated(|| {
            let mut request = self.agent.post(self.at(path)).header("Authorization", self.bearer());
            if let Some(key) = key {
                request = request.header("Idempotency-Key", key);
            }
            request.header("Content-Type", "application/json").send(&body[..])
        });
        self.json(answer?)
    }

    /// Sends a submission to the service. If no response arrives, this function repeats the request with the same
    /// idempotency key, so the submission is accepted only once.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn submit(&self, submission: &Submission) -> Result<Receipt, ClientError> {
        self.post("jobs", submission, Some(&new_key()?))
    }

    /// Submits several submissions as [`Client::submit`] does. The service accepts all submissions or none.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn submit_many(&self, submissions: Vec<Submission>) -> Result<Vec<Receipt>, ClientError> {
        let receipts: Receipts = self.post("jobs", &Submissions { submissions }, Some(&new_key()?))?;
        Ok(receipts.receipts)
    }

    /// Predicts the effect of a submission without submitting it.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn what_if(&self, submission: &Submission) -> Result<WhatIf, ClientError> {
        self.post("what-if", submission, None)
    }

    /// Changes a job by the operation `what`: `cancel`, `hold` or `release`. Returns the new state.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn change(&self, job: JobNumber, what: &str) -> Result<State, ClientError> {
        let changed: Changed = self.post(&format!("jobs/{job}/{what}"), &(), None)?;
        Ok(changed.state)
    }

    /// Replaces the settings of a user.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn set_user(&self, user: &str, settings: &UserSettings) -> Result<UserSummary, ClientError> {
        self.send_settings(user, settings, |path| self.agent.put(path))
    }

    /// Changes some settings of a user, and keeps the other settings.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn change_user(&self, user: &str, change: &UserChange) -> Result<UserSummary, ClientError> {
        self.send_settings(user, change, |path| self.agent.patch(path))
    }

    /// Sends settings of a user. `request` creates the request for an address.
    fn send_settings(
        &self,
        user: &str,
        settings: &impl Serialize,
        request: impl Fn(&str) -> RequestBuilder<WithBody>,
    ) -> Result<UserSummary, ClientError> {
        let body = serde_json::to_vec(settings).map_err(|error| ClientError::Setup(error.to_string()))?;
        let path = self.at(&format!("users/{user}"));
        let answer = self.repeated(|| {
            let request = request(&path).header("Authorization", self.bearer());
            request.header("Content-Type", "application/json").send(&body[..])
        });
        self.json(answer?)
    }

    /// Makes a reservation, and returns it with its number. If no response arrives, the service may have made the
    /// reservation.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn reserve(&self, reservation: &Reservation) -> Result<Reservation, ClientError> {
        let body = serde_json::to_vec(reservation).map_err(|error| ClientError::Setup(error.to_string()))?;
        let request = self.agent.post(self.at("reservations")).header("Authorization", self.bearer());
        let sent = request.header("Content-Type", "application/json").send(&body[..]);
        self.json(self.accepted(sent.map_err(|error| self.unreachable(&error))?)?)
    }

    /// Removes a reservation.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn unreserve(&self, number: u64) -> Result<(), ClientError> {
        let path = self.at(&format!("reservations/{number}"));
        let request = || self.agent.delete(&path).header("Authorization", self.bearer()).call();
        self.repeated(request).map(drop)
    }

    /// Returns the jobs that match a query such as `state=running&user=me`. Stops after the page with which the number
    /// of jobs reaches `most`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn jobs(&self, query: &str, most: usize) -> Result<Page<JobSummary>, ClientError> {
        let mut all = Page { items: Vec::new(), next: None, total: 0, others: 0, trouble: Vec::new() };
        loop {
            let after = all.next.map_or_else(String::new, |next| format!("&after={next}"));
            let limit = (most - all.items.len()).clamp(1, 1000);
            let part: Page<JobSummary> = self.get(&format!("jobs?limit={limit}{after}&{query}"))?;
            all.items.extend(part.items);
            (all.next, all.total, all.others, all.trouble) = (part.next, part.total, part.others, part.trouble);
            if all.next.is_none() || all.items.len() >= most {
                return Ok(all);
            }
        }
    }

    /// Returns up to 1 MiB of the output of a task, starting at byte `from`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn log(&self, job: JobNumber, task: u64, stream: Stream, from: u64) -> Result<LogPart, ClientError> {
        let name = match stream {
            Stream::Out => "out",
            Stream::Err => "err",
        };
        let path = self.at(&format!("jobs/{job}/logs/{task}/{name}?from={from}&most=1048576"));
        let mut response = self.repeated(|| self.agent.get(&path).header("Authorization", self.bearer()).call())?;
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let size = header("makespan-log-size").and_then(|size| size.parse().ok());
        let ended = header("makespan-log-ended").map(|ended| ended == "true");
        let (Some(size), Some(ended)) = (size, ended) else {
            return Err(self.strange("the response does not contain the size of the output".into()));
        };
        let mut bytes = Vec::new();
        let read = response.body_mut().as_reader().take(MAX_ANSWER).read_to_end(&mut bytes);
        read.map_err(|error| self.unreachable(&error))?;
        Ok(LogPart { bytes, size, ended })
    }

    /// Opens a stream of the events after the number `after`, or of all future events if `after` is `None`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn events(&self, after: Option<u64>) -> Result<Events, ClientError> {
        let after = after.map_or_else(String::new, |after| format!("?after={after}"));
        let request = self.agent.get(self.at(&format!("events{after}"))).header("Authorization", self.bearer());
        let sent = request.config().timeout_per_read(Some(PATIENCE)).build().call();
        let response = self.accepted(sent.map_err(|error| self.unreachable(&error))?)?;
        Ok(Events::new(response.into_body().into_reader()))
    }
}

/// Returns a new random idempotency key.
fn new_key() -> Result<String, ClientError> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| ClientError::Setup(format!("no random numbers: {error}")))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}
