//! `makespan logs`

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use makespan_service::client::Client;
use makespan_service::words::{JobNumber, Stream};
use miette::{Result, miette};

use super::{connect, fail};
use crate::args::LogsOptions;
use crate::output::{complain, harmless};

/// Time between two requests for new output.
const LOOK: Duration = Duration::from_millis(500);

pub fn logs(job: u64, options: &LogsOptions) -> Result<ExitCode> {
    let job = JobNumber(job);
    let task = options.task.unwrap_or(0);
    let client = connect(&options.connection)?;
    let stream = if options.err { Stream::Err } else { Stream::Out };
    let (mut from, mut has_answered) = (0, false);
    loop {
        let part = match client.log(job, task, stream, from) {
            Ok(part) => part,
            // The service may be restarting. The next request continues at the same position.
            Err(error) if options.follow && has_answered && error.is_passing() => {
                std::thread::sleep(LOOK * 4);
                continue;
            }
            Err(error) => return Err(fail(error)),
        };
        has_answered = true;
        from += part.bytes.len() as u64;
        if !printed(&part.bytes)? {
            return Ok(ExitCode::SUCCESS);
        }
        let all = from >= part.size || part.bytes.is_empty();
        if all && (part.ended || !options.follow) {
            if from == 0 && stream == Stream::Out {
                point_to_errors(&client, job, task);
            }
            return Ok(ExitCode::SUCCESS);
        }
        if all {
            std::thread::sleep(LOOK);
        }
    }
}

/// Prints a note if a task wrote to standard error, but not to standard output.
fn point_to_errors(client: &Client, job: JobNumber, number: u64) {
    let errors = client.log(job, number, Stream::Err, 0);
    if errors.is_ok_and(|errors| errors.size > 0) {
        let task = if number == 0 { String::new() } else { format!(" --task {number}") };
        complain(&format!(
            "note: nothing was written to standard output; makespan logs {job}{task} --err prints standard error"
        ));
    }
}

/// Prints bytes. On a terminal, escapes control characters. Returns false if the reader of the output has exited.
fn printed(bytes: &[u8]) -> Result<bool> {
    let mut out = io::stdout().lock();
    let written = if out.is_terminal() {
        out.write_all(harmless(&String::from_utf8_lossy(bytes)).as_bytes())
    } else {
        out.write_all(bytes)
    };
    match written.and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(miette!("cannot write to standard output: {error}")),
    }
}
