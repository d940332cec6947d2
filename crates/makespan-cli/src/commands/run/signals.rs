//! Signals that stop a run.

use std::process::exit;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

use makespan_core::Stop;
use miette::{Result, miette};
use nix::sys::signal::{SigSet, Signal};

/// Signals that ask a program to end.
const ENDING: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// The first signal that was received, or 0.
static FIRST: AtomicI32 = AtomicI32::new(0);

/// True if a signal stops the run. If false, a signal ends the process immediately.
static STOPS_RUN: AtomicBool = AtomicBool::new(false);

/// True if the process continues after its terminal is closed.
static OUTLIVES_TERMINAL: AtomicBool = AtomicBool::new(false);

/// Starts a thread that receives signals. Call this function before the process starts other threads, because threads
/// inherit the set of blocked signals.
///
/// Signals that the process ignored at its start stay ignored, because `nohup` and shells with background jobs rely on
/// this.
pub fn listen() -> Result<Stop> {
    let ignored = ignored(&std::fs::read_to_string("/proc/self/status").unwrap_or_default());
    let signals: SigSet = ENDING.into_iter().filter(|&signal| ignored & bit(signal) == 0).collect();
    let fail = |error: &dyn std::fmt::Display| miette!("cannot listen for signals: {error}");
    signals.thread_block().map_err(|error| fail(&error))?;
    let stop = Stop::default();
    let requested = stop.clone();
    let receive = move || {
        while let Ok(signal) = signals.wait() {
            if signal == Signal::SIGHUP && OUTLIVES_TERMINAL.load(Ordering::Relaxed) {
                continue;
            }
            if !STOPS_RUN.load(Ordering::Relaxed) {
                exit(128 + signal as i32);
            }
            let _ = FIRST.compare_exchange(0, signal as i32, Ordering::Relaxed, Ordering::Relaxed);
            requested.request();
        }
    };
    thread::Builder::new().name("signals".into()).spawn(receive).map_err(|error| fail(&error))?;
    Ok(stop)
}

/// From now on, the first signal ends the running jobs, and the second signal kills them.
pub fn stop_the_run() {
    STOPS_RUN.store(true, Ordering::Relaxed);
}

/// Makes this process continue after its terminal is closed.
pub fn outlive_the_terminal() {
    OUTLIVES_TERMINAL.store(true, Ordering::Relaxed);
}

/// Returns the exit status of a stopped run: 128 plus the number of the first signal. If no signal was received,
/// because standard output was closed, uses the number of SIGTERM.
pub fn status() -> u8 {
    let signal = match FIRST.load(Ordering::Relaxed) {
        0 => Signal::SIGTERM as i32,
        signal => signal,
    };
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Parses the ignored signals in the status file of a process. Each signal is one bit.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn bit(signal: Signal) -> u64 {
    1 << (signal as i32 - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status_of_the_process() {
        let mask = ignored("SigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000002\n");
        let is_ignored: Vec<bool> = ENDING.iter().map(|&signal| mask & bit(signal) != 0).collect();
        assert_eq!(is_ignored, [false, false, true]);
        assert_eq!(ignored(""), 0);
    }
}
