//! The command line.

mod doctor;
mod failures;
mod flow;
mod generate;
mod graphs;
mod groups;
mod history;
mod machines;
mod needs;
mod project;
mod queue;
#[cfg(feature = "service")]
mod service;
mod shards;
mod simulate;
mod slurm;
mod source;
mod trees;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use makespan_formats::SpeedupSpec;

pub use doctor::{DoctorOptions, SlurmAction, SlurmCommands};
pub use failures::FailureOptions;
pub use flow::GenerateFlowOptions;
pub use generate::{GenerateEtcOptions, GenerateOptions, Generator, Range};
pub use graphs::GenerateGraphsOptions;
pub use history::{
    HistoryAction, HistoryChoice, HistoryExportOptions, HistoryFilter, HistoryForgetOptions, HistoryListOptions,
    HistoryOptions,
};
pub use machines::{MachineOptions, QUEUE};
pub use needs::NeedsArguments;
pub use project::GenerateProjectOptions;
pub use queue::{KnownTimes, QueueOptions};
#[cfg(feature = "service")]
pub use service::{
    AnyState, ConnectionOptions, JobOptions, JobsOptions, LogsOptions, ServeHttpOptions, ServeOptions, SubmitOptions,
    TokenAction, TokenCommands,
};
pub use shards::{ShardCommand, ShardOptions};
pub use simulate::{EstimatesName, SimulateOptions, SimulationOutputs, StartQuestion, Teachers};
pub use slurm::{On, SlurmOptions};
pub use source::{STANDARD_INPUT, SourceOptions};
pub use trees::{GenerateTreeOptions, PeriodOptions, TreeRules};

/// What is shown to those who ask for nothing.
const EXAMPLES: &str = "\
Examples:
  makespan run commands.txt               run shell commands, one a line
  makespan run -- 'gzip -9 {}' ::: *.txt  run a command for each argument
  makespan plan batch.toml                plan jobs, and prove how good that is
";

/// A scheduling engine for clusters and grids: says what runs where and when, proves how far that is from the best
/// possible, and runs it.
#[derive(Parser)]
#[command(name = "makespan", version, arg_required_else_help = true, after_help = EXAMPLES, help_template = groups::template())]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Plan an instance and prove how good the plan is
    Plan(PlanOptions),
    /// Prove lower bounds without planning
    Bound(BoundOptions),
    /// Check a schedule and its bounds without trusting who made them
    Verify(VerifyOptions),
    /// Plan by several algorithms and compare them
    Compare(CompareOptions),
    /// Replay a log, or play an instance, in virtual time under one or several policies
    Simulate(SimulateOptions),
    /// Run a list of commands, or the jobs of an instance, on this machine or on Slurm
    Run(RunOptions),
    /// Run jobs that come at any time, from several people, and show them on a page
    #[cfg(feature = "service")]
    Serve(ServeOptions),
    /// Submit jobs to a service
    #[cfg(feature = "service")]
    Submit(SubmitOptions),
    /// Show what waits and runs, of a service or of a cluster that Slurm runs, and when it will start
    Queue(QueueOptions),
    /// Show a job of a service, and why it does not run now
    #[cfg(feature = "service")]
    Job(JobOptions),
    /// Take jobs of a service back
    #[cfg(feature = "service")]
    Cancel(JobsOptions),
    /// Let jobs of a service wait until they are released
    #[cfg(feature = "service")]
    Hold(JobsOptions),
    /// Let jobs of a service start that are held
    #[cfg(feature = "service")]
    Release(JobsOptions),
    /// Print what a job of a service prints
    #[cfg(feature = "service")]
    Logs(LogsOptions),
    /// Wait until jobs of a service have ended; the exit status is 1 if one did not succeed
    #[cfg(feature = "service")]
    Wait(JobsOptions),
    /// Make, list and remove the tokens of a service
    #[cfg(feature = "service")]
    Token(TokenCommands),
    /// Serve a node of a pilot: `run --on slurm` starts it there
    #[command(hide = true)]
    Agent(AgentOptions),
    /// Compute a shard of `compare`, which starts it with --on or --shards
    #[command(hide = true)]
    Shard(ShardCommand),
    /// Measure a command at several allotments and fit its speed-up
    Profile(ProfileOptions),
    /// Show, forget or export what earlier runs took
    History(HistoryOptions),
    /// Look at a cluster that Slurm runs
    Slurm(SlurmCommands),
    /// Draw a random instance
    Generate(GenerateOptions),
    /// Convert an instance to another format
    Convert(ConvertOptions),
    /// List the algorithms, or explain one
    Algorithms(AlgorithmsOptions),
    /// Print the completions of a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Install manual pages and the completions of shells for this user
    Setup(SetupOptions),
}

