//! The arguments of the verbs that ask a service.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use makespan_formats::parse_amount;
use makespan_service::client::ClientOptions;
use makespan_service::words::{Role, State};

use super::{Format, HistoryChoice, SlurmOptions};

/// Which service is asked, and by which token.
#[derive(Args)]
pub struct ConnectionOptions {
    /// Where the service is, such as `http://127.0.0.1:8321` [default: `MAKESPAN_URL`, or what the service wrote into its store]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// File with the token, which only its owner may read [default: `MAKESPAN_TOKEN_FILE`, or `token` in the store of the service, which
    /// `MAKESPAN_STORE` names, else ~/.local/share/makespan/service]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Who certifies the service, as certificates in PEM, instead of those whom browsers know
    #[arg(long, value_name = "FILE.pem")]
    pub ca: Option<PathBuf>,
}

impl From<&ConnectionOptions> for ClientOptions {
    fn from(ConnectionOptions { url, token_file, ca }: &ConnectionOptions) -> Self {
        Self { url: url.clone(), token_file: token_file.clone(), ca: ca.clone(), store: None }
    }
}

#[derive(Args)]
pub struct SubmitOptions {
    /// A list of shell commands, one per line, or an instance whose jobs have commands
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
    /// How long the command is expected to run, such as 90s [default: what earlier runs took]
    #[arg(long, value_name = "TIME", conflicts_with = "file")]
    pub time: Option<String>,
    /// After how long the command is ended, such as 2h
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
    /// What the job is called
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Where the commands run [default: here, if the service is on this machine, else where it was started]
    #[arg(long, value_name = "FOLDER")]
    pub directory: Option<PathBuf>,
    /// What the environment of the commands has besides; may be stated several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// How much the jobs matter beside others [default: 1]
    #[arg(long, value_name = "WEIGHT")]
    pub weight: Option<f64>,
    /// Each step multiplies the weight by 8; -10 to 10, more than 0 for admins
    #[arg(long, value_name = "STEPS", allow_negative_numbers = true)]
    pub priority: Option<i32>,
    /// In how long the jobs should have ended, such as 2h
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<String>,
    /// Start nothing for this long, such as 30min
    #[arg(long, value_name = "TIME")]
    pub begin: Option<String>,
    /// Start nothing until `makespan release`
    #[arg(long)]
    pub hold: bool,
    /// Start when these jobs have ended with success
    #[arg(long, value_name = "JOB,JOB..", value_delimiter = ',')]
    pub after: Vec<u64>,
    /// Wait until all has ended; the exit status is 1 if something did not succeed
    #[arg(long, conflicts_with = "what_if")]
    pub wait: bool,
    /// Submit nothing: say when it would start, and what it would delay
    #[arg(long)]
    pub what_if: bool,
    /// What is printed
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub connection: ConnectionOptions,
}

/// A state, or any.
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
    /// Their numbers
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
    /// Make a token, which is printed once
    Add {
        /// Whose it is
        user: String,
        /// What may be done with it
        #[arg(long, value_enum)]
        role: RoleName,
        /// What it is for
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
    },
    /// Show whose tokens there are
    List,
    /// Remove a token, which is refused from then on
    Remove {
        /// What `list` calls it
        id: String,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RoleName {
    /// Sees all and changes nothing
    Reader,
    /// Submits jobs; sees and changes own ones only
    Submitter,
    /// Sees and changes all
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

/// A service.
#[derive(Args)]
pub struct ServeOptions {
    /// Folder for jobs, their output and the tokens [default: the value of `MAKESPAN_STORE`, or makespan/service in the
    /// data folder of this user]
    ///
    /// With --on slurm, all nodes must share this folder
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    #[command(flatten)]
    pub http: ServeHttpOptions,
    /// Use so many of the cores [default: all that this process may use]
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
    /// Limit each job to the memory that it states, where control groups may be made (cgroup v2)
    #[arg(long)]
    pub limit_memory: bool,
    /// Forget jobs so many days after their end, with their output and their events [default: keep them for ever]
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36500))]
    pub keep: Option<u32>,
    #[command(flatten)]
    pub history: HistoryChoice,
    #[command(flatten)]
    pub slurm: SlurmOptions,
}

/// Where `serve` listens.
#[derive(Args)]
pub struct ServeHttpOptions {
    /// Addresses to listen on, separated by commas
    ///
    /// Addresses that other machines can reach need TLS or a proxy
    #[arg(long, value_name = "ADDRESS:PORT", value_delimiter = ',', default_value = "127.0.0.1:8321")]
    pub listen: Vec<std::net::SocketAddr>,
    /// Encrypt with this certificate, in PEM with those that lead to a known one
    #[arg(long, value_name = "FILE.pem", requires = "tls_key", conflicts_with = "behind_proxy")]
    pub tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE.pem", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// A proxy in front encrypts, and nobody else reaches the address
    #[arg(long)]
    pub behind_proxy: bool,
}
