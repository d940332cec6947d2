//! `--from`: saved output of Slurm, and its errors and notes.

use std::fs;
use std::path::Path;

use super::{of_queue, recorded, said, saved};
use crate::cli::sandbox::{Said, Sandbox};

#[test]
fn json_of_which_no_job_can_be_read_is_an_error() {
    let sandbox = Sandbox::with_small();
    fs::create_dir(sandbox.path("saved")).unwrap();
    fs::copy(recorded().join("scontrol.nodes-d.txt"), sandbox.path("saved/scontrol.nodes-d.txt")).unwrap();
    fs::write(sandbox.path("saved/squeue.json"), r#"{"jobs": [{"id": 1, "state": "PENDING"}]}"#).unwrap();
    let said = said(&sandbox, &["--from", "saved"], 80);
    let words = said.err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert!(said.status == Some(1) && said.out.is_empty(), "{:?} {}", said.status, said.out);
    assert!(
        words.contains("squeue.json: 1 of 1 record is ignored") && words.contains("squeue --json --states=all"),
        "{words}"
    );
}

#[test]
fn what_is_wrong_is_one_clear_error() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let from = folder.to_str().unwrap();
    fs::create_dir(sandbox.path("empty")).unwrap();
    for (arguments, needle) in [
        (&["--from", "nowhere"][..], "this is not a folder"),
        (&["--from", "empty"], "has no nodes"),
        (&["--from", "slurm"], "scontrol"),
        (&["--from", from, "--watch"], "do not change"),
        (&["--from", from, "--at", "yesterday"], "is not an instant"),
        (&["--from", from, "--report", "page.txt"], "html"),
        (&["--from", "slurm", "--at", "5"], "applies only to saved outputs"),
        (&["--from", from, "--past", "3"], "sacct.history.txt"),
        (&["--from", from, "--at", "9999-12-31"], "beyond the calendar; state an instant"),
        (&["--from", from, "--at", "9223372036854775807"], "beyond the calendar; state an instant"),
        (&["--from", from, "--at", "1970-01-01"], "remove the instant, or state a later one"),
    ] {
        let said = said(&sandbox, arguments, 80);
        assert!(said.status == Some(1) && said.err.contains(needle), "{arguments:?}: {:?} {}", said.status, said.err);
        assert!(said.out.is_empty(), "{}", said.out);
    }
}

#[test]
fn options_that_would_be_ignored_are_refused() {
    let sandbox = Sandbox::with_small();
    for arguments in [&["--state", "held", "--times", "limits"][..], &["--state", "held", "--draws", "5"]] {
        let said = said(&sandbox, arguments, 80);
        assert!(said.status == Some(2) && said.err.contains("cannot be used with"), "{arguments:?}: {}", said.err);
    }
    for arguments in [&["--from", "saved"][..], &["--report", "q.html"], &["--job", "3"]] {
        let said = said(&sandbox, &[&["--state", "running"], arguments].concat(), 80);
        let reason = "--state selects jobs of a service";
        assert!(said.status == Some(2) && said.err.contains("cannot be used with"), "{arguments:?}: {}", said.err);
        assert!(said.err.contains(reason) && said.err.contains("remove --state"), "{arguments:?}: {}", said.err);
    }
    assert!(said(&sandbox, &["--help"], 80).out.contains("For a service: jobs of these states"));
    for option in [["--user", ""], ["--job", ""]] {
        let said = said(&sandbox, &[&["--from", "saved"], &option[..]].concat(), 80);
        assert!(said.status == Some(2) && said.err.contains("a value is required for"), "{option:?}: {}", said.err);
    }
    for option in [&["--job", "5"][..], &["--times", "limits"], &["--draws", "5"], &["--watch"], &["--past", "2"]] {
        let arguments = [&["--url", "http://127.0.0.1:1"], option].concat();
        let said = said(&sandbox, &arguments, 80);
        assert!(said.status == Some(1) && said.err.contains("add --from slurm"), "{arguments:?}: {}", said.err);
    }
}

#[test]
fn for_whom_a_closed_reservation_is_is_said() {
    let sandbox = Sandbox::new();
    saved(&sandbox);
    let text = fs::read_to_string(sandbox.path("saved/scontrol.reservations.txt")).unwrap();
    assert!(text.contains("ReservationName="), "{text}");
    let said = of_queue(&sandbox, "convert FOLDER queue.json").succeeds();
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("no pending job names the reservations") && words.contains("(for user"), "{said}");
}

#[test]
fn a_zone_that_nobody_knows_is_said() {
    let sandbox = Sandbox::new();
    saved(&sandbox);
    for line in ["queue --from FOLDER", "simulate --from FOLDER"] {
        let mut command = sandbox.command(&line.replace("FOLDER", "saved"));
        let said =
            Said::new(line, &command.env("TZ", "Mars/Olympus").env("COLUMNS", "200").output().unwrap()).succeeds();
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("the time zone `Mars/Olympus` (TZ) is unknown: clock times are in UTC"), "{said}");
    }
}

/// The example queue of the documentation shows each kind of reason, without any note about missing or unexpected
/// files.
#[test]
fn the_example_shows_starts_and_reasons() {
    let sandbox = Sandbox::with_small();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/queue");
    let from = folder.to_str().unwrap();
    let queue = said(&sandbox, &["--from", from], 80);
    assert!(queue.status == Some(0) && queue.err.is_empty() && !queue.out.contains("note: "), "{queue:?}");
    let text = queue.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "starts in the next cycle",
        "waits for the end of job 4104",
        "1 job before it",
        "waits for job 4108 to succeed",
        "not before 12:00",
        "reserved (maintenance) from 18:00 on",
        "too few nodes",
        "held by its user",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let job = said(&sandbox, &["--from", from, "--job", "4111"], 80);
    assert!(job.out.contains("with a time limit of at most 9 h it could start now"), "{job:?}");
    assert!(job.out.contains("its nodes are free, but reserved (maintenance) from 18:00 on"), "{job:?}");
}
