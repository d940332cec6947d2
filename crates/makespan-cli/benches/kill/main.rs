//! `cargo bench -p makespan-cli --bench kill -- --kills 1000 --seed 1` kills processes at random and counts faults.
//! With `--retries`, all runs have jobs that fail and are retried. `--makespan FILE` names another executable than the
//! one that is built with this benchmark.

mod campaign;
mod check;
mod processes;

use std::path::Path;

use campaign::Campaign;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str, usual: u64| {
        let given = arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
        given.map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} takes a number, not `{text}`")))
    };
    let campaign = Campaign {
        kills: value("--kills", 100) as usize,
        seed: value("--seed", 1),
        tells: true,
        retries: arguments.iter().any(|argument| argument == "--retries"),
    };
    let other = arguments.iter().position(|argument| argument == "--makespan").and_then(|at| arguments.get(at + 1));
    let summary = campaign.run(Path::new(other.map_or(env!("CARGO_BIN_EXE_makespan"), String::as_str)));
    print!("{summary}");
    if !summary.faults.is_empty() {
        std::process::exit(1);
    }
}
