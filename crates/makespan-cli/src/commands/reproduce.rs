//! `makespan reproduce`

use std::process::ExitCode;

use indicatif::ProgressBar;
use makespan_lab::campaign::{Instances, Progress};
use makespan_lab::demt::{self, Options};
use miette::{Result, miette};

use crate::args::{Paper, ReproduceOptions};
use crate::output::emit;
use crate::progress::bar;

pub fn reproduce(options: &ReproduceOptions) -> Result<ExitCode> {
    let Paper::Demt { ref output, runs, seed, threads } = options.paper;
    let instances = Instances { seed, ..Instances::paper(runs) };
    let campaign = Options { instances, threads, ..Options::paper(output) };
    let mut progress = Bar(bar(0, "instances"));
    let summary = demt::reproduce(&campaign, &mut progress).map_err(|error| miette!("{error}"))?;
    progress.0.finish_and_clear();
    emit(&format!(
        "{}\n{} instances ({} from an earlier campaign); tables and figures are in {}\n",
        summary.text.trim_end(),
        summary.runs,
        summary.reused,
        output.display()
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
