//! A list of moldable tasks that can be changed, and its schedule.

use super::events::EventList;
use super::given::{EvaluationInput, StartsAndEnds};
use super::measure::{Measure, PartialValue};
use super::tails::Tails;
use super::{List, MoldableProblem, insertion};
use crate::kernel::serial::SerialInsertion;

/// The rule that turns a list into a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListScheme {
    /// Forward in time: whenever a task ends, tasks start in the order of the list while they fit. All processors must
    /// be interchangeable and always open.
    Events,
    /// Task by task: each task is placed at its earliest fit, which may be a gap.
    Insertion,
}

#[derive(Debug)]
enum Builder {
    Events(EventList),
    Insertion(SerialInsertion),
}

/// A list that can be changed, and its schedule. Several changes can be made, evaluated together, and then accepted or
/// undone together. After an acceptance, the list is in the order of the starts.
#[derive(Debug)]
pub struct ListSchedule<'p> {
    problem: &'p MoldableProblem<'p>,
    measure: Measure,
    list: List,
    tails: Tails,
    builder: Builder,
    present: StartsAndEnds,
    tried: StartsAndEnds,
    tally: PartialValue,
    work: i128,
    value: f64,
    /// The changes since the last acceptance, the latest last.
    changes: Vec<Change>,
    /// The first instant that the changes may affect.
    since: i64,
    /// The first position that the changes may affect.
    from: usize,
    /// The tasks by ascending end. Each entry is the end of a task, and the task. The list is empty until
    /// [`ListSchedule::by_end`] is called.
    by_end: Vec<(i64, u32)>,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    /// A task and its previous allotment.
    Choice(u32, u32),
    /// A move of a task from one position to another.
    Shift(usize, usize),
}

impl<'p> ListSchedule<'p> {
    /// Returns the schedule of a list.
    pub fn new(problem: &'p MoldableProblem<'p>, measure: Measure, scheme: ListScheme, list: List) -> Self {
        let tasks = problem.tasks();
        let tails = Tails::new(problem, &measure, &list);
        let area = |task: usize| area(problem, list.chosen[task]);
        let work = (0..tasks).map(area).sum();
        let given = EvaluationInput { problem, measure: &measure, list: &list, tails: &tails, work };
        let builder = match scheme {
            ListScheme::Events => Builder::Events(EventList::new(&given)),
            ListScheme::Insertion => Builder::Insertion(SerialInsertion::new(problem.instance(), tasks)),
        };
        let times = StartsAndEnds { starts: vec![0; tasks], ends: vec![0; tasks] };
        let mut schedule = Self {
            problem,
            measure,
            list,
            tails,
            builder,
            present: times.clone(),
            tried: times,
            tally: PartialValue::default(),
            work,
            value: f64::INFINITY,
            changes: Vec::new(),
            since: i64::MIN,
            from: 0,
            by_end: Vec::new(),
        };
        schedule.build(f64::INFINITY, true);
        schedule.accept();
        schedule
    }

    /// Returns the value of the current schedule, in the unit of the objective. If the objective is a mean, returns
    /// the sum. If the makespan exceeds the limit, the value includes a large penalty.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Returns the measure (the objective) that is minimised.
    pub fn measure(&self) -> &Measure {
        &self.measure
    }

    /// Returns the list with all changes.
    pub fn list(&self) -> &List {
        &self.list
    }

    /// Returns the problem.
    pub fn problem(&self) -> &'p MoldableProblem<'p> {
        self.problem
    }

    /// Returns the start of each task in the current schedule.
    pub fn starts(&self) -> &[i64] {
        &self.present.starts
    }

    /// Returns the end of each task in the current schedule.
    pub fn ends(&self) -> &[i64] {
        &self.present.ends
    }

    /// Returns the tasks by ascending end in the current schedule. Each entry is the end of a task, and the task.
    pub fn by_end(&mut self) -> &[(i64, u32)] {
        if self.by_end.is_empty() {
            self.by_end.extend(self.present.ends.iter().copied().zip(0..));
            self.by_end.sort_unstable();
        }
        &self.by_end
    }

    /// Returns the earliest instant at which a task may start in the current schedule: it is released, and all its
    /// predecessors have ended.
    pub fn ready(&self, task: u32) -> i64 {
        let before = self.problem.before(task).iter().map(|&before| self.present.ends[before as usize]);
        before.fold(self.problem.release(task), i64::max)
    }

    /// Returns the number of processors of a task.
    pub fn processors(&self, task: u32) -> u32 {
        self.problem.choice(self.list.chosen[task as usize]).processors
    }

    /// Changes the allotment of a task.
    pub fn choose(&mut self, task: u32, choice: u32) {
        let old = self.list.chosen[task as usize];
        if old == choice {
            return;
        }
        // A task with a larger allotment does not start earlier.
        let since = if choice > old { self.present.starts[task as usize] } else { self.ready(task) };
        self.since = self.since.min(since);
        self.from = self.from.min(self.list.place(task));
        self.set(task, choice);
        self.changes.push(Change::Choice(task, old));
    }

