//! `makespan reproduce`

use std::process::{self, ExitCode};

use indicatif::ProgressBar;
use makespan_lab::campaign::Progress;
use miette::{Result, miette};

use crate::args::ReproduceOptions;
use crate::output::{INTERRUPTED, complain, emit};
use crate::progress::bar;

/// Plays a campaign with a progress bar, and prints its text, how many runs it has and how many of them it found done.
pub fn reproduce(options: &ReproduceOptions) -> Result<ExitCode> {
    let campaign = &options.campaign;
    // What is finished is in the journal whenever the process ends.
    let kept = format!(
        "interrupted; the {} that were finished are kept in {}, and the same command goes on there",
        campaign.unit,
        campaign.folder.display()
    );
    let stop = move || {
        complain(&kept);
        process::exit(INTERRUPTED)
    };
    ctrlc::set_handler(stop).map_err(|error| miette!("cannot listen for Ctrl-C: {error}"))?;
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
