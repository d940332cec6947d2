//! `--times`: the source of run times.

use super::{recorded, said};
use crate::cli::sandbox::Sandbox;

#[test]
fn run_times_are_learned_usual_or_limits() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let known = |times: &[&str]| {
        let line = [&["--from", folder.to_str().unwrap(), "--job", "7"], times].concat();
        let text = said(&sandbox, &line, 160).out.split_whitespace().collect::<Vec<_>>().join(" ");
        let json = said(&sandbox, &[&line[..], &["--format", "json"]].concat(), 80).out;
        let document: serde_json::Value = serde_json::from_str(&json).unwrap();
        let job = document["waiting"][0].clone();
        let (seconds, limit) = (job["run_seconds"].as_u64().unwrap(), job["limit_seconds"].as_u64().unwrap());
        let spreads = !job["late"].is_null();
        (job["run_time_from"]["what"].as_str().unwrap().to_owned(), seconds as f64 / limit as f64, spreads, text)
    };
    let (what, part, spreads, text) = known(&["--times", "limits"]);
    assert!(what == "limit" && part > 0.999 && !spreads && text.contains(", its time limit "), "{what} {part} {text}");
    let (what, part, spreads, text) = known(&["--times", "usual"]);
    assert!(what == "usual" && (0.43..0.46).contains(&part) && spreads, "{what} {part}");
    assert!(text.contains("its time limit times the fraction that jobs of public logs use"), "{text}");
    let (what, part, _, text) = known(&[]);
    assert!(
        what == "all"
            && part < 0.4
            && text.contains("of all users used; the usual fraction in public logs is treated as one more job"),
        "{part} {text}"
    );
    let wrong = said(&sandbox, &["--from", folder.to_str().unwrap(), "--times", "guessed"], 80);
    assert!(wrong.status == Some(2) && wrong.err.contains("learned, usual, limits"), "{}", wrong.err);
}

#[test]
fn what_is_learned_is_told_where_something_is_learned() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let told = |times: &[&str]| {
        let said = said(&sandbox, &[&["--from", folder.to_str().unwrap()], times].concat(), 240);
        assert_eq!(said.status, Some(0), "{}", said.err);
        said.out.contains("run times are learned only from jobs that the controller remembers")
    };
    assert!(told(&[]) && told(&["--times", "learned"]));
    assert!(!told(&["--times", "limits"]) && !told(&["--times", "usual"]));
}