    /// Moves a task by up to `places` positions toward the beginning of the list, but not past any of its predecessors.
    pub fn advance(&mut self, task: u32, places: usize) {
        let at = self.list.place(task);
        let before = self.problem.before(task).iter().map(|&before| self.list.place(before) + 1);
        let to = before.fold(at.saturating_sub(places), usize::max);
        if to < at {
            self.shift(at, to);
        }
    }

    /// Moves a task by up to `places` positions toward the end of the list, but not past any of its successors.
    pub fn postpone(&mut self, task: u32, places: usize) {
        let at = self.list.place(task);
        let last = self.list.order.len() - 1;
        let behind = self.problem.behind(task).iter().map(|&behind| self.list.place(behind) - 1);
        let to = behind.fold((at + places).min(last), usize::min);
        if to > at {
            self.shift(at, to);
        }
    }

    fn shift(&mut self, from: usize, to: usize) {
        let passed = &self.list.order[from.min(to)..=from.max(to)];
        let since = passed.iter().map(|&task| self.present.starts[task as usize]).min();
        self.since = self.since.min(since.unwrap_or(i64::MIN));
        self.from = self.from.min(from.min(to));
        self.list.shift(from, to);
        self.changes.push(Change::Shift(from, to));
    }

    fn set(&mut self, task: u32, choice: u32) {
        let chosen = &mut self.list.chosen[task as usize];
        self.work += area(self.problem, choice) - area(self.problem, *chosen);
        *chosen = choice;
    }

    /// Returns whether there are changes.
    pub fn is_changed(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Evaluates the changed list. Returns the value of the list, or `None` if the value exceeds `limit`.
    pub fn evaluate(&mut self, limit: f64) -> Option<f64> {
        let changed = self.changes.iter().filter_map(|change| match change {
            Change::Choice(task, _) => Some(*task),
            Change::Shift(..) => None,
        });
        self.tails.update(self.problem, &self.measure, &self.list, changed);
        let value = self.build(limit, false).then(|| self.measure.value(&self.tally));
        value.filter(|&value| value <= limit)
    }

    fn build(&mut self, limit: f64, whole: bool) -> bool {
        let Self { problem, measure, list, tails, builder, present, tried, tally, work, .. } = self;
        let given = EvaluationInput { problem, measure, list, tails, work: *work };
        match builder {
            Builder::Events(events) => {
                events.run(&given, (!whole).then_some((&*present, self.since)), tried, tally, limit)
            }
            Builder::Insertion(serial) => {
                insertion::insert(serial, &given, (!whole).then_some((&*present, self.from)), tried, tally, limit)
            }
        }
    }

    /// Makes the last evaluated schedule the current schedule.
    pub fn accept(&mut self) {
        self.value = self.measure.value(&self.tally);
        std::mem::swap(&mut self.present, &mut self.tried);
        self.tails.accept();
        self.changes.clear();
        self.by_end.clear();
        let starts = &self.present.starts;
        let order = &self.list.order;
        let first = match &mut self.builder {
            Builder::Events(_) => order.partition_point(|&task| starts[task as usize] < self.since),
            Builder::Insertion(serial) => {
                serial.accept(self.from);
                let least = order[self.from..].iter().map(|&task| starts[task as usize]).min().unwrap_or(0);
                let first = order[..self.from].partition_point(|&task| starts[task as usize] <= least);
                serial.forget(first);
                first
            }
        };
        let ends = &self.present.ends;
        self.list.sort_from(first, |task| (starts[task as usize], ends[task as usize], task));
        (self.since, self.from) = (i64::MAX, usize::MAX);
        if !self.problem.is_open() {
            // Evaluate the list again from position `first` on. In the new order, tasks may get other processors. So
            // later tasks may start at other instants.
            self.from = first;
            self.build(f64::INFINITY, false);
            self.value = self.measure.value(&self.tally);
            std::mem::swap(&mut self.present, &mut self.tried);
            if let Builder::Insertion(serial) = &mut self.builder {
                serial.accept(first);
            }
            self.from = usize::MAX;
        }
    }

    /// Undoes the changes since the last acceptance.
    pub fn take_back(&mut self) {
        while let Some(change) = self.changes.pop() {
            match change {
                Change::Choice(task, old) => self.set(task, old),
                Change::Shift(from, to) => self.list.shift(to, from),
            }
        }
        self.tails.undo();
        (self.since, self.from) = (i64::MAX, usize::MAX);
    }
}

/// Returns the area of an allotment, in processor-ticks.
fn area(problem: &MoldableProblem<'_>, choice: u32) -> i128 {
    let choice = problem.choice(choice);
    i128::from(choice.processors) * i128::from(choice.time)
}