/// The options of `setup`.
#[derive(Args)]
pub struct SetupOptions {
    /// Write below share in this folder, such as /usr/local for everybody [default: this user's, ~/.local]
    #[arg(long, value_name = "FOLDER")]
    pub prefix: Option<PathBuf>,
    /// Remove what was installed
    #[arg(long)]
    pub remove: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For programs; stable and documented in docs/formats.md
    Json,
}

/// Which instance, and how it is read.
#[derive(Args)]
pub struct InstanceOptions {
    /// Instance: a list of commands, native JSON or TOML, SWF, a workflow, a project or another format; - is standard input
    ///
    /// Formats are known by their content: shell commands one a line, native JSON or TOML, SWF, an ETC matrix, workflows (.json, .dax,
    /// .stg, .dot, .xml), projects of PSPLIB (.sm, .mm, .rcp), published moldable sets; all also .gz or .bz2. The word slurm, or a folder
    /// with what Slurm's commands printed, is the queue of a cluster: what waits, beside what runs
    pub instance: PathBuf,
    #[command(flatten)]
    pub machines: MachineOptions,
    /// Trace of a run of Nextflow (-with-trace), for its graph in DOT (-with-dag)
    #[arg(hide_short_help = true, long, value_name = "TRACE.txt")]
    pub nextflow_trace: Option<PathBuf>,
    /// Make the jobs of a log moldable by this law, such as amdahl:0.05
    ///
    /// linear, amdahl:SERIAL, power:EXPONENT, downey:A,SIGMA, downey:random or fitted
    #[arg(long, value_name = "LAW")]
    pub speedup: Option<SpeedupSpec>,
    /// Seed of downey:random
    #[arg(hide_short_help = true, long, value_name = "SEED", default_value_t = 0, allow_negative_numbers = true)]
    pub speedup_seed: u64,
    /// Refuse a file of which something would be ignored, skipped or changed, and warnings of make
    #[arg(long)]
    pub strict: bool,
}

/// Where pictures and tables of a schedule go.
#[derive(Args)]
pub struct PictureOptions {
    /// Write a Gantt chart as a picture: .svg, .png or .pdf. It may be asked for several times
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.svg")]
    pub gantt: Vec<PathBuf>,
    /// Write a report as one HTML page
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Write the jobs as CSV in the columns of Batsim and evalys
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.csv")]
    pub jobs: Option<PathBuf>,
    /// Write names into CSV as they are
    ///
    /// Names that a spreadsheet takes for formulas (they begin with = + - or @) are otherwise written behind an apostrophe
    #[arg(help_heading = "Files that are written", hide_short_help = true, long)]
    pub raw_names: bool,
}

