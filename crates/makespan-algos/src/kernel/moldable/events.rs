//! Executes lists forward in time. Whenever processors or tasks become available, tasks start in the order of the list
//! while they fit.

use super::given::{EvaluationInput, StartsAndEnds};
use super::measure::PartialValue;

/// Executes lists on processors that are always open. If a changed list gives the same starts as the current list
/// before some instant, the changed list is executed only from this instant on.
///
/// Source: R. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17, 1969, DOI 10.1137/0117039;
/// the parallel scheme of J. Kelley, "The critical-path method: resources planning and scheduling", in Industrial
/// Scheduling, 1963. Complexity: O(n w + edges) for n tasks, if at most w tasks wait or run at the same time.
#[derive(Clone, Debug)]
pub(super) struct EventList {
    /// For each task, the number of its predecessors that have not ended.
    missing: Vec<u32>,
    /// For each task, the number of its predecessors.
    waits: Vec<u32>,
    /// In ascending order, the positions of the tasks that may start: their predecessors have ended, and they have not
    /// started.
    ready: Vec<u32>,
    /// The future events, the latest first.
    coming: Vec<(i64, Event)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    End(u32),
    Release(u32),
}

/// The state at an instant.
struct InstantState {
    at: i64,
    free: u32,
    /// Number of tasks that have started.
    started: usize,
    /// Idle area since the first release: processors times ticks.
    idle: i128,
}

impl EventList {
    pub fn new(given: &EvaluationInput<'_>) -> Self {
        let tasks = given.problem.tasks();
        let waits: Vec<u32> = (0..tasks as u32).map(|task| given.problem.before(task).len() as u32).collect();
        Self { missing: waits.clone(), waits, ready: Vec::new(), coming: Vec::new() }
    }

    /// Executes a list. Returns whether the value of the list is at most `limit`. `present` contains the current
    /// schedule and an instant. The list of the current schedule is sorted by start. Tasks that start before this
    /// instant in the current schedule keep their starts.
    pub fn run(
        &mut self,
        given: &EvaluationInput<'_>,
        present: Option<(&StartsAndEnds, i64)>,
        times: &mut StartsAndEnds,
        tally: &mut PartialValue,
        limit: f64,
    ) -> bool {
        let EvaluationInput { problem, measure, list, tails, .. } = *given;
        let processors = problem.instance().processors();
        // If the makespan is the objective, limit the idle area. The work of all tasks plus the idle area must be at
        // most the area of the platform before `limit`.
        let most_idle = if measure.is_makespan() && limit < i64::MAX as f64 {
            i128::from(limit as i64 - problem.origin()) * i128::from(processors) - given.work
        } else {
            i128::MAX
        };
        if most_idle < 0 {
            return false;
        }
        measure.reset(tally);
        self.missing.copy_from_slice(&self.waits);
        self.coming.clear();
        let mut now = InstantState { at: problem.origin(), free: processors, started: 0, idle: 0 };
        if let Some((present, until)) = present {
            self.keep(given, present, until, times, tally, &mut now);
        }
        self.ready.clear();
        for place in now.started..list.order.len() {
            let task = list.order[place];
            if self.missing[task as usize] == 0 {
                if problem.release(task) > now.at {
                    self.expect(problem.release(task), Event::Release(task));
                } else {
                    self.ready.push(place as u32);
                }
            }
        }
        loop {
            let mut kept = 0;
            let mut asked = 0;
            while asked < self.ready.len() && now.free > 0 {
                let place = self.ready[asked];
                asked += 1;
                let task = list.order[place as usize];
                let choice = problem.choice(list.chosen[task as usize]);
                if choice.processors > now.free {
                    self.ready[kept] = place;
                    kept += 1;
                    continue;
                }
                let end = now.at + choice.time;
                if measure.add(tally, task, end, tails.of(task)) > limit {
                    return false;
                }
                times.set(task, now.at, end);
                now.free -= choice.processors;
                now.started += 1;
                self.expect(end, Event::End(task));
            }
            self.ready.drain(kept..asked);
            if now.started == list.order.len() {
                return true;
            }
            let Some(&(next, _)) = self.coming.last() else { return false };
            now.idle += i128::from(next - now.at) * i128::from(now.free);
            if now.idle > most_idle {
                return false;
            }
            now.at = next;
            self.happen(given, &mut now);
        }
    }

    /// Gives each task that starts before `until` in the current schedule its current start.
    fn keep(
        &mut self,
        given: &EvaluationInput<'_>,
        present: &StartsAndEnds,
        until: i64,
        times: &mut StartsAndEnds,
        tally: &mut PartialValue,
        now: &mut InstantState,
    ) {
        let EvaluationInput { problem, measure, list, tails, .. } = *given;
        let until = until.max(now.at);
        now.idle = i128::from(until - now.at) * i128::from(now.free);
        now.at = until;
        for &task in &list.order {
            let (start, end) = (present.starts[task as usize], present.ends[task as usize]);
            if start >= until {
                break;
            }
            now.started += 1;
            times.set(task, start, end);
            measure.add(tally, task, end, tails.of(task));
            let processors = problem.choice(list.chosen[task as usize]).processors;
            now.idle -= i128::from(end.min(until) - start) * i128::from(processors);
            if end > until {
                now.free -= processors;
                self.coming.push((end, Event::End(task)));
            } else {
                problem.behind(task).iter().for_each(|&behind| self.missing[behind as usize] -= 1);
            }
        }
        self.coming.sort_unstable_by(|a, b| b.cmp(a));
    }

    fn expect(&mut self, at: i64, event: Event) {
        let place = self.coming.partition_point(|coming| coming.0 > at);
        self.coming.insert(place, (at, event));
    }

    /// Processes all events at the current instant.
    fn happen(&mut self, given: &EvaluationInput<'_>, now: &mut InstantState) {
        let EvaluationInput { problem, list, .. } = *given;
        while let Some((_, event)) = self.coming.pop_if(|coming| coming.0 == now.at) {
            let task = match event {
                Event::End(task) => task,
                Event::Release(task) => {
                    self.submit(list.place(task));
                    continue;
                }
            };
            now.free += problem.choice(list.chosen[task as usize]).processors;
            for &behind in problem.behind(task) {
                self.missing[behind as usize] -= 1;
                if self.missing[behind as usize] > 0 {
                    continue;
                }
                if problem.release(behind) > now.at {
                    self.expect(problem.release(behind), Event::Release(behind));
                } else {
                    self.submit(list.place(behind));
                }
            }
        }
    }

    fn submit(&mut self, place: usize) {
        let at = self.ready.partition_point(|&other| (other as usize) < place);
        self.ready.insert(at, place as u32);
    }
}
