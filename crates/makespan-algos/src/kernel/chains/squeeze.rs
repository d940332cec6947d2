//! A schedule of one job that ends in time, where lists and chains find none.

use makespan_core::FreeTime;

use super::draft::Draft;
use super::frame::Frame;
use crate::free_time::Calendar;
use crate::kernel::graph::{NEVER, Place, ProcessorId};

/// Larger jobs are not searched: that is hopeless, and as deep as they are large.
const MAX_TASKS: usize = 64;

/// A search that places one task after the other and goes back where no processor is left for a task.
struct Search<'a> {
    draft: Draft<'a>,
    /// From the start of each task to the end of the job, all that waits for it at its fastest and all data over their
    /// shortest way.
    tails: Vec<i64>,
    end: i64,
    /// Tasks of the job that each task waits for and that have no place.
    open: Vec<u32>,
    /// Tasks without a place that wait for none, and how many are placed.
    ready: Vec<u32>,
    placed: usize,
    /// How many places may still be tried.
    left: u64,
}

/// What became of a branch.
enum Found {
    All,
    Nothing,
    OutOfSteps,
}

/// What a search in depth says of a job.
#[derive(Clone, Debug)]
pub enum Squeezed<'a> {
    /// Every task is placed, in time.
    Found(Draft<'a>),
    /// There is no schedule in time.
    Impossible,
    /// Steps ended before the search did, or the job is too large for it.
    Unknown,
}

/// The job with every task placed and its end not after `end`, on processors that are free as `calendars` say, if one is met
/// within so many places tried: small jobs are searched through, and those of more than 64 tasks are not searched.
///
/// Tasks are placed in every order, each as early as its data and its processor allow. Of a schedule in time the tasks by
/// start, on their processors, are such an order, and none comes later in it: so one is found if there is one and steps
/// last. A branch is left when a task that waits for nothing more fits nowhere in time. O(m (k + log c)) for each place on m
/// processors of c busy periods for a task that waits for k others.
pub fn squeeze<'a>(frame: &'a Frame<'a>, calendars: &[Calendar], end: i64, steps: u64) -> Squeezed<'a> {
    let tasks = frame.tasks();
    if tasks > MAX_TASKS {
        return Squeezed::Unknown;
    }
    let mut tails = vec![0; tasks];
    for &task in frame.chart.order.iter().rev() {
        let after = frame.outgoing(task).map(|to| frame.least_transfer(to.edge) + tails[to.task as usize]);
        tails[task as usize] = frame.chart.times[task as usize] + after.max().unwrap_or(0);
    }
    let open: Vec<u32> = (0..tasks as u32).map(|task| frame.incoming(task).count() as u32).collect();
    let ready = (0..tasks as u32).filter(|&task| open[task as usize] == 0).collect();
    let draft = Draft::new(frame, calendars.to_vec());
    let mut search = Search { draft, tails, end, open, ready, placed: 0, left: steps };
    match search.descend() {
        Found::All => Squeezed::Found(search.draft),
        Found::Nothing => Squeezed::Impossible,
        Found::OutOfSteps => Squeezed::Unknown,
    }
}

impl Search<'_> {
    fn descend(&mut self) -> Found {
        let frame = self.draft.frame();
        if self.placed == frame.tasks() {
            return Found::All;
        }
        let mut options: Vec<(u32, Vec<(i64, Place)>)> = Vec::with_capacity(self.ready.len());
        for &task in &self.ready {
            let own = self.options(task);
            if own.is_empty() {
                return Found::Nothing;
            }
            options.push((task, own));
        }
        // What has the least room first, and earlier ends first.
        let room = |own: &[(i64, Place)]| own.first().map_or(0, |&(end, _)| end);
        let key = |&(task, ref own): &(u32, Vec<(i64, Place)>)| {
            let time = frame.chart.times[task as usize];
            (self.end - (self.tails[task as usize] - time) - room(own), task)
        };
        options.sort_by_key(key);
        for (task, own) in options {
            for (_, place) in own {
                if self.left == 0 {
                    return Found::OutOfSteps;
                }
                self.left -= 1;
                self.put(task, place);
                match self.descend() {
                    Found::Nothing => self.lift(task),
                    found => return found,
                }
            }
        }
        Found::Nothing
    }

    /// The processors on which a task can still be in time, by its end there.
    fn options(&self, task: u32) -> Vec<(i64, Place)> {
        let frame = self.draft.frame();
        let rest = self.tails[task as usize] - frame.chart.times[task as usize];
        let option = |processor: ProcessorId| {
            let time = frame.time_on(task, processor);
            if time == NEVER {
                return None;
            }
            let arrival = self.draft.arrival(task, processor);
            let start = self.draft.calendars()[processor.index()].earliest_fit(1, time, arrival);
            (start + time + rest <= self.end).then_some((start + time, Place { processor, start }))
        };
        let mut all: Vec<(i64, Place)> = frame.problem().processor_ids().filter_map(option).collect();
        all.sort_by_key(|&(end, place)| (end, place.processor));
        all
    }

    fn put(&mut self, task: u32, place: Place) {
        self.draft.put_on(task, place);
        self.placed += 1;
        self.ready.retain(|&other| other != task);
        for to in self.draft.frame().outgoing(task) {
            self.open[to.task as usize] -= 1;
            if self.open[to.task as usize] == 0 {
                self.ready.push(to.task);
            }
        }
    }

    fn lift(&mut self, task: u32) {
        for to in self.draft.frame().outgoing(task) {
            if self.open[to.task as usize] == 0 {
                self.ready.retain(|&other| other != to.task);
            }
            self.open[to.task as usize] += 1;
        }
        self.ready.push(task);
        self.placed -= 1;
        self.draft.lift(task);
    }
}