#[derive(Args)]
pub struct PlanOptions {
    #[command(flatten)]
    pub input: InstanceOptions,
    /// Algorithm, such as demt or list[order=saf] [default: optimise, and of bags of tasks on a tree steady-state]
    ///
    /// See `makespan algorithms`
    #[arg(long, short, value_name = "SPEC")]
    pub algorithm: Option<String>,
    #[command(flatten)]
    pub search: SearchOptions,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Take times that the instance does not state from this history of earlier runs
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// Write the schedule with its bounds as JSON
    #[arg(help_heading = "Files that are written", long, short, value_name = "FILE.json")]
    pub output: Option<PathBuf>,
    /// Write the schedule as an SWF log
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.swf")]
    pub swf: Option<PathBuf>,
    #[command(flatten)]
    pub period: PeriodOptions,
    #[command(flatten)]
    pub pictures: PictureOptions,
    /// What is printed
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// What the default algorithm looks for and for how long.
#[derive(Args)]
pub struct SearchOptions {
    /// What is minimised [default: makespan if a job is a graph or machines differ, otherwise weighted-completion]
    ///
    /// Cost is of graphs and of jobs on one processor, within their deadlines; max-lateness and weighted-lateness are after deadlines;
    /// pareto is makespan against weighted completion
    #[arg(help_heading = "Search", long, value_enum, conflicts_with = "algorithm")]
    pub objective: Option<ObjectiveName>,
    /// How long the command may take, such as 10s: reading, proofs, search and writing [default: 1s]
    ///
    /// At least a quarter of it goes to the search. What cannot be interrupted, such as the first plan and the simplest bounds of a large
    /// instance, is done in any case. Ctrl-C ends it earlier
    #[arg(
        help_heading = "Search",
        long,
        value_name = "TIME",
        conflicts_with = "algorithm",
        allow_hyphen_values = true
    )]
    pub time_limit: Option<String>,
    /// Allow no makespan above this many times the proven bound, such as 1.25
    ///
    /// Best-effort bags are not counted
    #[arg(
        help_heading = "Search",
        long,
        value_name = "FACTOR",
        conflicts_with = "algorithm",
        allow_negative_numbers = true
    )]
    pub makespan_at_most: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ObjectiveName {
    Makespan,
    WeightedCompletion,
    MeanFlow,
    Cost,
    MaxLateness,
    WeightedLateness,
    Pareto,
}

