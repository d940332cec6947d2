//! The options of `makespan simulate`.

use std::path::PathBuf;

use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};
use makespan_formats::{Estimates, Format as InputFormat, SpeedupSpec};

use super::{Format, MachineOptions, QUEUE, TreeRules};

/// Returns the long help for the argument that names a log or an instance. The help names all formats that can be
/// simulated.
fn trace_help() -> String {
    let titles = InputFormat::titles(|format| format != InputFormat::List);
    format!("Log or instance; if no file is given, --from names a queue\n\nThe formats are {titles}; also .gz and .bz2")
}

#[derive(Args)]
pub struct SimulateOptions {
    /// Log or instance, such as SWF, sacct, Batsim or native; if no file is given, --from names a queue
    #[arg(
        long_help = trace_help(),
        required = false,
        required_unless_present = "from",
        default_value_if("from", ArgPredicate::IsPresent, QUEUE)
    )]
    pub trace: PathBuf,
    /// Policies, separated by commas, such as easy,conservative,slurm [default: easy; on a tree back-pressure]
    #[arg(long, short, value_name = "SPECS")]
    pub policy: Option<String>,
    #[command(flatten)]
    pub machines: MachineOptions,
    /// Run times that the policies know
    #[arg(long, value_enum, default_value = "user")]
    pub estimates: EstimatesName,
    /// Replace run times that no user stated with the median of completed jobs
    #[arg(hide_short_help = true, long, value_enum, value_name = "FROM")]
    pub learn: Option<TrainingJobs>,
    /// Multiply each estimated time by a random factor with this standard deviation to get the real time
    ///
    /// Each task has its own factor, which is log-normal with mean 1 and depends on --seed. Policies know only the
    /// estimates. Available for instances and clairvoyant logs
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub deviation: Option<f64>,
    /// Make the jobs of a log moldable with this speed-up law, such as amdahl:0.05
    ///
    /// The available laws are linear, amdahl:SERIAL, power:EXPONENT, downey:A,SIGMA, downey:random and fitted
    #[arg(hide_short_help = true, long, value_name = "LAW")]
    pub speedup: Option<SpeedupSpec>,
    /// Numbers of the queues of an SWF log in descending order of priority, such as 3,1
    ///
    /// This option affects policies with queues=priority
    #[arg(hide_short_help = true, long, value_name = "NUMBERS", value_delimiter = ',', allow_negative_numbers = true)]
    pub queues: Vec<u32>,
    /// Operations per second of a processor with speed 1, for Batsim [default: 1e9]
    #[arg(hide_short_help = true, long, value_name = "PER SECOND", allow_negative_numbers = true)]
    pub flops: Option<f64>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// End a job that reaches its walltime
    #[arg(long)]
    pub kill_at_walltime: bool,
    /// Refuse a file if a part of it would be ignored, skipped or changed
    #[arg(long)]
    pub strict: bool,
    /// Number of policies that are simulated at the same time [default: number of cores]
    ///
    /// This number does not change the output
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    pub threads: Option<usize>,
    /// Simulate a metascheduler over the domains in this TOML file
    ///
    /// For each domain, the file states the nodes, the local policy, the price and the log of the owner's jobs. The file also
    /// states the budgets of users' jobs. The jobs of users are in the instance. --policy states the metascheduler, such as
    /// job-flow[late=reject] [default: job-flow]
    #[arg(
        long,
        value_name = "FILE.toml",
        conflicts_with_all = ["scenarios", "sizes", "start_time_of", "learn", "from"]
    )]
    pub domains: Option<PathBuf>,
    #[command(flatten)]
    pub what_if: ScenarioOptions,
    /// List jobs that would have started earlier on another number of processors
    #[arg(long)]
    pub sizes: bool,
    #[command(flatten)]
    pub breakdowns: Breakdowns,
    #[command(flatten)]
    pub tree: TreeRules,
    #[command(flatten)]
    pub outputs: SimulationOutputs,
    #[command(flatten)]
    pub question: StartQuestion,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

impl SimulateOptions {
    /// Returns the title of a page: the name of the file, or of the cluster if its queue is simulated.
    pub fn title(&self) -> String {
        match &self.machines.from {
            Some(from) if self.trace.as_os_str() == QUEUE => format!("Queue of {from}"),
            _ => self.trace.file_name().map_or("Simulation".into(), |name| name.to_string_lossy().into_owned()),
        }
    }
}

