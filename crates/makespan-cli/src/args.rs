//! The commands and options of the command line.

mod arguments;
mod doctor;
mod failures;
mod flow;
mod generate;
mod graphs;
mod groups;
mod halt;
mod history;
mod machines;
mod needs;
#[cfg(feature = "service")]
mod operate;
mod printing;
mod project;
mod queue;
mod report;
mod run_help;
#[cfg(feature = "service")]
mod service;
mod setting;
mod shards;
mod simulate;
mod slurm;
mod source;
mod target;
mod time_limit;
mod trees;
mod where_first;

use std::path::{Path, PathBuf};

use clap::{Arg, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use makespan_formats::SpeedupSpec;

pub use arguments::{ArgumentOptions, JobSlots};
pub use doctor::{DoctorOptions, SlurmAction, SlurmCommands};
pub use failures::FailureOptions;
pub use flow::GenerateFlowOptions;
pub use generate::{GenerateEtcOptions, GenerateOptions, Generator, Range};
pub use graphs::GenerateGraphsOptions;
pub use history::{
    HistoryAction, HistoryChoice, HistoryExportOptions, HistoryFilter, HistoryForgetOptions, HistoryListOptions,
    HistoryOptions, MemorySource,
};
pub use machines::{MachineOptions, QUEUE};
pub use needs::NeedsArguments;
#[cfg(feature = "service")]
pub use operate::{
    Quota, ReservationAction, ReservationAddOptions, ReservationCommands, ReservationEndOptions, ServiceAction,
    ServiceCommands, UserAction, UserCommands, UserSetOptions,
};
pub use printing::PrintingOptions;
pub use project::GenerateProjectOptions;
pub use queue::{KnownTimes, QueueFormat, QueueOptions};
pub use report::{ReportFormat, ReportOptions, ReportProperty};
#[cfg(feature = "service")]
pub use service::{
    AnyState, ConnectionOptions, JobsOptions, ServeHttpOptions, ServeOptions, SubmitOptions, TokenAction, TokenCommands,
};
pub use setting::SettingOptions;
pub use shards::{ShardCommand, ShardOptions};
pub use simulate::{EstimatesName, SimulateOptions, SimulationOutputs, StartQuestion, TrainingJobs};
pub use slurm::{RunTarget, SlurmOptions};
pub use source::{SOURCES, STANDARD_INPUT, SourceOptions, TemplateOptions};
pub use target::{JobOptions, JobTarget, LogsOptions};
pub use time_limit::{TimeLimit, WaitTime};
pub use trees::{GenerateTreeOptions, PeriodOptions, TreeRules};
pub use where_first::WhereOptions;

/// Examples at the end of the help of `makespan`.
const EXAMPLES: &str = "\
Examples:
  makespan run commands.txt               run shell commands, one per line
  makespan run -- 'gzip -9 {}' ::: *.txt  run a command for each argument
  makespan plan batch.toml                plan jobs and prove the plan's quality
";

/// Exit statuses of `run`.
const EXIT_STATUS: &str = "\
Exit status, as of GNU parallel:
  0        all jobs succeeded
  1-100    the number of jobs that failed or were not run, in all sessions of the run;
           with --halt ..=1, the status of the job that halted the run;
           with --halt ..=N%, the percentage of jobs that had failed
  101      more than 100 jobs failed or were not run
  129-143  a signal stopped the run: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP;
           143 also if the reader of standard output has ended. --resume continues the run
  255      another error, such as an error in the command line or in the list
";

/// A scheduling engine for clusters and grids: plans jobs, proves how far the plan is from the best possible one, and
/// runs it.
#[derive(Parser)]
#[command(name = "makespan", version, arg_required_else_help = true, after_help = EXAMPLES, help_template = groups::template())]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

/// Adapts an argument that `plan` shares with other commands: for `plan`, a command may follow `--`, and `-a` is short
/// for `--algorithm`.
fn of_plan(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "instance" => arg.index(1).required(false).required_unless_present("template"),
        "template" => arg.index(2),
        "args_from" => arg.short(None),
        _ => arg,
    }
}

