//! Checks the remarks that state why the complete search did not prove a plan optimal.

use makespan::formats::{ReadOptions, parse_instance};
use makespan::{Objective, Planned, Planner, Proof};

/// Plans an instance with the algorithm `optimise` and these parameters.
fn planned(instance: &str, parameters: &str) -> Planned {
    let read = parse_instance(instance.as_bytes(), "instance.toml", &ReadOptions::default()).unwrap();
    let spec = format!("optimise[{parameters},searches=1]");
    Planner::new().algorithm(spec).plan(&read.instance).unwrap()
}

/// Returns the remark that states why a plan is not proved optimal.
fn remark(instance: &str, parameters: &str) -> Option<String> {
    let remarks = planned(instance, parameters).remarks;
    remarks.into_iter().find(|remark| remark.contains("is not proved optimal"))
}

/// Asserts that a plan is not proved optimal for this reason, and that the remark names the proof of its bound.
fn is_unproved(instance: &str, objective: &str, reason: &str) {
    let remark = remark(instance, &format!("objective={objective},steps=200"));
    let objective = objective.replace('-', " ");
    let expected =
        format!("the {objective} is not proved optimal: the complete search {reason}; its bound is proved by ");
    assert!(remark.as_ref().is_some_and(|remark| remark.starts_with(&expected)), "{remark:?}: {instance}");
}

/// Returns an instance of `count` rigid jobs on 8 processors.
fn rigid(count: u32) -> String {
    let job = |number: u32| {
        let (time, processors, weight) = (3 + 7 * number % 13, 1 + 5 * number % 7, 1 + 3 * number % 5);
        format!(
            "[[jobs]]\nname = \"j{number}\"\ntime = {time}\nprocessors = {processors}\nweight = {weight}\ndeadline = {time}\n"
        )
    };
    format!("version = 2\nplatform = {{ processors = 8 }}\n{}", (0..count).map(job).collect::<String>())
}

#[test]
fn features_that_are_not_supported() {
    let speeds = r#"
        version = 2
        platform = { nodes = [{ name = "a", processors = 1 }, { name = "b", processors = 1, speed = 1.5 }] }
        jobs = [
            { name = "a", time = 5 }, { name = "b", time = 4 }, { name = "c", time = 3 }, { name = "d", time = 3 },
            { name = "e", time = 3, processors = 2 },
        ]
    "#;
    let reason = "does not support tasks on several processors of a platform with processors that differ";
    is_unproved(speeds, "makespan", reason);
}

#[test]
fn conditions_that_are_ignored() {
    let bag = r#"
        version = 2
        platform = { processors = 2 }
        jobs = [{ name = "bag", count = 3, time = 2, weight = 3 }, { name = "a", time = 3 }, { name = "b", time = 1 }]
    "#;
    is_unproved(bag, "weighted-completion", "ignores the rule that a job ends with its last task");
    let memory = r#"
        version = 2
        platform = { nodes = [
            { name = "a", processors = 2, resources = { memory = 4 } },
            { name = "b", processors = 2, resources = { memory = 4 } },
        ] }
        jobs = [
            { name = "a", time = 3, processors = 2, needs = { per_processor = { memory = 3 } } },
            { name = "b", time = 3, needs = { memory = 2 } },
        ]
    "#;
    is_unproved(memory, "makespan", "ignores the nodes on which tasks need resources");
    // Three processors of a node are too few for two of these jobs.
    let compact = r#"
        version = 2
        platform = { placement = "compact", nodes = [{ name = "a", processors = 3 }, { name = "b", processors = 3 }] }
        jobs = [
            { name = "a", time = 3, processors = 2 }, { name = "b", time = 3, processors = 2 },
            { name = "c", time = 3, processors = 2 },
        ]
    "#;
    is_unproved(compact, "makespan", "ignores the placement of jobs on nodes");
    // At different instants, different processors are unavailable.
    let closed = r#"
        version = 2
        platform = { processors = 2 }
        unavailable = [{ processors = "0", start = 0, end = 1 }, { processors = "1", start = 2, end = 4 }]
        jobs = [{ name = "a", time = 5 }, { name = "b", time = 5 }, { name = "c", time = 5 }]
    "#;
    is_unproved(closed, "makespan", "ignores which of the processors are unavailable");
    // Two of the last three tasks run on another node than the first task, or wait for the node of the first task.
    let transfers = r#"
        version = 2
        platform = { nodes = [
            { name = "a", processors = 2 }, { name = "b", processors = 2 }, { name = "c", processors = 2 },
        ] }
        [[jobs]]
        name = "graph"
        tasks = [
            { name = "a", time = 1, processors = 2 }, { name = "b", time = 3, processors = 2 },
            { name = "c", time = 3, processors = 2 }, { name = "d", time = 3, processors = 2 },
        ]
        edges = [
            { from = "a", to = "b", transfer = 1 }, { from = "a", to = "c", transfer = 1 },
            { from = "a", to = "d", transfer = 1 },
        ]
    "#;
    is_unproved(transfers, "makespan", "ignores transfers between nodes");
    // If the bag starts first, the plan ends at 6 s. But a best-effort bag must not delay a job.
    let best_effort = r#"
        version = 2
        platform = { processors = 2 }
        jobs = [{ name = "a", time = 3 }, { name = "b", time = 3 }, { name = "bag", count = 1, time = 6, weight = 0 }]
    "#;
    is_unproved(best_effort, "makespan", "ignores the rule that best-effort bags must not delay other jobs");
    let end = planned(best_effort, "objective=makespan,steps=200").into_schedule().unwrap().makespan();
    assert_eq!(end.seconds().to_string(), "9");
}

