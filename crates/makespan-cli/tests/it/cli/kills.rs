//! The short form of `cargo bench -p makespan-cli --bench kill`: a dozen random kills must cause no fault.

#[path = "../../../benches/kill/campaign.rs"]
mod campaign;
#[path = "../../../benches/kill/check.rs"]
mod check;
#[path = "../../../benches/kill/processes.rs"]
pub mod processes;

use campaign::Campaign;

#[test]
fn a_dozen_random_kills_lose_nothing_and_repeat_nothing() {
    let campaign = Campaign { kills: 12, seed: 20_261_122, tells: false, retries: false };
    let summary = campaign.run(assert_cmd::cargo_bin!("makespan"));
    assert!(summary.faults.is_empty(), "{summary}");
    assert!(summary.total() == 12 && summary.sessions > summary.runs && summary.jobs > 10, "{summary}");
}

fn with_retries(kills: usize, seed: u64) {
    let campaign = Campaign { kills, seed, tells: false, retries: true };
    let summary = campaign.run(assert_cmd::cargo_bin!("makespan"));
    assert!(summary.faults.is_empty() && summary.total() >= kills, "{summary}");
    println!("{summary}");
}

#[test]
fn some_kills_of_a_run_with_retries_lose_nothing_and_repeat_nothing() {
    with_retries(6, 19);
}

/// Run this test with `cargo test -p makespan-cli --test it two_hundred -- --ignored --nocapture`.
#[test]
#[ignore = "long: a minute of kills"]
fn two_hundred_kills_of_runs_with_retries_lose_nothing_and_repeat_nothing() {
    with_retries(200, 2026);
}