#[derive(Subcommand)]
pub enum Command {
    /// Plan an instance and prove how good the plan is
    #[command(mut_args(of_plan))]
    Plan(PlanOptions),
    /// Prove lower bounds without planning
    Bound(BoundOptions),
    /// Check a schedule and its bounds without trusting the program that wrote them
    Verify(VerifyOptions),
    /// Plan with several algorithms and compare the plans
    Compare(CompareOptions),
    /// Simulate a log or an instance under one or several policies
    Simulate(SimulateOptions),
    /// Find the Slurm cluster and the size with which a job would end first
    Where(WhereOptions),
    /// Report core hours, waits and lost work of a log by account, user, partition and month
    Report(ReportOptions),
    /// Run a list of commands, or the jobs of an instance, on this machine or on Slurm
    #[command(after_help = run_help::MORE, after_long_help = EXIT_STATUS, override_usage = run_help::USAGE)]
    #[command(mut_args(run_help::placed), disable_help_flag = true, arg(run_help::option()))]
    Run(Box<RunOptions>),
    /// Show the state of a run from its folder
    Status(StatusOptions),
    /// Run the jobs of several users as a service with a web page
    #[cfg(feature = "service")]
    Serve(ServeOptions),
    /// Submit jobs to a service
    #[cfg(feature = "service")]
    Submit(SubmitOptions),
    /// Show the queue of a service or of a Slurm cluster, with predicted starts
    Queue(QueueOptions),
    /// Show a job of a service and why it does not run now, or a job of a run with its output
    Job(JobOptions),
    /// Cancel jobs of a service
    #[cfg(feature = "service")]
    Cancel(JobsOptions),
    /// Hold jobs of a service until they are released
    #[cfg(feature = "service")]
    Hold(JobsOptions),
    /// Release held jobs of a service
    #[cfg(feature = "service")]
    Release(JobsOptions),
    /// Print the output of a job of a service, or of all jobs of a run
    Logs(LogsOptions),
    /// Wait until jobs of a service have ended; the exit status is 1 if a job did not succeed
    #[cfg(feature = "service")]
    Wait(JobsOptions),
    /// Create, list and remove the tokens of a service
    #[cfg(feature = "service")]
    Token(TokenCommands),
    /// Operate a service: backups, weights and quotas of users, reservations
    #[cfg(feature = "service")]
    Service(ServiceCommands),
    /// Run the agent on a node of a pilot (`run --on slurm` starts this command)
    #[command(hide = true)]
    Agent(AgentOptions),
    /// Compute one shard of a comparison (`compare` with --on or --shards starts this command)
    #[command(hide = true)]
    Shard(ShardCommand),
    /// Measure a command at several allotments and fit its speed-up
    Profile(ProfileOptions),
    /// Show, delete or export the records of earlier runs
    History(HistoryOptions),
    /// Check a Slurm cluster
    Slurm(SlurmCommands),
    /// Draw a random instance
    Generate(GenerateOptions),
    /// Convert an instance to another format
    Convert(ConvertOptions),
    /// List the algorithms, or explain one
    Algorithms(AlgorithmsOptions),
    /// Print completions for a shell
    Completions {
        /// Shell that reads the completions
        shell: Shell,
    },
    /// Install manual pages and the completions of shells for this user
    Setup(SetupOptions),
}

/// Options of `setup`.
#[derive(Args)]
pub struct SetupOptions {
    /// Install below FOLDER/share; /usr/local is for all users [default: ~/.local]
    #[arg(long, value_name = "FOLDER")]
    pub prefix: Option<PathBuf>,
    /// Remove the installed files
    #[arg(long)]
    pub remove: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    Text,
    /// JSON for programs; stable and documented in docs/formats.md
    Json,
}

/// Returns the long help for the instance argument. The help names all formats that can be read.
fn instance_help() -> String {
    format!(
        "Instance: a list of commands, native JSON or TOML, SWF, a workflow, a project or another format; - is standard input\n\nThe \
         content decides the format: {}; all also .gz or .bz2. The word slurm, or a folder with saved output of Slurm's commands, is the \
         queue of a cluster: its pending jobs, which are planned around its running jobs",
        makespan_formats::Format::readable()
    )
}