#[derive(Args)]
pub struct BoundOptions {
    #[command(flatten)]
    pub input: InstanceOptions,
    /// How long the search for bounds may take, such as 60s
    ///
    /// The simplest bounds of a large instance are proved in any case
    #[arg(long, value_name = "TIME", default_value = "10s", allow_hyphen_values = true)]
    pub time_limit: String,
    /// What is printed; JSON has the certificates
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

#[derive(Args)]
pub struct VerifyOptions {
    #[command(flatten)]
    pub input: InstanceOptions,
    /// Schedule file, as `plan --output` writes it
    pub schedule: PathBuf,
    /// What is printed
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

#[derive(Args)]
pub struct CompareOptions {
    #[command(flatten)]
    pub input: InstanceOptions,
    /// More instances: then the algorithms are summed up over all of them
    #[arg(value_name = "INSTANCE")]
    pub more: Vec<PathBuf>,
    #[command(flatten)]
    pub shards: ShardOptions,
    /// Folder of the shards, one an algorithm [default: compare-NAME]
    ///
    /// A comparison that was interrupted goes on there
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Algorithms, separated by commas; all of the catalogue when left out
    #[arg(long, short, value_name = "SPECS")]
    pub algorithms: Option<String>,
    /// Write the comparison as a table: .csv, .md or .tex
    ///
    /// CSV has a row for each instance and algorithm, the others are summed up. May be given several times
    #[arg(long, value_name = "FILE.csv")]
    pub table: Vec<PathBuf>,
    /// Write a performance profile over several instances: .svg, .png, .pdf or .csv
    ///
    /// It shows for which share of the instances an algorithm is within a factor of the best. May be given several times
    #[arg(long, value_name = "FILE.svg")]
    pub profile: Vec<PathBuf>,
    /// What the profile compares [default: the makespan, or what else is measured first]
    #[arg(long, value_enum, requires = "profile")]
    pub objective: Option<ObjectiveName>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// What is printed
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

#[derive(Args)]
pub struct RunOptions {
    #[command(flatten)]
    pub source: SourceOptions,
    /// Algorithm that plans, and plans again when a job ends early or late [default: optimise]
    ///
    /// By default it plans for a hundredth of the time of the run, but at most a second, and the plan is kept and improved while the jobs
    /// run. The order of a plan is kept if jobs or their tasks wait for each other
    #[arg(long, short, value_name = "SPEC")]
    pub algorithm: Option<String>,
    /// Policy that decides as jobs come, such as job-flow, instead of a plan that is followed
    ///
    /// What it would do if all times were as estimated stands for the plan
    #[arg(long, value_name = "SPEC", conflicts_with = "algorithm")]
    pub policy: Option<String>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Folder of the run: journal, output of the jobs, report [default: runs/NAME-1, NAME-2 ..]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Accept more processors, memory and GPUs than this machine has
    #[arg(long)]
    pub oversubscribe: bool,
    /// Run each task in a folder of its own below this one, on the disk of its node, such as /tmp
    ///
    /// The files that it reads are copied there before it starts, and those that it writes are copied back when it has succeeded, whole or
    /// not at all. For workflows whose tasks name their files (`WfFormat`). %N stands for the node, %j for the job of Slurm
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<String>,
    #[command(flatten)]
    pub slurm: SlurmOptions,
    #[command(flatten)]
    pub failures: FailureOptions,
    #[command(flatten)]
    pub history: HistoryChoice,
    /// Whether another command has begun it, which tells of its end.
    #[arg(skip)]
    pub is_part: bool,
}

/// The options of `agent`.
#[derive(Args)]
pub struct AgentOptions {
    /// The folder of the run
    #[arg(long, value_name = "DIR")]
    pub folder: PathBuf,
    /// Start the agents of all nodes of this allocation, instead of being one
    #[arg(long)]
    pub head: bool,
    /// With --head, of these nodes only, such as n1,n2
    #[arg(long, value_name = "NODES", requires = "head")]
    pub nodelist: Option<String>,
    /// With --head, how long to stay when the planner has died and nothing is left to do, such as 90s [default: 5m]
    #[arg(long, value_name = "TIME", requires = "head")]
    pub wait: Option<String>,
    /// Run this attempt at a job, for which the present job of Slurm was submitted
    #[arg(long, value_name = "ATTEMPT", conflicts_with = "head")]
    pub job: Option<String>,
}

#[derive(Args)]
pub struct ProfileOptions {
    /// Name of the job entry [default: the program's name]
    #[arg(long)]
    pub name: Option<String>,
    /// Numbers of processors [default: 1, 2, 4 .. and all cores]
    #[arg(long, value_delimiter = ',', value_name = "N,N..")]
    pub allotments: Vec<u32>,
    /// Runs at each allotment; the shortest counts
    #[arg(long, default_value_t = 3, allow_negative_numbers = true)]
    pub repetitions: u32,
    /// Leave out an allotment on which the command takes longer, such as 90s
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// Write an instance file with this one job (.toml or .json)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What is printed
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// The command; {processors} stands for the allotment
    #[arg(last = true, required = true)]
    pub command: Vec<String>,
}

#[derive(Args)]
pub struct ConvertOptions {
    #[command(flatten)]
    pub input: InstanceOptions,
    /// Where to write: .toml, .json, .swf or .etc; .xml for the machines of a tree alone
    pub output: PathBuf,
    /// Read the file as a list of shell commands
    #[arg(long, value_enum, value_name = "list")]
    pub format: Option<InputFormat>,
}

/// The format of a file that its content does not show.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// Shell commands, one a line
    List,
}

#[derive(Args)]
pub struct AlgorithmsOptions {
    /// Explain this one, with an example
    ///
    /// What it does, where it comes from, what is proved of it, and its parameters
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// List all algorithms, policies and heuristics of trees in full
    #[arg(long, conflicts_with = "name")]
    pub all: bool,
    /// What is printed
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}
