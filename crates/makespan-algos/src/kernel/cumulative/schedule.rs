//! Assigns processors to tasks, if the processors form one pool.

use makespan_core::{Placement, ProcSet, Schedule, TaskId, Time};

use super::CumulativeProblem;

/// An event that changes the number of free processors. At equal instants, tasks end first, then closed periods end,
/// then tasks start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    End(u32),
    Open(usize),
    Start(u32),
}

impl CumulativeProblem<'_> {
    /// Returns the schedule with these starts and modes, which are indexed by task.
    ///
    /// # Panics
    /// Panics if tasks hold more processors than exist. This is a defect of the caller.
    pub fn schedule(&self, starts: &[i64], modes: &[u32]) -> Schedule {
        let classes = self.instance.availability().classes();
        let mut events: Vec<(i64, Event)> = Vec::with_capacity(2 * starts.len());
        for (task, (&start, &mode)) in (0..).zip(starts.iter().zip(modes)) {
            events.push((self.ticks(start), Event::Start(task)));
            events.push((self.ticks(start + self.mode(mode).time), Event::End(task)));
        }
        // If there are several classes of processors, each class opens once and stays open. If there is one class, no
        // task runs while it is closed.
        let open_later = |at: usize| {
            let later = classes[at].closed.iter().find(|closed| closed.1.ticks() > self.origin);
            later.filter(|_| classes.len() > 1).map(|closed| (closed.1.ticks(), Event::Open(at)))
        };
        let opening: Vec<_> = (0..classes.len()).filter_map(open_later).collect();
        let is_later = |at: &usize| opening.iter().any(|one| one.1 == Event::Open(*at));
        let at_once = (0..classes.len()).filter(|at| !is_later(at));
        let mut free = ProcSet::from_intervals(
            at_once.flat_map(|at| classes[at].processors.intervals().iter().copied()).collect(),
        );
        events.extend(opening);
        events.sort_unstable();
        let mut given: Vec<ProcSet> = vec![ProcSet::from_intervals(Vec::new()); starts.len()];
        let mut placements = Vec::with_capacity(starts.len());
        for (at, event) in events {
            match event {
                Event::End(task) => free.insert(&given[task as usize]),
                Event::Open(class) => free.insert(&classes[class].processors),
                Event::Start(task) => {
                    let mode = self.mode(modes[task as usize]);
                    let processors = free.take(mode.processors).expect("the amounts that tasks hold are available");
                    given[task as usize].clone_from(&processors);
                    placements.push(Placement {
                        task: TaskId(task.into()),
                        start: Time::from_ticks(at),
                        end: Time::from_ticks(self.ticks(starts[task as usize] + mode.time)),
                        processors,
                    });
                }
            }
        }
        Schedule::new(placements)
    }
}
