//! The program `makespan-lab`: runs a campaign, or one of its shards.

use std::process::{self, ExitCode};

use clap::{CommandFactory, Parser, Subcommand};
use indicatif::ProgressBar;
use makespan_cli::shards::{self, ShardWork};
use makespan_cli::{
    AgentOptions, INTERRUPTED, SetupOptions, ShardCommand, ShardOptions, agent, bar, complain, emit, enter, setup,
    unknown_argument,
};
use makespan_core::shown;
use makespan_lab::campaign::{NamedCampaign, Progress};
use makespan_lab::{BoundsOptions, CheckedPage};
use miette::{Result, miette};

/// The name of this program.
const PROGRAM: &str = "makespan-lab";

/// Repeat the experiments of a paper, or measure the optimiser
#[derive(Parser)]
#[command(
    name = PROGRAM,
    version,
    after_help = "Write the options of the shards before the campaign: makespan-lab --on slurm --nodes 4 demt --runs 40"
)]
struct Arguments {
    #[command(flatten)]
    shards: ShardOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Campaign(NamedCampaign),
    /// Write a table of proven bounds for the open projects of a folder, with certificates, or check the certificates
    Bounds(BoundsOptions),
    /// Run one shard of a campaign (makespan-lab --on and --shards start this command)
    #[command(hide = true)]
    Shard(ShardCommand),
    /// Serve a node of a pilot (a campaign with --on slurm starts this command on each node)
    #[command(hide = true)]
    Agent(AgentOptions),
    /// Install manual pages and shell completions for this user
    #[command(hide = true)]
    Setup(SetupOptions),
}

fn main() -> ExitCode {
    enter(explain, |_| None, carry_out)
}

fn carry_out(arguments: &Arguments) -> Result<ExitCode> {
    match &arguments.command {
        Command::Campaign(campaign) => play(campaign, &arguments.shards),
        Command::Bounds(options) => bounds(options),
        Command::Shard(options) => shard(options),
        Command::Agent(options) => agent(options),
        Command::Setup(options) => setup(&Arguments::command(), options),
    }
}

/// Returns an error message if the user wrote an option for shards after the name of the campaign.
fn explain(error: &clap::Error, _words: &[String]) -> Option<String> {
    const OPTIONS: [&str; 8] =
        ["--on", "--nodes", "--time", "--account", "--partition", "--slurm", "--pilots", "--shards"];
    let option = unknown_argument(error).filter(|word| OPTIONS.contains(word))?;
    Some(format!(
        "error: unexpected argument '{option}' found; write the options of the shards before the campaign, such as: {PROGRAM} \
         --on slurm --nodes 4 demt"
    ))
}

/// Runs a campaign with a progress bar. Prints the report, the number of runs, and the number of reused runs.
fn play(campaign: &NamedCampaign, options: &ShardOptions) -> Result<ExitCode> {
    match carried_out(campaign, options)? {
        Some(false) => return Ok(ExitCode::from(INTERRUPTED as u8)),
        // The shards have measured all runs, so only the report remains to be written. Signals were already handled
        // while the shards ran.
        Some(true) => {}
        None => listen(campaign)?,
    }
    let mut progress = Bar(bar(0, campaign.unit));
    let summary = campaign.campaign.reproduce(&campaign.folder, &mut progress).map_err(|error| miette!("{error}"))?;
    progress.0.finish_and_clear();
    emit(&format!(
        "{}\n\n{} {} ({} from an earlier campaign); the results are in {}\n",
        summary.text.trim_end(),
        summary.runs,
        campaign.unit,
        summary.reused,
        campaign.folder.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of bounds, or checks its certificates.
fn bounds(options: &BoundsOptions) -> Result<ExitCode> {
    let progress = bar(0, "projects");
    let step = |count: usize| {
        progress.set_length(count as u64);
        progress.inc(1);
    };
    if !options.is_check() {
        let page = options.publish(step).map_err(|error| miette!("{error}"))?;
        progress.finish_and_clear();
        emit(&page)?;
        return Ok(ExitCode::SUCCESS);
    }
    let CheckedPage { valid, infeasible, problems } = options.checked(step).map_err(|error| miette!("{error}"))?;
    progress.finish_and_clear();
    let listed: String = problems.iter().map(|problem| format!("{}\n", shown(problem))).collect();
    let proved = if infeasible > 0 { format!(", infeasible projects: {infeasible}") } else { String::new() };
    emit(&format!("{listed}valid certificates: {valid}{proved}, problems: {}\n", problems.len()))?;
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the shards if the options request shards and some runs are unfinished. Returns `Some(true)` if all shards have
/// finished, `Some(false)` if the user stopped the run, and `None` if no shards were started.
fn carried_out(campaign: &NamedCampaign, options: &ShardOptions) -> Result<Option<bool>> {
    if !options.are_asked() {
        return Ok(None);
    }
    let size = campaign.campaign.size(&campaign.folder).map_err(|error| miette!("{error}"))?;
    if size.missing == 0 {
        return Ok(None);
    }
    let work = ShardWork {
        folder: &campaign.folder,
        identity: campaign.identity().map_err(|error| miette!("{error}"))?,
        parts: size.runs,
        processors: size.processors,
        option: "--output",
    };
    shards::carry_out(&work, options).map(Some)
}

/// Measures the unfinished runs of a shard.
fn shard(options: &ShardCommand) -> Result<ExitCode> {
    let folder = &options.folder;
    shards::shard(options, |plan, shard| {
        let words = std::iter::once(PROGRAM).chain(plan.words.iter().map(String::as_str));
        let Ok(Arguments { command: Command::Campaign(campaign), .. }) = Arguments::try_parse_from(words) else {
            return Err(shards::not_split(folder));
        };
        plan.is_of(&campaign.identity().map_err(|error| miette!("{error}"))?, folder)?;
        campaign.campaign.work(&campaign.folder, shard).map_err(|error| miette!("{error}"))
    })
}

/// Ends the process on Ctrl-C. The journal already contains every finished run.
fn listen(campaign: &NamedCampaign) -> Result<()> {
    let kept = format!(
        "interrupted; the finished {} are kept in {}; run the same command again to continue",
        campaign.unit,
        campaign.folder.display()
    );
    let stop = move || {
        complain(&kept);
        process::exit(INTERRUPTED)
    };
    ctrlc::set_handler(stop).map_err(|error| miette!("cannot listen for Ctrl-C: {error}"))
}

/// The progress bar of a campaign.
struct Bar(ProgressBar);

impl Progress for Bar {
    fn started(&mut self, total: usize, reused: usize) {
        self.0.set_length(total as u64);
        self.0.set_position(reused as u64);
    }

    fn finished(&mut self, done: usize, _total: usize) {
        self.0.set_position(done as u64);
    }
}
