//! Tests of plan files: the checker accepts each file that states a plan and the bounds of its scheduler, even if the
//! scheduler proved no bound or only some bounds.

use makespan_algos::catalogue;
use makespan_algos::{Context, scheduler};
use makespan_core::Instance;
use makespan_verify::check::problems;
use makespan_verify::native::PlanFile;
use makespan_verify::native::schedule::ScheduleFile;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use crate::{graphs, harness, machines, needs};

/// Plans an instance with each scheduler of the catalogue, with and without proofs of all bounds. Checks that the plan
/// file is accepted.
fn check(instance: &Instance) -> TestCaseResult {
    let placing = catalogue().iter().filter(|entry| entry.name != "steady-state");
    for spec in placing.flat_map(|entry| entry.kind.representatives) {
        let scheduler = scheduler(spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
        for prove in [false, true] {
            if scheduler.supports(instance).is_err() {
                continue;
            }
            let mut context = Context { prove, ..Context::with_seed(1) };
            let Ok(plan) = scheduler.schedule(instance, &mut context) else { continue };
            let schedule = plan.into_schedule().unwrap();
            let file = ScheduleFile::new(instance, *spec, schedule).with_bounds(instance, &context.bounds);
            let mut text = Vec::new();
            file.write(instance, &mut text).unwrap();
            let read = PlanFile::read("plan.json", &text, instance);
            let read = read.map_err(|error| TestCaseError::fail(format!("{spec}: {error}")))?;
            prop_assert_eq!(problems(instance, &read), Vec::<String>::new(), "{}", spec);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(40), ..ProptestConfig::default() })]

    #[test]
    fn plan_files_of_jobs_are_accepted(draft in harness::draft::drafts()) {
        check(&draft.instance(1))?;
    }

    #[test]
    fn plan_files_of_graphs_are_accepted(draft in graphs::draft::drafts()) {
        check(&draft.instance(1))?;
    }

    #[test]
    fn plan_files_of_jobs_with_needs_are_accepted(draft in needs::draft::draft()) {
        check(&draft.instance(1).unwrap())?;
    }

    #[test]
    fn plan_files_of_unequal_machines_are_accepted(draft in machines::drafts()) {
        check(&draft.instance(1))?;
    }
}
