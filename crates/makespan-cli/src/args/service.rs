//! The options of the commands that connect to a service.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use makespan_formats::parse_amount;
use makespan_service::client::ClientOptions;
use makespan_service::words::{Role, State};

use super::{Format, HistoryChoice, MemorySource, SlurmOptions};

/// Options that select the service and the token.
#[derive(Args)]
pub struct ConnectionOptions {
    /// URL of the service, such as `http://127.0.0.1:8321` [default: `MAKESPAN_URL`, or the URL that the service wrote
    /// into its store]
    #[arg(long, value_name = "URL", global = true)]
    pub url: Option<String>,
    /// File with the token, readable only by its owner [default: `MAKESPAN_TOKEN_FILE`, or `token` in the store of the
    /// service, which is `MAKESPAN_STORE` or ~/.local/share/makespan/service]
    #[arg(long, value_name = "FILE", global = true)]
    pub token_file: Option<PathBuf>,
    /// Certificates (PEM) of the authorities to trust, instead of the authorities that browsers trust
    #[arg(long, value_name = "FILE.pem", global = true)]
    pub ca: Option<PathBuf>,
}

/// Parses a number that is neither infinite nor `nan`. JSON has no such numbers.
pub fn finite(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| "write a number, such as 2 or 0.5".to_owned())
}

fn address(text: &str) -> Result<std::net::SocketAddr, String> {
    text.parse().map_err(|_| "write an IP address and a port, such as 127.0.0.1:8321 or [::1]:8321".to_owned())
}

impl From<&ConnectionOptions> for ClientOptions {
    fn from(ConnectionOptions { url, token_file, ca }: &ConnectionOptions) -> Self {
        Self { url: url.clone(), token_file: token_file.clone(), ca: ca.clone(), store: None }
    }
}

#[derive(Args)]
pub struct SubmitOptions {
    /// A list of shell commands, one per line, or an instance with commands for its jobs
    ///
    /// - is standard input
    #[arg(required_unless_present = "command")]
    pub file: Option<PathBuf>,
    /// One command, as in `run`: a single string is a shell command; several words are a program with its arguments. If
    /// the command contains {} and is followed by ::: and arguments, one command for each argument is submitted
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "file")]
    pub command: Vec<String>,
    /// Processors that the command needs [default: 1]
    #[arg(long, value_name = "N", value_parser = super::machines::positive, conflicts_with = "file")]
    pub processors: Option<u32>,
    /// Expected run time of the command, such as 90s; it is not a limit [default: learned from earlier runs]
    #[arg(long, value_name = "TIME", conflicts_with = "file")]
    pub time: Option<String>,
    /// Time limit of the command, such as 2h; a command that reaches it is ended
    #[arg(long, value_name = "TIME", conflicts_with = "file")]
    pub walltime: Option<String>,
    /// Memory that the command needs, such as 4GiB
    #[arg(long, value_name = "AMOUNT", value_parser = parse_amount, conflicts_with = "file")]
    pub memory: Option<u64>,
    /// GPUs that the command needs
    #[arg(long, value_name = "N", conflicts_with = "file")]
    pub gpus: Option<u64>,
    /// Another resource that the command needs, such as a licence from `serve --licence`: matlab=1
    ///
    /// May be given several times
    #[arg(long, value_name = "NAME=AMOUNT", conflicts_with = "file")]
    pub resource: Vec<String>,
    /// Name of the job
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Working directory of the commands [default: the current folder if the service is on this machine, otherwise the
    /// folder in which the service was started]
    #[arg(long, value_name = "FOLDER")]
    pub directory: Option<PathBuf>,
    /// Additional environment variable of the commands. May be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Weight of the jobs, relative to other jobs [default: 1]
    #[arg(long, value_name = "WEIGHT", value_parser = finite, allow_negative_numbers = true)]
    pub weight: Option<f64>,
    /// Priority, from -10 to 10: each step multiplies the weight by 8; only admins may state more than 0
    #[arg(long, value_name = "STEPS", allow_negative_numbers = true)]
    pub priority: Option<i32>,
    /// Time from now until the deadline of the jobs, such as 2h
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<String>,
    /// Time from now before which no job starts, such as 30min
    #[arg(long, value_name = "TIME")]
    pub begin: Option<String>,
    /// Hold the jobs until `makespan release`
    #[arg(long)]
    pub hold: bool,
    /// Start only after these jobs have succeeded
    #[arg(long, value_name = "JOB,JOB..", value_delimiter = ',')]
    pub after: Vec<u64>,
    /// Wait until all jobs have ended; the exit status is 1 if one did not succeed
    #[arg(long, conflicts_with = "what_if")]
    pub wait: bool,
    /// Submit nothing; print when the jobs would start and which jobs they would delay
    #[arg(long)]
    pub what_if: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub connection: ConnectionOptions,
}

/// A state to show, or all states.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AnyState {
    Any,
    One(State),
}

