//! Checks that plans and policies keep jobs within nodes: a job that fits on one node is never placed on two.

use makespan::formats::list::read_list;
use makespan::{
    Actual, Instance, Node, Placement, Planner, Platform, Silent, SimulationInput, algorithm_of_run, policy_of_run,
    simulate_policy,
};
use proptest::prelude::*;

/// Generates lists of commands. Each command states a number of cores or a range of numbers. Some commands wait for the
/// previous command.
fn lists() -> impl Strategy<Value = String> {
    let line = (1_u32..7, 0_u32..3, 1_u32..9, any::<bool>());
    prop::collection::vec(line, 2..18).prop_map(|lines| {
        let text = |(index, (cores, more, time, waits)): (usize, &(u32, u32, u32, bool))| {
            let range = if *more > 0 { format!("{cores}-{}", cores + more) } else { cores.to_string() };
            let after = if *waits && index > 0 { format!(" after=j{}", index - 1) } else { String::new() };
            format!("true #: name=j{index} cores={range} time={time}s{after}\n")
        };
        lines.iter().enumerate().map(text).collect()
    })
}

fn within(instance: &Instance, placements: &[Placement]) -> Result<(), TestCaseError> {
    let platform = instance.platform();
    for placement in placements {
        let nodes = platform.parts(&placement.processors).len();
        let fits = placement.processors.len() <= platform.largest_node();
        prop_assert!(!fits || nodes == 1, "{:?} is on {} nodes", placement, nodes);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn no_job_that_fits_a_node_is_on_two(text in lists(), sizes in prop::collection::vec(1_u32..7, 2..5), equal in any::<bool>()) {
        let size = |at: usize| if equal { 4 } else { sizes[at] };
        let nodes = (0..sizes.len()).map(|at| Node::new(format!("n{at}"), size(at))).collect();
        let platform = Platform::new(nodes).unwrap().requiring_compact();
        // Skips lists with a command that needs more processors than the platform has.
        let Ok(instance) = read_list("list", &text, &platform) else { return Ok(()) };
        for algorithm in ["list".to_owned(), algorithm_of_run(&instance)] {
            // Skips lists that the planner rejects because it cannot keep their jobs within nodes.
            let Ok(planned) = Planner::new().algorithm(algorithm).plan_unproved(&instance) else { continue };
            let schedule = planned.schedule().unwrap();
            within(&instance, schedule.placements())?;
            let mut policy = policy_of_run(&instance, 0, schedule);
            // The real times of jobs differ from their estimates.
            let actual = Actual::Factors(instance.task_ids().map(|task| 200_000 + task.0 * 7 % 11 * 300_000).collect());
            let scene = SimulationInput { actual: &actual, ..SimulationInput::new(&instance) };
            let simulated = simulate_policy(&scene, "run", policy.as_mut(), &mut Silent).unwrap();
            let ran: Vec<Placement> = simulated.simulation.trace.runs.iter().map(|run| Placement {
                task: run.task, start: run.start, end: run.end, processors: run.processors.clone(),
            }).collect();
            within(&instance, &ran)?;
        }
    }
}
