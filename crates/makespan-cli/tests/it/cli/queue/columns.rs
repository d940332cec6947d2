//! The width of the output: `COLUMNS`.

use std::path::Path;

use super::{recorded, said, saved};
use crate::cli::sandbox::{Said, Sandbox};

#[test]
fn the_queue_fits_on_80_columns_and_uses_160() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let from = folder.to_str().unwrap();
    let (narrow, wide) = (said(&sandbox, &["--from", from], 80), said(&sandbox, &["--from", from], 160));
    for (said, columns) in [(&narrow, 80), (&wide, 160)] {
        assert_eq!(said.status, Some(0), "{}", said.err);
        assert!(said.out.lines().all(|line| line.chars().count() <= columns), "{}", said.out);
    }
    assert!(wide.out.lines().any(|line| line.chars().count() > 120), "{}", wide.out);
    assert!(
        wide.out.contains("partition") && wide.out.contains("mold") && narrow.out.contains("why not now"),
        "{}",
        wide.out
    );
    assert!(narrow.out.contains("4 nodes (1 away)"), "{}", narrow.out);
    assert!(narrow.out.contains("note: sacct.history.txt is missing"), "{}", narrow.out);
}

#[test]
fn every_verb_keeps_to_the_stated_columns() {
    let sandbox = Sandbox::new();
    saved(&sandbox);
    for columns in [40, 60, 80] {
        let job = said(&sandbox, &["--from", "saved", "--job", "15"], columns).out;
        let mut simulate = sandbox.command("simulate --from saved --policy easy");
        simulate.env("TZ", "UTC").env("COLUMNS", columns.to_string());
        let notes = Said::new("simulate", &simulate.output().unwrap()).succeeds();
        // Texts are wrapped. Tables are not, so they are not checked.
        let notes = notes.lines().skip_while(|line| !line.starts_with("note:")).take_while(|line| !line.is_empty());
        for line in job.lines().chain(notes) {
            // A word is not broken, even if it is longer than a line.
            let is_word = !line.trim_start().contains(' ');
            assert!(is_word || line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}

/// A narrow table has no columns for ranges and reasons. A job takes up to three lines.
#[test]
fn the_queue_fits_on_40_columns() {
    let sandbox = Sandbox::with_small();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/queue");
    for folder in [recorded(), example] {
        let at = |columns: usize| said(&sandbox, &["--from", folder.to_str().unwrap()], columns).succeeds();
        let (text, wide) = (at(40), at(160));
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        let table = || text.lines().skip_while(|line| !line.starts_with("job ")).skip(1).take_while(|l| !l.is_empty());
        let jobs: Vec<&str> = table().filter(|line| !line.starts_with(' ')).collect();
        assert!(jobs.len() > 5 && table().count() <= 3 * jobs.len(), "{text}");
        // Each job has its name, its user and its start, in the order of the wide table.
        let full: Vec<&str> = wide.lines().skip_while(|line| !line.starts_with("job ")).skip(1).collect();
        let full: Vec<&str> =
            full.into_iter().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with(' ')).collect();
        assert_eq!(full.len(), jobs.len());
        for (job, wide) in jobs.iter().zip(full) {
            let words: Vec<&str> = job.split_whitespace().collect();
            assert!(
                words.iter().all(|word| word.contains('…') || wide.contains(word)) && words.len() >= 3,
                "{job}: {wide}"
            );
        }
    }
}

/// A job takes up to two lines, and its request is not in the table.
#[test]
fn a_job_takes_one_or_two_lines_without_its_request() {
    let sandbox = Sandbox::with_small();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/queue");
    for folder in [recorded(), example] {
        for columns in [60, 80, 120, 160] {
            let text = said(&sandbox, &["--from", folder.to_str().unwrap()], columns).out;
            let table =
                || text.lines().skip_while(|line| !line.starts_with("job ")).skip(1).take_while(|l| !l.is_empty());
            let jobs = table().filter(|line| !line.starts_with(' ')).count();
            assert!(jobs > 5 && table().count() <= 2 * jobs && !text.contains("asks for"), "{columns}: {text}");
            assert!(columns < 80 || table().count() <= jobs + 3, "{columns}: {text}");
        }
    }
}
