//! Shortest jobs first.

use makespan_core::{Instance, Objective, ScheduleBuilder, Unsupported};

use super::{check_supported, needs_equal_processors};
use crate::kernel::list::{self, AllottedTask};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// Runs every job on its minimum number of processors, in ascending order of processing time.
///
/// Source: W. E. Smith, Naval Research Logistics Quarterly 3, 1956, DOI 10.1002/nav.3800030106, for one processor.
/// Assumptions: none. Guarantee: none in general. Complexity: O(n log n). Deviations: none.
///
/// ```
/// use makespan_algos::scheduler::ShortestFirst;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Instance, Job, Platform, Profile, Time};
///
/// let job = |name: &str, time| Job::new(name, Profile::rigid(1, Time::from_seconds(time)).unwrap());
/// let instance = Instance::new(Platform::flat(1).unwrap(), vec![job("a", 3), job("b", 1)], vec![]).unwrap();
/// let plan = ShortestFirst.schedule(&instance, &mut Context::default()).unwrap();
/// assert_eq!(plan.into_schedule().unwrap().placements()[0].end, Time::from_seconds(1));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ShortestFirst;

impl Scheduler for ShortestFirst {
    fn name(&self) -> String {
        "shortest-first".into()
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        needs_equal_processors(instance)
    }

    fn guarantee(&self, _instance: &Instance, _objective: Objective) -> Option<Guarantee> {
        None
    }

    fn schedule(&self, instance: &Instance, _context: &mut Context) -> Result<Plan, ScheduleError> {
        check_supported(self, instance)?;
        let allotted = |task| AllottedTask { task, processors: instance.profile(task).min_processors() };
        let mut list: Vec<AllottedTask> = instance.task_ids().map(allotted).collect();
        list.sort_by_key(|entry| instance.profile(entry.task).longest());
        let mut builder = ScheduleBuilder::new(instance);
        list::place(&mut builder, instance, &list, instance.first_release());
        Ok(builder.finish().into())
    }
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Platform, Profile, Time};

    use super::*;
    use crate::catalogue::{ANY_JOBS, Build, Entry, OfScheduler};

    const ENTRY: Entry = Entry {
        name: "shortest-first",
        summary: "every job on its fewest processors, shortest first: weighted completion",
        supports: ANY_JOBS,
        source: "Smith, Naval Research Logistics Quarterly 3, 1956, doi:10.1002/nav.3800030106",
        parameters: &[],
        kind: OfScheduler {
            minimises: &[Objective::WeightedCompletion],
            guarantee: "none",
            compared: &["shortest-first"],
            representatives: &["shortest-first"],
            build: Build::Scheduler(|_| Ok(Box::new(ShortestFirst))),
        },
    };

    static ENTRIES: [Entry; 1] = [ENTRY];

    /// Indents each nonempty line of a text by `by` spaces.
    fn indented(text: &str, by: usize) -> String {
        let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("{:by$}{line}\n", "") };
        text.lines().map(line).collect()
    }

    #[test]
    fn the_guide_shows_this_file_and_this_entry() {
        let (guide, file) =
            (include_str!("../../../../docs/adding-an-algorithm.md"), include_str!("shortest_first.rs"));
        let (code, tests) = file.split_once("\n#[cfg(test)]").unwrap();
        assert!(guide.contains(&indented(code, 4)), "docs/adding-an-algorithm.md has another file");
        let entry = tests.split_once("= Entry {\n").unwrap().1.split_once("    };\n").unwrap().0;
        assert!(guide.contains(entry), "docs/adding-an-algorithm.md has another entry");
    }

    #[test]
    fn it_is_planned_by_its_entry() {
        let job = |name: &str, time| Job::new(name, Profile::rigid(1, Time::from_seconds(time)).unwrap());
        let instance = Instance::new(Platform::flat(1).unwrap(), vec![job("a", 3), job("b", 1)], vec![]).unwrap();
        let scheduler = Entry::made(&ENTRIES, "scheduler", "shortest-first", |entry, spec| match entry.kind.build {
            Build::Scheduler(build) => build(spec),
            Build::Mapper(_) => unreachable!("it is no mapper"),
        });
        let plan = scheduler.unwrap().schedule(&instance, &mut Context::default()).unwrap();
        assert_eq!(plan.into_schedule().unwrap().placements()[0].end, Time::from_seconds(1));
    }
}
