//! Compares rules for the memory of jobs ([benches/memory](../../../../benches/memory/README.md)).
//!
//!     cargo run -p makespan-history --example memory -- FIRST-SEED SEEDS

mod machine;
mod random;
mod rules;
mod tasks;

use makespan_history::memory::MemoryRun;

use machine::{Known, simulate};
use rules::Rule;
use tasks::{GIB, KINDS, Task, workflow};

/// Median peaks in MiB of the lists of 60 commands on a machine with 2 GiB.
const TYPICAL: [f64; 2] = [200.0, 300.0];

/// The waste of all tasks of a workflow.
#[derive(Clone, Copy, Default)]
struct Waste {
    /// GiB hours that were reserved and not used, if a killed attempt takes its whole run time.
    whole: f64,
    /// The same amount if a killed attempt takes half of its run time.
    half: f64,
    kills: usize,
}

/// Returns the waste of a rule for the tasks of a workflow, which end one after the other.
fn waste(rule: Rule, tasks: &[Task]) -> Waste {
    let mut runs: Vec<Vec<MemoryRun>> = vec![Vec::new(); KINDS];
    let mut waste = Waste::default();
    for task in tasks {
        let hours = |bytes: f64| bytes / GIB * task.seconds / 3600.0;
        let (peak, mut reserved) = (task.peak as f64, rule.reserve(&runs[task.kind], task));
        while reserved < peak {
            waste.whole += hours(reserved);
            waste.half += hours(reserved) / 2.0;
            waste.kills += 1;
            reserved = rule.raise(reserved, task);
        }
        waste.whole += hours(reserved - peak);
        waste.half += hours(reserved - peak);
        runs[task.kind].push(MemoryRun { peak: task.peak, inputs: Some(task.inputs), is_killed: false });
    }
    waste
}

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [first, count] = numbers[..] else {
        eprintln!("write two numbers: the first seed, and the number of seeds");
        std::process::exit(2);
    };
    let seeds = || first..first + count;
    let workflows: Vec<Vec<Task>> = seeds().map(workflow).collect();
    let used: f64 = workflows.iter().flatten().map(|task| task.peak as f64 / GIB * task.seconds / 3600.0).sum();
    let each = |sum: f64| sum / count as f64;
    let tasks = workflows.iter().map(Vec::len).sum::<usize>() as f64;
    println!(
        "seeds {first}..{}, means of a workflow: {:.0} tasks use {:.0} GiB h",
        first + count - 1,
        each(tasks),
        each(used)
    );
    println!("{:<26}{:>14}{:>14}{:>8}", "rule", "wasted GiB h", "(half time)", "kills");
    for rule in Rule::ALL {
        let of: Vec<Waste> = workflows.iter().map(|tasks| waste(rule, tasks)).collect();
        let sum = |value: fn(&Waste) -> f64| each(of.iter().map(value).sum());
        let (whole, half) = (sum(|waste| waste.whole), sum(|waste| waste.half));
        println!("{:<26}{whole:>14.1}{half:>14.1}{:>8.1}", rule.name(), sum(|waste| waste.kills as f64));
    }
    for typical in TYPICAL {
        let heading = format!("60 commands, {typical} MiB");
        println!("\n{heading:<26}{:>14}{:>8}", "makespan (s)", "kills");
        for known in Known::ALL {
            let of: Vec<_> = seeds().map(|seed| simulate(seed, typical / 1024.0 * GIB, known)).collect();
            let makespan = each(of.iter().map(|run| run.makespan).sum());
            let kills = each(of.iter().map(|run| run.kills as f64).sum());
            println!("{:<26}{makespan:>14.1}{kills:>8.1}", known.name());
        }
    }
}
