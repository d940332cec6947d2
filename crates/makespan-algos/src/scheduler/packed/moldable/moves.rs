//! The changes that annealing makes to a list.

use rand::{Rng, RngExt};

use super::search::Annealing;

/// Percentage of changes that resize several tasks (change their allotments) that run at the same time. The five
/// percentages `TOGETHER` to `MOVE` sum to 90. The remaining changes resize one task that is drawn from all tasks.
const TOGETHER: u32 = 20;
/// Percentage of changes that shrink a task on a critical path.
const SHRINK: u32 = 20;
/// Percentage of changes that grow a task on a critical path.
const GROW: u32 = 20;
/// Percentage of changes that move a task on a critical path forward in the order.
const ADVANCE: u32 = 20;
/// Percentage of changes that move a task that is drawn from all tasks.
const MOVE: u32 = 10;
/// Number of attempts to find tasks that run at the same time as a resized task.
const LOOKS: usize = 24;
/// Maximum distance in the order between a resized task and a task that runs at the same time.
const FAR: usize = 64;
/// Probability with which a change that resizes several tasks ends, each time another task has given or taken
/// processors.
const ENOUGH: f64 = 0.3;
/// Probability with which a task that shrinks also moves forward in the order.
const ALSO: f64 = 0.3;

impl Annealing<'_> {
    /// Draws a change. If the change is possible, applies it.
    pub(super) fn change(&mut self) {
        let tasks = self.present.problem().tasks() as u32;
        let processors = self.present.problem().instance().processors();
        let kind = self.random.random_range(0..100);
        let bounds = [TOGETHER, SHRINK, GROW, ADVANCE, MOVE].iter().scan(0, |sum, share| {
            *sum += share;
            Some(*sum)
        });
        match bounds.take_while(|&bound| bound <= kind).count() {
            0 => self.resize_together(),
            1 => {
                let task = self.critical();
                let less = distance(&mut self.random, self.present.processors(task) / 2);
                self.resize(task, -i64::from(less));
                if self.random.random_bool(ALSO) {
                    let places = distance(&mut self.random, tasks);
                    self.present.advance(task, places as usize);
                }
            }
            2 => {
                let task = self.critical();
                let more = distance(&mut self.random, processors / 4);
                self.resize(task, i64::from(more));
            }
            3 => {
                let task = self.critical();
                let places = distance(&mut self.random, tasks);
                self.present.advance(task, places as usize);
            }
            4 => {
                let task = self.random.random_range(0..tasks);
                let places = distance(&mut self.random, tasks) as usize;
                if self.random.random_bool(0.5) {
                    self.present.advance(task, places);
                } else {
                    self.present.postpone(task, places);
                }
            }
            _ => {
                let task = self.random.random_range(0..tasks);
                let change = i64::from(distance(&mut self.random, processors / 2));
                let change = if self.random.random_bool(0.5) { change } else { -change };
                self.resize(task, change);
            }
        }
    }

    /// Changes the number of processors of a task by `change`, or by the next larger step that its allotments permit.
    /// Returns the actual change.
    fn resize(&mut self, task: u32, change: i64) -> i64 {
        let problem = self.present.problem();
        let now = i64::from(self.present.processors(task));
        let wanted = u32::try_from((now + change).max(0)).unwrap_or(u32::MAX);
        let choice = if change < 0 { problem.at_most(task, wanted) } else { problem.at_least(task, wanted) };
        self.present.choose(task, choice);
        i64::from(self.present.processors(task)) - now
    }

    /// Gives more processors to a task, and fewer to tasks that run at the same time, or does the opposite.
    fn resize_together(&mut self) {
        let problem = self.present.problem();
        let task = self.random.random_range(0..problem.tasks() as u32);
        let most = problem.instance().processors().min(8);
        let change = i64::from(distance(&mut self.random, most));
        let change = if self.random.random_bool(0.5) { change } else { -change };
        let mut left = self.resize(task, change);
        let (start, end) = (self.present.starts()[task as usize], self.present.ends()[task as usize]);
        let (place, tasks) = (self.present.list().place(task), problem.tasks());
        for _ in 0..LOOKS {
            if left == 0 {
                return;
            }
            let far = distance(&mut self.random, FAR as u32) as usize;
            let place = if self.random.random_bool(0.5) { place + far } else { place.wrapping_sub(far) };
            if place >= tasks {
                continue;
            }
            let other = self.present.list().order[place];
            let beside = self.present.starts()[other as usize] < end && self.present.ends()[other as usize] > start;
            if !beside || other == task {
                continue;
            }
            // Take at most the number of processors that is still needed.
            let now = i64::from(self.present.processors(other));
            let choice = problem.at_most(other, u32::try_from((now - left).max(0)).unwrap_or(u32::MAX));
            self.present.choose(other, choice);
            left -= now - i64::from(self.present.processors(other));
            if self.random.random_bool(ENOUGH) {
                return;
            }
        }
    }

    /// Returns a random task on a critical path. The path ends with the last task of a group (all tasks, or the tasks
    /// of one job). Each task on the path starts when the previous task ends, because it waits for that task or for the
    /// processors of that task.
    fn critical(&mut self) -> u32 {
        let Self { present, random, .. } = self;
        let mut task = last(present, random);
        let (mut chosen, mut length) = (task, 1);
        loop {
            let start = present.starts()[task as usize];
            let problem = present.problem();
            let before = problem.before(task).iter().copied();
            let ending = before.filter(|&before| present.ends()[before as usize] == start);
            let next = any_of(ending, random).or_else(|| {
                let ends = present.by_end();
                let first = ends.partition_point(|end| end.0 < start);
                let count = ends[first..].iter().take_while(|end| end.0 == start).count();
                (count > 0).then(|| ends[first + random.random_range(0..count)].1)
            });
            let Some(next) = next else { return chosen };
            task = next;
            length += 1;
            if random.random_range(0..length) == 0 {
                chosen = task;
            }
        }
    }
}

/// If there are several groups (jobs), returns the task that ends last in a random group. Otherwise, returns the task
/// that ends last.
fn last(present: &mut crate::kernel::moldable::ListSchedule<'_>, random: &mut impl Rng) -> u32 {
    let groups = present.measure().groups();
    if groups > 1 {
        let tasks = present.problem().tasks() as u32;
        let group = present.measure().group(random.random_range(0..tasks));
        let of_group = (0..tasks).filter(|&task| present.measure().group(task) == group);
        return of_group.max_by_key(|&task| present.ends()[task as usize]).unwrap_or(0);
    }
    let ends = present.by_end();
    let latest = ends[ends.len() - 1].0;
    let first = ends.partition_point(|end| end.0 < latest);
    ends[random.random_range(first..ends.len())].1
}

/// Returns a random element. All elements are equally probable.
fn any_of(some: impl Iterator<Item = u32>, random: &mut impl Rng) -> Option<u32> {
    let mut chosen = None;
    for (seen, one) in some.enumerate() {
        if random.random_range(0..=seen) == 0 {
            chosen = Some(one);
        }
    }
    chosen
}

/// Returns a random number from one to `most`. The logarithm of the number is uniform, so small numbers are more
/// frequent.
fn distance(random: &mut impl Rng, most: u32) -> u32 {
    (f64::from(most.max(2)).powf(random.random::<f64>()) as u32).max(1)
}