/// Options that select an instance and state how to read it.
#[derive(Args)]
pub struct InstanceOptions {
    /// Instance: a list of commands, native JSON or TOML, SWF, a workflow, a project or another format; - is standard
    /// input
    #[arg(long_help = instance_help(), required = true)]
    pub instance: Option<PathBuf>,
    #[command(flatten)]
    pub machines: MachineOptions,
    /// For an instance that is the DOT graph of a Nextflow run (-with-dag): the trace of this run (-with-trace)
    #[arg(hide_short_help = true, long, value_name = "TRACE.txt")]
    pub nextflow_trace: Option<PathBuf>,
    /// Make the jobs of a log moldable with this speed-up law, such as amdahl:0.05
    ///
    /// The available laws are linear, amdahl:SERIAL, power:EXPONENT, downey:A,SIGMA, downey:random and fitted
    #[arg(long, value_name = "LAW")]
    pub speedup: Option<SpeedupSpec>,
    /// Seed of downey:random
    #[arg(hide_short_help = true, long, value_name = "SEED", default_value_t = 0, allow_negative_numbers = true)]
    pub speedup_seed: u64,
    /// Refuse a file if a part of it would be ignored, skipped or changed, or if make prints a warning
    #[arg(long)]
    pub strict: bool,
}

impl InstanceOptions {
    /// Returns the path of the instance. `-` is standard input.
    pub fn path(&self) -> &Path {
        self.instance.as_deref().unwrap_or(Path::new(STANDARD_INPUT))
    }
}

/// Output files for pictures and tables of a schedule.
#[derive(Args)]
pub struct PictureOptions {
    /// Write a Gantt chart as a picture: .svg, .png or .pdf. May be given several times
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.svg")]
    pub gantt: Vec<PathBuf>,
    /// Write a report as one HTML page
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Write the jobs as CSV in the columns of Batsim and evalys
    #[arg(help_heading = "Files that are written", long, value_name = "FILE.csv")]
    pub jobs: Option<PathBuf>,
    /// Write names into CSV unchanged
    ///
    /// Without this option, names that a spreadsheet reads as formulas (they begin with = + - or @) get an apostrophe
    /// in front
    #[arg(help_heading = "Files that are written", hide_short_help = true, long)]
    pub raw_names: bool,
}

#[derive(Args)]
pub struct PlanOptions {
    #[command(flatten)]
    pub input: InstanceOptions,
    #[command(flatten)]
    pub template: TemplateOptions,
    /// Algorithm, such as demt or list[order=saf] [default: optimise; steady-state for bags of tasks on a tree]
    ///
    /// `makespan algorithms` lists them
    #[arg(long, short, value_name = "SPEC")]
    pub algorithm: Option<String>,
    #[command(flatten)]
    pub search: SearchOptions,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Maximum number of threads [default: all cores]
    ///
    /// With a number of steps instead of a time limit, the plan does not depend on the number of threads
    #[arg(help_heading = "Search", long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// History of earlier runs, from which to estimate times that the instance does not state
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// Where the memory of jobs comes from: stated, or learned from the peaks in --history
    #[arg(long, value_enum, value_name = "SOURCE", default_value = "stated", requires_if("learned", "history"))]
    pub memory: MemorySource,
    /// Print the critical chains of compound jobs with their windows, and the resolved collisions (critical-jobs)
    #[arg(long)]
    pub explain: bool,
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
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// Objective and limits of the default algorithm.
#[derive(Args)]
pub struct SearchOptions {
    /// Objective to minimise [default: makespan if a job is a graph or machines differ, otherwise weighted-completion]
    ///
    /// cost is available if every job is a graph or runs on one processor. Minimising cost respects the deadlines of
    /// jobs. Objectives about lateness, tardiness and tardy jobs need a job with a due date (`deadline`), and penalties
    /// need a job with a `penalty`. pareto shows the trade-off between makespan and weighted completion
    #[arg(help_heading = "Search", long, value_enum, conflicts_with = "algorithm")]
    pub objective: Option<ObjectiveName>,
    /// Search time, such as 10s, including reading, proofs and writing [default: 1s]
    ///
    /// The search gets at least a quarter of this time. Some steps cannot be interrupted and always finish, such as the
    /// first plan and the simplest bounds of a large instance. Ctrl-C ends the search earlier
    #[arg(
        help_heading = "Search",
        long,
        value_name = "TIME",
        conflicts_with = "algorithm",
        allow_hyphen_values = true
    )]
    pub time_limit: Option<TimeLimit>,
    /// Limit the makespan to this multiple of its proven lower bound, such as 1.25
    ///
    /// The limit does not apply to best-effort bags
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
    MaxTardiness,
    TotalTardiness,
    WeightedTardiness,
    TardyJobs,
    WeightedTardyJobs,
    TotalPenalty,
    MaxPenalty,
    Pareto,
}