pub fn state(text: &str) -> Result<AnyState, String> {
    if text == "all" {
        return Ok(AnyState::Any);
    }
    State::of_name(&text.replace('-', "_")).map(AnyState::One).ok_or_else(|| {
        let known: Vec<&str> = State::ALL.iter().map(|state| state.name()).collect();
        format!("write all, or some of {}", known.join(", "))
    })
}

#[derive(Args)]
pub struct JobsOptions {
    /// Numbers of the jobs
    #[arg(required = true)]
    pub jobs: Vec<u64>,
    #[command(flatten)]
    pub connection: ConnectionOptions,
}

#[derive(Args)]
pub struct TokenCommands {
    #[command(subcommand)]
    pub action: TokenAction,
    /// The store of the service [default: `MAKESPAN_STORE`, or ~/.local/share/makespan/service]
    #[arg(long, value_name = "FOLDER", global = true)]
    pub store: Option<PathBuf>,
}

#[derive(Subcommand)]
pub enum TokenAction {
    /// Create a token and print it once
    Add {
        /// User of the token
        user: String,
        /// Rights of the token
        #[arg(long, value_enum)]
        role: RoleName,
        /// Purpose of the token
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
    },
    /// List the tokens with their users
    List,
    /// Remove a token; the service rejects it from then on
    Remove {
        /// Identifier of the token, as `list` prints it
        id: String,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RoleName {
    /// Sees all jobs and changes nothing
    Reader,
    /// Submits jobs; sees and changes only the user's own jobs
    Submitter,
    /// Sees and changes all jobs
    Admin,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Reader => Self::Reader,
            RoleName::Submitter => Self::Submitter,
            RoleName::Admin => Self::Admin,
        }
    }
}

/// Options of `serve`.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "options that go in any combination")]
pub struct ServeOptions {
    /// Folder for jobs, their output and the tokens [default: the value of `MAKESPAN_STORE`, or makespan/service in the
    /// data folder of this user]
    ///
    /// With --on, all machines must share this folder. Hosts with directory=DIR in the file of hosts need not share it
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    #[command(flatten)]
    pub http: ServeHttpOptions,
    /// Number of cores to use [default: all cores that this process may use]
    #[arg(long, value_name = "N", value_parser = super::machines::positive, conflicts_with = "on")]
    pub processors: Option<u32>,
    /// Accept more processors than there are cores
    #[arg(long, requires = "processors")]
    pub oversubscribe: bool,
    /// Licence or other resource of no particular machine, with the number of jobs that can hold it at once, such as
    /// matlab=2
    ///
    /// May be given several times
    #[arg(long, value_name = "NAME=AMOUNT", conflicts_with = "on")]
    pub licence: Vec<String>,
    /// Limit each job to the memory that it states; this needs control groups (cgroup v2)
    #[arg(long)]
    pub limit_memory: bool,
    /// Number of days after which an ended job is deleted, with its output and its events [default: keep jobs for ever]
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36500))]
    pub keep: Option<u32>,
    /// File to which the lines of the log are also appended
    ///
    /// The log is on standard error. Under systemd, it is in the journal
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// If the journal of the store is damaged, continue with its intact records
    ///
    /// Jobs with intact records are kept, and all other jobs run again. The damaged journal is kept under another name
    #[arg(long, conflicts_with_all = ["check", "unit"])]
    pub recover: bool,
    /// Start nothing; check the machine, the store, its disk, the tokens and the addresses, and print what would fail
    ///
    /// The exit status is 0 if the service can start, and 1 if it would fail
    #[arg(long)]
    pub check: bool,
    /// Start nothing; print a unit for systemd that starts the service with these options, as this user
    #[arg(long, conflicts_with = "check")]
    pub unit: bool,
    #[command(flatten)]
    pub history: HistoryChoice,
    /// Where the memory of jobs comes from: stated, or learned from peaks of earlier jobs
    ///
    /// With `learned`, a predicted amount replaces the stated amount when a job is submitted. A job that is killed for
    /// lack of memory is tried again with twice the memory; see docs/history.md
    #[arg(long, value_enum, value_name = "SOURCE", default_value = "stated", conflicts_with = "no_history")]
    pub memory: MemorySource,
    #[command(flatten)]
    pub slurm: SlurmOptions,
}

/// Options for the HTTP server of `serve`.
#[derive(Args)]
pub struct ServeHttpOptions {
    /// Addresses to listen on, separated by commas
    ///
    /// Addresses that other machines can reach need TLS or a proxy
    #[arg(long, value_name = "ADDRESS:PORT", value_delimiter = ',', default_value = "127.0.0.1:8321", value_parser = address)]
    pub listen: Vec<std::net::SocketAddr>,
    /// TLS certificate in PEM, followed by the certificates that lead to a trusted one
    #[arg(long, value_name = "FILE.pem", requires = "tls_key", conflicts_with = "behind_proxy")]
    pub tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE.pem", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// Declare that a proxy encrypts all connections, and that only the proxy can reach the address
    #[arg(long)]
    pub behind_proxy: bool,
}
