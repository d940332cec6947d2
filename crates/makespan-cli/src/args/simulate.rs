//! The options of `makespan simulate`.

use std::path::PathBuf;

use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};
use makespan_formats::{Estimates, SpeedupSpec};

use super::{Format, MachineOptions, QUEUE, TreeRules};

#[derive(Args)]
pub struct SimulateOptions {
    /// Log or instance, such as SWF, sacct, Batsim or native; without it --from names a queue
    ///
    /// SWF, Batsim JSON, `sacct --parsable2`, native JSON or TOML, an ETC matrix, a workflow (.json, .dax, .stg, .dot, .xml), a project of
    /// PSPLIB; also .gz and .bz2
    #[arg(
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
    /// Run times that the policies are told
    #[arg(long, value_enum, default_value = "user")]
    pub estimates: EstimatesName,
    /// Replace times that nobody states by the median of jobs that have ended
    #[arg(hide_short_help = true, long, value_enum, value_name = "FROM")]
    pub learn: Option<Teachers>,
    /// Let real times differ from the estimates by a random factor of this standard deviation
    ///
    /// Each task takes its estimate times a factor of its own, log-normal of mean 1, drawn from --seed; policies know estimates alone. For
    /// instances and clairvoyant logs
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub deviation: Option<f64>,
    /// Make the jobs of a log moldable by this law, such as amdahl:0.05
    ///
    /// linear, amdahl:SERIAL, power:EXPONENT, downey:A,SIGMA, downey:random or fitted
    #[arg(hide_short_help = true, long, value_name = "LAW")]
    pub speedup: Option<SpeedupSpec>,
    /// Queues of an SWF log by number, highest priority first, such as 3,1
    ///
    /// For policies with queues=priority
    #[arg(hide_short_help = true, long, value_name = "NUMBERS", value_delimiter = ',', allow_negative_numbers = true)]
    pub queues: Vec<u32>,
    /// Operations a second of a processor of speed 1, for Batsim [default: 1e9]
    #[arg(hide_short_help = true, long, value_name = "PER SECOND", allow_negative_numbers = true)]
    pub flops: Option<f64>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// End a job that reaches its walltime
    #[arg(long)]
    pub kill_at_walltime: bool,
    /// Refuse a file of which something would be ignored, skipped or changed
    #[arg(long)]
    pub strict: bool,
    /// Policies simulated at the same time [default: all cores]
    ///
    /// The output does not depend on it
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    pub threads: Option<usize>,
    /// What if: a scenario beside others and what was logged, such as 'nodes=+20'
    ///
    /// Words are now, 'nodes=+20', 'policy=conservative', 'without user=ann', 'load=1.2' or 'estimates=clairvoyant', or several of these;
    /// the option is given once for each scenario
    #[arg(long = "scenario", value_name = "WORDS", conflicts_with_all = ["start_time_of", "sizes", "gantt"])]
    pub scenarios: Vec<String>,
    /// Say which jobs would have started earlier on another number of processors
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
    /// What is printed
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

impl SimulateOptions {
    /// What heads a page: the file, or whose queue it is.
    pub fn title(&self) -> String {
        match &self.machines.from {
            Some(from) if self.trace.as_os_str() == QUEUE => format!("Queue of {from}"),
            _ => self.trace.file_name().map_or("Simulation".into(), |name| name.to_string_lossy().into_owned()),
        }
    }
}

/// Failures of nodes.
#[derive(Args)]
pub struct Breakdowns {
    /// Failures and repairs of nodes: a CSV file, or a model
    ///
    /// A model is such as model:mtbf=30d,mttr=4h,shape=0.7,processors=16
    #[arg(long, value_name = "FILE|model:..")]
    pub failures: Option<String>,
    /// How often a job is queued again after failures before it counts as failed [default: 1000]
    #[arg(hide_short_help = true, long, value_name = "TIMES", requires = "failures", allow_negative_numbers = true)]
    pub requeue: Option<u32>,
}

/// Where results go; with several policies each file but the picture and the report is written once a policy, `out.easy.csv` for
/// `out.csv`.
#[derive(Args)]
pub struct SimulationOutputs {
    /// Write the executions as CSV in the columns of Batsim and evalys
    ///
    /// With several policies to a file for each, out.POLICY.csv
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.csv")]
    pub jobs: Option<PathBuf>,
    /// Write what happened as an SWF log; out.POLICY.swf with several policies
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.swf")]
    pub swf: Option<PathBuf>,
    /// Write what a policy tells of its plans, such as collisions, as CSV
    ///
    /// With several policies to a file for each, out.POLICY.csv
    #[arg(help_heading = "Files that are written", hide_short_help = true, long, value_name = "FILE.csv")]
    pub log: Option<PathBuf>,
    /// Write a Gantt chart of the policies as a picture: .svg, .png or .pdf
    ///
    /// All charts have one time axis. May be given several times
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.svg")]
    pub gantt: Vec<PathBuf>,
    /// Write a report of all policies as one HTML page
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Write names into CSV as they are
    ///
    /// Names that a spreadsheet takes for formulas (they begin with = + - or @) are otherwise written behind an apostrophe
    #[arg(help_heading = "Files that are written", hide_short_help = true, long)]
    pub raw_names: bool,
}

/// When will a job start?
#[derive(Args)]
pub struct StartQuestion {
    /// Say when this job is expected to start, which jobs hold it back, and when it did start
    #[arg(long, value_name = "JOB")]
    pub start_time_of: Option<String>,
    /// Instant of that question, such as 36h or 1996-10-01T12:30 [default: when the job was submitted]
    ///
    /// A time of the log, or a date if the log says when it began. For a job that waited when the log was written, the default is that
    /// instant
    #[arg(long, value_name = "TIME", requires = "start_time_of", allow_hyphen_values = true)]
    pub at: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EstimatesName {
    /// The requested times of the users
    User,
    /// The run times themselves
    Clairvoyant,
    /// None: a minute for every job on its fewest processors, or its walltime if that is shorter
    Unknown,
}

/// From which jobs one learns how long others take.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Teachers {
    /// Those that are alike (of the same command or one like it; without a command, of the same user), and all where none of these has ended
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
