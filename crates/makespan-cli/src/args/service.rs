//! The arguments of the verbs that ask a service.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};
use makespan_formats::parse_amount;
use makespan_service::client::ClientOptions;
use makespan_service::words::{Role, State};
use makespan_slurm::forecast::RunTimes;

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
    /// A list of shell commands, one a line, or an instance whose jobs have commands; - is standard input
    #[arg(required_unless_present = "command")]
    pub file: Option<PathBuf>,
    /// One command with its arguments; no shell is between. With {} in it and ::: and arguments behind it, a shell command for each, as in `run`
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
    /// Another resource that the command needs, such as a licence of `serve --licence`: matlab=1; may be stated several times
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

#[derive(Args)]
pub struct QueueOptions {
    /// Of a cluster that Slurm runs: slurm, or a folder with what its commands printed, instead of a service
    #[arg(long, value_name = "slurm|FOLDER", conflicts_with_all = ["url", "token_file", "ca", "state"])]
    pub from: Option<String>,
    /// Of a cluster: this job alone, with all that is known of its start, such as 123 or `123_4`
    #[arg(long, value_name = "JOB", conflicts_with = "state", value_parser = NonEmptyStringValueParser::new())]
    pub job: Option<String>,
    /// Of a cluster: again every so many seconds, at least 5
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "30", conflicts_with = "state")]
    pub watch: Option<u64>,
    /// Of a cluster: write the queue as a page, too
    #[arg(long, value_name = "FILE.html", conflicts_with = "state")]
    pub report: Option<PathBuf>,
    /// Of saved outputs: their instant, such as 2026-11-22T02:04:10 [default: as they say]
    #[arg(long, value_name = "TIME", requires = "from")]
    pub at: Option<String>,
    /// Of --from slurm: learn run times from jobs of so many days, which its accounts are asked for [default: 7]
    #[arg(long, value_name = "DAYS", conflicts_with = "state")]
    pub past: Option<u32>,
    /// Of a cluster: from what run times are known [default: learned]
    #[arg(long, value_enum, conflicts_with = "state")]
    pub times: Option<KnownTimes>,
    /// Of a cluster: how often the future is played with run times that are drawn, for the spread of starts [default: 20]
    #[arg(long, value_name = "N", conflicts_with = "state", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub draws: Option<u32>,
    /// Jobs of this user
    #[arg(long, value_name = "USER", value_parser = NonEmptyStringValueParser::new())]
    pub user: Option<String>,
    /// Of a service: jobs of these states, or all [default: held,waiting,running]
    #[arg(long, value_name = "STATE,STATE..", value_delimiter = ',', value_parser = state)]
    pub state: Vec<AnyState>,
    /// Show at most this many, on a page too [default: 1000; on a page and with --format json all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// What is printed
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub connection: ConnectionOptions,
}

impl QueueOptions {
    /// An option that is for the queue of a cluster alone, if one is given.
    pub fn of_cluster(&self) -> Option<&'static str> {
        let given = [
            (self.job.is_some(), "--job"),
            (self.watch.is_some(), "--watch"),
            (self.report.is_some(), "--report"),
            (self.past.is_some(), "--past"),
            (self.times.is_some(), "--times"),
            (self.draws.is_some(), "--draws"),
        ];
        given.into_iter().find_map(|(is_given, name)| is_given.then_some(name))
    }

    /// Whether no service is named, by an option or in the environment.
    pub fn names_no_service(&self) -> bool {
        let ConnectionOptions { url, token_file, ca } = &self.connection;
        let variables = ["MAKESPAN_URL", "MAKESPAN_STORE", "MAKESPAN_TOKEN_FILE"];
        url.is_none()
            && token_file.is_none()
            && ca.is_none()
            && variables.iter().all(|name| std::env::var_os(name).is_none())
    }
}

/// A state, or any.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AnyState {
    Any,
    One(State),
}

fn state(text: &str) -> Result<AnyState, String> {
    if text == "all" {
        return Ok(AnyState::Any);
    }
    State::of_name(&text.replace('-', "_")).map(AnyState::One).ok_or_else(|| {
        let known: Vec<&str> = State::ALL.iter().map(|state| state.name()).collect();
        format!("write all, or some of {}", known.join(", "))
    })
}

#[derive(Args)]
pub struct JobOptions {
    /// Its number
    pub job: u64,
    /// What is printed
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub connection: ConnectionOptions,
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
pub struct LogsOptions {
    /// The number of the job
    pub job: u64,
    /// Go on until the task has ended
    #[arg(long, short)]
    pub follow: bool,
    /// Standard error instead of standard output
    #[arg(long)]
    pub err: bool,
    /// Which task of the job, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub task: u64,
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

/// From what run times of a cluster's jobs are known.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum KnownTimes {
    /// From jobs of this cluster that ended, and as `usual` where nothing is known of such jobs
    #[default]
    Learned,
    /// Nothing is learned: jobs use their limits as those of public logs do
    Usual,
    /// Nothing is learned: every job takes its limit
    Limits,
}

impl From<KnownTimes> for RunTimes {
    fn from(times: KnownTimes) -> Self {
        match times {
            KnownTimes::Learned => Self::Learned,
            KnownTimes::Usual => Self::Usual,
            KnownTimes::Limits => Self::Limits,
        }
    }
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
    /// Keep jobs, their output and the tokens in this folder; with --on slurm one that all nodes share [default: that of
    /// `MAKESPAN_STORE`, or makespan/service in the data folder of this user]
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
    /// What belongs to no machine and is held by so many jobs at once, such as matlab=2; may be stated several times
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
    /// Where to listen, several with commas. Other addresses than those of this machine alone need TLS or a proxy
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
