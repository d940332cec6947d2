//! `makespan agent`

use std::process::ExitCode;

use makespan_core::Stop;
use makespan_exec::hosts;
use makespan_slurm::engine::this_program;
use makespan_slurm::jobs::{JobOptions, run_job};
use makespan_slurm::pilot::{self, HeadOptions};
use miette::{Result, miette};

use crate::args::{AgentOptions, WaitTime};

/// Runs `makespan agent`. The options select one of five actions: connect to the agent of a host, run the agent of a
/// host, run the agent of one node of a pilot, start agents on all nodes of an allocation, or run one attempt of a job.
pub fn agent(options: &AgentOptions) -> Result<ExitCode> {
    if options.connect {
        hosts::connect().map_err(|error| miette!("{error}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(folder) = &options.host {
        hosts::serve_agent(folder, &stop_on_signals()?).map_err(|error| miette!("{error}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let folder = options.folder.clone().unwrap_or_default();
    let folder = folder
        .canonicalize()
        .map_err(|error| miette!("{}: {error}; choose a folder that all nodes share", folder.display()))?;
    if options.head {
        let program = this_program().map_err(|error| miette!("{error}"))?;
        let nodes = options.nodelist.clone();
        let wait = options.wait.map_or(HeadOptions::WAIT, |WaitTime(wait)| wait);
        pilot::lead(&HeadOptions { folder, program, nodes, wait }).map_err(|error| miette!("{error}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let stop = stop_on_signals()?;
    if let Some(id) = &options.job {
        let status = run_job(&JobOptions { folder, id: id.clone(), stop }).map_err(|error| miette!("{error}"))?;
        return Ok(ExitCode::from(status));
    }
    pilot::serve(&pilot::AgentOptions { folder, shim: None, stop }).map_err(|error| miette!("{error}"))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a stop request that SIGTERM, SIGINT and SIGHUP set.
fn stop_on_signals() -> Result<Stop> {
    let stop = Stop::default();
    let requested = stop.clone();
    ctrlc::set_handler(move || requested.request()).map_err(|error| miette!("cannot listen for signals: {error}"))?;
    Ok(stop)
}
