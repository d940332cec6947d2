//! Checks that a search of a fixed number of steps gives the same plan with any number of threads.

use makespan::formats::{ReadOptions, parse_instance};
use makespan::{Planned, Planner};

fn planned(instance: &str, spec: &str, threads: u32) -> Planned {
    let read = parse_instance(instance.as_bytes(), "instance.toml", &ReadOptions::default()).unwrap();
    Planner::new().algorithm(spec).threads(threads).seed(7).plan_unproved(&read.instance).unwrap()
}

/// Returns `count` jobs. `keys` are further keys of each job.
fn jobs(count: u32, keys: impl Fn(u32) -> String) -> String {
    let job = |number: u32| format!("[[jobs]]\nname = \"j{number}\"\nweight = {}\n{}\n", 1 + number % 3, keys(number));
    (0..count).map(job).collect()
}

#[test]
fn the_number_of_threads_does_not_change_a_plan() {
    let time = |number: u32| 3 + 7 * number % 23;
    let moldable = |number| format!("time = [{}, {}, {}]", 2 * time(number), time(number) + 2, time(number));
    let waits = |number: u32| match number {
        0..4 => moldable(number),
        _ => format!("{}\nafter = [\"j{}\"]", moldable(number), number % 4),
    };
    let needs = |number| format!("{}\nneeds = {{ memory = {} }}", moldable(number), 1 + number % 3);
    let node = |speed: u32| format!("[[platform.nodes]]\nname = \"n{speed}\"\nprocessors = 1\nspeed = {speed}\n");
    let version = "version = 2\n";
    for instance in [
        format!("{version}platform = {{ processors = 8 }}\n{}", jobs(12, moldable)),
        format!("{version}platform = {{ processors = 8 }}\n{}", jobs(12, waits)),
        format!("{version}platform = {{ processors = 8, resources = {{ memory = 5 }} }}\n{}", jobs(12, needs)),
        format!("{version}{}{}{}", node(1), node(2), jobs(12, |number| format!("time = {}", time(number)))),
    ] {
        for objective in ["makespan", "weighted-completion"] {
            let spec = format!("optimise[objective={objective},steps=9,searches=3]");
            let [one, two] = [1, 2].map(|threads| planned(&instance, &spec, threads));
            assert_eq!(one.schedule(), two.schedule(), "{spec}: {instance}");
            assert_eq!((&one.bounds, &one.spec), (&two.bounds, &two.spec), "{spec}: {instance}");
        }
    }
    let timed = "optimise[objective=makespan,time-limit=0.1s]";
    let spec = planned(&format!("{version}platform = {{ processors = 2 }}\n{}", jobs(3, moldable)), timed, 2).spec;
    assert_eq!(spec, "optimise[objective=makespan,time-limit=0.1,searches=2]");
}