/// Options of the comparison of scenarios.
#[derive(Args)]
pub struct ScenarioOptions {
    /// Compare with a what-if scenario, such as 'nodes=+20'
    ///
    /// A scenario consists of one or several of these changes: now, 'nodes=+20', 'policy=conservative', 'without
    /// user=ann', 'load=1.2', 'estimates=clairvoyant'. For the queue of a cluster, further changes are 'job=5
    /// limit=4min', 'job=5 top', 'qos=high jobs=+4', 'drain=n3 from tomorrow 8:00' and 'maintenance=tuesday
    /// 8:00..12:00'. Give the option once for each scenario
    #[arg(long = "scenario", value_name = "WORDS", conflicts_with_all = ["start_time_of", "sizes", "gantt"])]
    pub scenarios: Vec<String>,
    /// With --scenario: show all measures instead of six
    #[arg(long, requires = "scenarios")]
    pub all: bool,
}

/// Failures of nodes.
#[derive(Args)]
pub struct Breakdowns {
    /// Failures and repairs of nodes: a CSV file or a model
    ///
    /// Example of a model: model:mtbf=30d,mttr=4h,shape=0.7,processors=16
    #[arg(long, value_name = "FILE|model:..")]
    pub failures: Option<String>,
    /// Number of times that a job is requeued after node failures before it counts as failed [default: 1000]
    #[arg(hide_short_help = true, long, value_name = "TIMES", requires = "failures", allow_negative_numbers = true)]
    pub requeue: Option<u32>,
}

/// Output files. If several policies are simulated, the name of the policy is added to a file name: `out.csv` becomes
/// `out.easy.csv`. The picture and the report contain all policies.
#[derive(Args)]
pub struct SimulationOutputs {
    /// Write the jobs as CSV in the columns of Batsim and evalys
    ///
    /// If several policies are simulated, one file per policy is written, such as out.POLICY.csv
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.csv")]
    pub jobs: Option<PathBuf>,
    /// Write the simulated schedule as an SWF log; for several policies, one file each, such as out.POLICY.swf
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.swf")]
    pub swf: Option<PathBuf>,
    /// Write details of the plans of a policy as CSV, such as collisions
    ///
    /// If several policies are simulated, one file per policy is written, such as out.POLICY.csv
    #[arg(help_heading = "Files that are written", hide_short_help = true, long, value_name = "FILE.csv")]
    pub log: Option<PathBuf>,
    /// Write a Gantt chart of the policies as a picture: .svg, .png or .pdf
    ///
    /// All charts share one time axis. May be given several times
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.svg")]
    pub gantt: Vec<PathBuf>,
    /// Write a report of all policies as one HTML page
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Write names into CSV unchanged
    ///
    /// Without this option, names that a spreadsheet reads as formulas (they begin with = + - or @) get an apostrophe
    /// in front
    #[arg(help_heading = "Files that are written", hide_short_help = true, long)]
    pub raw_names: bool,
}

/// Options for the question when a job starts and which jobs delay it.
#[derive(Args)]
pub struct StartQuestion {
    /// Print when this job was predicted to start, which jobs delay it, and when the job really started
    #[arg(long, value_name = "JOB")]
    pub start_time_of: Option<String>,
    /// Instant for --start-time-of, such as 36h or 1996-10-01T12:30 [default: the submission of the job]
    ///
    /// The instant is a time of the log, or a date if the log states when it begins. If the job was still waiting when
    /// the log was written, the default is the end of the log
    #[arg(long, value_name = "TIME", requires = "start_time_of", allow_hyphen_values = true)]
    pub at: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EstimatesName {
    /// The requested times of the users
    User,
    /// The actual run times
    Clairvoyant,
    /// No run times; every job is planned with one minute on its fewest processors, or with its walltime if that is
    /// shorter
    Unknown,
}

/// Jobs from which run times are learned.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TrainingJobs {
    /// Similar jobs: of the same or a similar command, or of the same user if there is no command. All jobs if no
    /// similar job has ended
    Alike,
    /// All jobs
    All,
}

impl From<EstimatesName> for Estimates {
    fn from(name: EstimatesName) -> Self {
        match name {
            EstimatesName::User => Self::User,
            EstimatesName::Clairvoyant | EstimatesName::Unknown => Self::Clairvoyant,
        }
    }
}