#[test]
fn limits_of_the_search() {
    is_unproved(&rigid(30), "weighted-completion", "reached its limit on conflicts");
    let remark = remark(&rigid(40), "objective=weighted-completion,time-limit=0.01").unwrap();
    assert!(remark.contains("the complete search used up its search time"), "{remark}");
    let jobs: String =
        (0..41_u32).map(|number| format!("[[jobs]]\nname = \"j{number}\"\ntime = {}\n", 3 + 7 * number % 13)).collect();
    let nodes = r#"[{ name = "a", processors = 1 }, { name = "b", processors = 2, speed = 1.7 }]"#;
    let speeds = format!("version = 2\nplatform = {{ nodes = {nodes} }}\n{jobs}");
    is_unproved(&speeds, "makespan", "supports at most 40 tasks");
}

#[test]
fn proved_and_large_plans_have_no_such_remark() {
    // Each node has enough memory for one of these tasks, and both nodes together have enough memory for all of them.
    let memory = r#"
        version = 2
        platform = { nodes = [
            { name = "a", processors = 2, resources = { memory = 4 } },
            { name = "b", processors = 2, resources = { memory = 4 } },
        ] }
        jobs = [
            { name = "a", time = 3, needs = { memory = 3 } }, { name = "b", time = 3, needs = { memory = 3 } },
            { name = "c", time = 3, needs = { memory = 2 } },
        ]
    "#;
    assert_eq!(remark(memory, "objective=makespan,steps=200"), None);
    let consumable = r#"
        version = 2
        platform = { processors = 2, consumables = { budget = 3 } }
        jobs = [
            { name = "a", time = [4, 3], needs = { per_processor = { budget = 1 } } },
            { name = "b", time = [4, 2], needs = { per_processor = { budget = 1 } } },
        ]
    "#;
    assert_eq!(remark(consumable, "objective=weighted-completion,steps=200"), None);
    assert_eq!(remark(&rigid(8), "objective=weighted-tardiness,steps=200"), None);
    assert_eq!(remark(&rigid(3), "objective=makespan,steps=200"), None);
    assert_eq!(remark(&rigid(61), "objective=weighted-completion,steps=20"), None);
    // A front has two objectives, so there is no remark about a single objective.
    assert_eq!(remark(&rigid(12), "objective=pareto,steps=20"), None);
}

#[test]
fn only_the_minimised_objective_is_searched() {
    let refuted = |objective: Objective, parameters: &str| {
        let planned = planned(&rigid(8), parameters);
        let mut bounds = planned.bounds.into_iter();
        let bound = bounds.find(|bound| bound.objective == objective).unwrap();
        matches!(bound.proof, Proof::Refutation(_))
    };
    let [makespan, completion] = [Objective::Makespan, Objective::WeightedCompletion];
    for limit in ["steps=100", "time-limit=60"] {
        assert!(refuted(completion, &format!("objective=weighted-completion,{limit}")));
        assert!(!refuted(completion, &format!("objective=makespan,{limit}")));
        assert!(!refuted(makespan, &format!("objective=weighted-completion,{limit}")));
    }
}