#[derive(Args)]
pub struct BoundOptions {
    #[command(flatten)]
    pub input: InstanceOptions,
    /// Search time for bounds, such as 60s
    ///
    /// The simplest bounds are always computed, even if a large instance needs more time
    #[arg(long, value_name = "TIME", default_value = "10s", allow_hyphen_values = true)]
    pub time_limit: TimeLimit,
    /// Output format; JSON includes the certificates
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

#[derive(Args)]
pub struct VerifyOptions {
    #[command(flatten)]
    pub input: InstanceOptions,
    /// Schedule file, as `plan --output` writes it
    pub schedule: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

#[derive(Args)]
pub struct CompareOptions {
    #[command(flatten)]
    pub input: InstanceOptions,
    /// More instances; the comparison then summarises the results over all instances
    #[arg(value_name = "INSTANCE")]
    pub more: Vec<PathBuf>,
    #[command(flatten)]
    pub shards: ShardOptions,
    /// Folder for the shards and the results of each algorithm [default: compare-NAME]
    ///
    /// If the folder contains an interrupted comparison, this comparison is continued
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Algorithms, separated by commas [default: all algorithms]
    #[arg(long, short, value_name = "SPECS")]
    pub algorithms: Option<String>,
    /// Write the comparison as a table: .csv, .md or .tex
    ///
    /// CSV has a row for each instance and algorithm; the other formats have a summary. May be given several times
    #[arg(long, value_name = "FILE.csv")]
    pub table: Vec<PathBuf>,
    /// Write a performance profile over several instances: .svg, .png, .pdf or .csv
    ///
    /// For each factor, the profile shows the share of instances on which an algorithm is within this factor of the
    /// best. May be given several times
    #[arg(long, value_name = "FILE.svg")]
    pub profile: Vec<PathBuf>,
    /// Objective of the performance profile [default: the first objective that was measured, usually makespan]
    #[arg(long, value_enum, requires = "profile")]
    pub objective: Option<ObjectiveName>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

#[derive(Args, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "switches of the command line")]
pub struct RunOptions {
    #[command(flatten)]
    pub source: SourceOptions,
    /// Accept jobs that need more processors, memory or GPUs than this machine has
    #[arg(long)]
    pub oversubscribe: bool,
    #[command(flatten)]
    pub failures: FailureOptions,
    /// Folder of the run: journal, output of the jobs, report [default: runs/NAME-1, NAME-2 ..]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    #[command(flatten)]
    pub printing: PrintingOptions,
    #[command(flatten)]
    pub setting: SettingOptions,
    #[command(flatten)]
    pub slurm: SlurmOptions,
    /// Algorithm that computes a plan, and a new plan when a job ends early or late [default: optimise]
    ///
    /// By default, the first plan takes a hundredth of the run time of the jobs, at most one second, and is improved
    /// while the jobs run. If jobs or tasks wait for each other, the order of the plan is kept
    #[arg(long, short = 'A', value_name = "SPEC")]
    pub algorithm: Option<String>,
    /// Policy that decides which jobs start, such as job-flow, instead of a plan
    ///
    /// The plan in the report is then a simulation of the policy with the estimated times
    #[arg(long, value_name = "SPEC", conflicts_with = "algorithm")]
    pub policy: Option<String>,
    /// Let a metascheduler divide the jobs among the domains in this TOML file, by their prices and the budgets of jobs
    ///
    /// For each domain, the file states the nodes and the price, as for `simulate`. --policy states the metascheduler, such
    /// as job-flow[late=reject] [default: job-flow]
    #[arg(long, value_name = "FILE.toml", conflicts_with = "algorithm")]
    pub domains: Option<PathBuf>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    #[command(flatten)]
    pub history: HistoryChoice,
    /// Where the memory of jobs comes from: stated, or learned from peaks of earlier runs
    ///
    /// With `learned`, a predicted amount replaces the stated amount. A job that is killed for lack of memory is tried
    /// again with twice the memory, in addition to --retry. On this machine, a job without a prediction and a stated
    /// amount holds an equal share of the memory for each of its cores; see docs/history.md
    #[arg(long, value_enum, value_name = "SOURCE", default_value = "stated", conflicts_with = "no_history")]
    pub memory: MemorySource,
    /// Print the commands as the shell gets them, with their cores and needs, in planned order, and run nothing
    #[arg(long, conflicts_with = "resume")]
    pub dry_run: bool,
    /// Run each task in its own folder below DIR, such as /tmp, on the disk of its node
    ///
    /// Input files are copied to this folder before a task starts. If the task succeeds, its output files are copied
    /// back, each completely or not at all. This option is for workflows that name the files of their tasks
    /// (`WfFormat`). %N is the node, and %j is the Slurm job
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<String>,
    /// True if another command started this run and prints its result.
    #[arg(skip)]
    pub is_part: bool,
    /// True if the options were read from the folder of the run.
    #[arg(skip)]
    pub is_from_record: bool,
    /// True if `--resume` was given and there is no run to resume.
    #[arg(skip)]
    pub begins_anew: bool,
}

#[derive(Args)]
pub struct StatusOptions {
    /// The folder of the run [default: the run below runs/ that was active last]
    pub folder: Option<PathBuf>,
}

/// Options of `agent`.
#[derive(Args)]
pub struct AgentOptions {
    /// The folder of the run
    #[arg(long, value_name = "DIR", required_unless_present_any = ["connect", "host"])]
    pub folder: Option<PathBuf>,
    /// Start an agent on each node of this allocation, instead of running as one agent
    #[arg(long)]
    pub head: bool,
    /// With --head, start agents only on these nodes, such as n1,n2
    #[arg(long, value_name = "NODES", requires = "head")]
    pub nodelist: Option<String>,
    /// With --head, time to continue after the planner has died and no work is left, such as 90s [default: 5m]
    #[arg(long, value_name = "TIME", requires = "head", allow_hyphen_values = true)]
    pub wait: Option<WaitTime>,
    /// Run this attempt; the current Slurm job was submitted for it
    #[arg(long, value_name = "ATTEMPT", conflicts_with = "head")]
    pub job: Option<String>,
    /// Connect standard input and output with the agent of this host, as `run --on ssh` does
    #[arg(long, exclusive = true)]
    pub connect: bool,
    /// Run the agent of this host, with its files in this folder
    #[arg(long, value_name = "DIR", exclusive = true)]
    pub host: Option<PathBuf>,
}

#[derive(Args)]
pub struct ProfileOptions {
    /// Name of the job entry [default: the program's name]
    #[arg(long)]
    pub name: Option<String>,
    /// Numbers of processors [default: 1, 2, 4 .. and all cores]
    #[arg(long, value_delimiter = ',', value_name = "N,N..")]
    pub allotments: Vec<u32>,
    /// Number of runs with each number of processors; the shortest run counts
    #[arg(long, default_value_t = 3, allow_negative_numbers = true)]
    pub repetitions: u32,
    /// Time limit of each run, such as 90s; numbers of processors with a longer run are left out
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub timeout: Option<TimeLimit>,
    /// Write an instance file with this one job (.toml or .json)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// The command; {processors} stands for the number of processors
    #[arg(last = true, required = true)]
    pub command: Vec<String>,
}

#[derive(Args)]
pub struct ConvertOptions {
    #[command(flatten)]
    pub input: InstanceOptions,
    /// Output file: .toml, .json, .swf or .etc; an .xml file contains only the machines of a tree
    pub output: PathBuf,
    /// Read the file as a list of shell commands
    #[arg(long, value_enum, value_name = "list")]
    pub format: Option<InputFormat>,
}

/// A format that cannot be detected from the content of a file.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// Shell commands, one per line
    List,
}

#[derive(Args)]
pub struct AlgorithmsOptions {
    /// Explain this algorithm, policy or heuristic, with an example
    ///
    /// The explanation states its purpose, its source, proven properties and parameters
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// List all algorithms, policies and tree heuristics
    #[arg(long, conflicts_with = "name")]
    pub all: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}
