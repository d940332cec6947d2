//! `makespan reproduce`

use std::process::{self, ExitCode};

use indicatif::ProgressBar;
use makespan_lab::campaign::Progress;
use miette::{Result, miette};

use super::shards::{self, Work};
use crate::args::ReproduceOptions;
use crate::output::{INTERRUPTED, complain, emit};
use crate::progress::bar;

/// Plays a campaign with a progress bar, and prints its text, how many runs it has and how many of them it found done.
pub fn reproduce(options: &ReproduceOptions) -> Result<ExitCode> {
    let campaign = &options.campaign;
    match carried_out(options)? {
        Some(false) => return Ok(ExitCode::from(INTERRUPTED as u8)),
        // What is left is short, and the signals are those of the run.
        Some(true) => {}
        None => listen(options)?,
    }
    let mut progress = Bar(bar(0, campaign.unit));
    let summary = campaign.reproduce(&mut progress).map_err(|error| miette!("{error}"))?;
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

/// Has shards do the runs, if that is asked for and any are to be done. Whether all are done.
fn carried_out(options: &ReproduceOptions) -> Result<Option<bool>> {
    if !options.shards.are_asked() {
        return Ok(None);
    }
    let campaign = &options.campaign;
    let size = campaign.size().map_err(|error| miette!("{error}"))?;
    if size.missing == 0 {
        return Ok(None);
    }
    let work = Work {
        folder: &campaign.folder,
        identity: campaign.identity().map_err(|error| miette!("{error}"))?,
        parts: size.runs,
        processors: size.processors,
        option: "--output",
    };
    shards::carry_out(&work, &options.shards).map(Some)
}

/// Ctrl-C ends the process. What is finished is in the journal whenever that is.
fn listen(options: &ReproduceOptions) -> Result<()> {
    let campaign = &options.campaign;
    let kept = format!(
        "interrupted; the {} that were finished are kept in {}, and the same command goes on there",
        campaign.unit,
        campaign.folder.display()
    );
    let stop = move || {
        complain(&kept);
        process::exit(INTERRUPTED)
    };
    ctrlc::set_handler(stop).map_err(|error| miette!("cannot listen for Ctrl-C: {error}"))
}

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
