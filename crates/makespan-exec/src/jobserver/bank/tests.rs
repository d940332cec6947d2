//! Tests of the account with simulated jobs.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use proptest::prelude::*;

use super::*;

/// The state of a simulated job.
#[derive(Debug, Default)]
struct SimulatedJob {
    unread: u32,
    returned: u32,
    used: u32,
    stored: u32,
}

/// A channel with separate or common tokens, as the styles `pipe` and `fifo` have.
#[derive(Clone, Debug)]
struct SimulatedChannel {
    job: Rc<RefCell<SimulatedJob>>,
    is_common: bool,
}

impl SimulatedChannel {
    fn new(is_common: bool) -> Self {
        Self { job: Rc::default(), is_common }
    }

    fn take(&self) -> bool {
        let mut job = self.job.borrow_mut();
        let takes = job.unread > 0;
        if takes {
            (job.unread, job.used) = (job.unread - 1, job.used + 1);
        }
        takes
    }

    fn give_back(&self) {
        let mut job = self.job.borrow_mut();
        if job.used > 0 {
            job.used -= 1;
            *(if self.is_common { &mut job.unread } else { &mut job.returned }) += 1;
        }
    }
}

impl TokenChannel for SimulatedChannel {
    fn unread(&self) -> u32 {
        self.job.borrow().unread
    }

    fn offer(&mut self, count: u32) -> u32 {
        self.job.borrow_mut().unread += count;
        count
    }

    fn withdraw(&mut self, count: u32) -> u32 {
        let mut job = self.job.borrow_mut();
        let count = count.min(job.unread);
        job.unread -= count;
        count
    }

    fn collect(&mut self) -> u32 {
        std::mem::take(&mut self.job.borrow_mut().returned)
    }

    fn store(&mut self, granted: u32) {
        self.job.borrow_mut().stored = granted;
    }
}

/// A change of a simulated run: its kind, a job, and a number.
type Change = (u8, u64, u32);

const CAPACITY: u32 = 6;
const JOBS: u64 = 4;

/// A run with jobs that the scheduler has started, some of which wait for cores.
struct SimulatedRun {
    bank: TokenBank<SimulatedChannel>,
    running: BTreeMap<TaskId, (u32, SimulatedChannel)>,
    waiting: BTreeMap<TaskId, u32>,
    is_common: bool,
}

impl SimulatedRun {
    fn new(is_common: bool) -> Self {
        let bank = TokenBank::new(CAPACITY, true);
        Self { bank, running: BTreeMap::new(), waiting: BTreeMap::new(), is_common }
    }

    fn try_start(&mut self, task: TaskId) {
        let Some(&cores) = self.waiting.get(&task) else { return };
        if self.bank.reserve(task, cores) {
            let channel = SimulatedChannel::new(self.is_common);
            self.bank.open(task, channel.clone());
            self.waiting.remove(&task);
            self.running.insert(task, (cores, channel));
        }
    }

    fn change(&mut self, (kind, task, number): Change) {
        let task = TaskId(task);
        let held = self.running.values().map(|(cores, _)| cores).chain(self.waiting.values()).sum::<u32>();
        let is_new = !self.running.contains_key(&task) && !self.waiting.contains_key(&task);
        match kind {
            // The scheduler starts a job if it knows of enough free processors.
            0 | 1 if is_new && number > 0 && held + number <= CAPACITY => {
                self.waiting.insert(task, number);
                self.try_start(task);
            }
            2 => self.try_start(task),
            3..=5 => drop(self.running.get(&task).map(|(_, channel)| channel.take())),
            6 | 7 => drop(self.running.get(&task).map(|(_, channel)| channel.give_back())),
            8 => self.bank.update(),
            9 => self.bank.tick(),
            10 if self.running.remove(&task).is_some() => drop(self.bank.close(task)),
            // A new session takes over all running jobs.
            11 if number == 0 => {
                self.bank = TokenBank::new(CAPACITY, true);
                for (&task, (cores, channel)) in &self.running {
                    let stored = channel.job.borrow().stored;
                    self.bank.adopt(task, *cores, Some((channel.clone(), stored)));
                }
            }
            _ => {}
        }
    }

    /// Returns the number of processes of all jobs, with the processes that may start at once.
    fn processes(&self) -> u32 {
        let one = |(_, channel): &(u32, SimulatedChannel)| {
            let job = channel.job.borrow();
            1 + job.used + job.unread
        };
        self.running.values().map(one).sum()
    }
}

proptest! {
    /// No more processes run than there are cores, and each waiting start succeeds when lent tokens are returned.
    #[test]
    fn lent_cores_are_never_used_twice(
        is_common: bool,
        changes in prop::collection::vec((0..12_u8, 0..JOBS, 0..4_u32), 0..200),
    ) {
        let mut run = SimulatedRun::new(is_common);
        for change in changes {
            run.change(change);
            prop_assert!(run.processes() <= CAPACITY, "{change:?}");
            for (cores, channel) in run.running.values() {
                let job = channel.job.borrow();
                prop_assert!(job.used + job.unread + job.returned <= job.stored.max(cores - 1));
            }
        }
        for _ in 0..CAPACITY {
            run.running.values().for_each(|(_, channel)| channel.give_back());
        }
        for task in (0..JOBS).map(TaskId) {
            run.try_start(task);
        }
        prop_assert!(run.waiting.is_empty());
        // Without waiting starts, all cores are usable, and a job that takes all its tokens gets them.
        (0..=KEPT).for_each(|_| run.bank.tick());
        prop_assert!(run.running.is_empty() || run.processes() == CAPACITY);
        let Some((&task, _)) = run.running.iter().next() else { return Ok(()) };
        for _ in 0..200 {
            run.change((3, task.0, 0));
            run.bank.tick();
        }
        let own: u32 = run.running.iter().filter(|(other, _)| **other != task).map(|(_, (cores, _))| cores).sum();
        prop_assert_eq!(run.running[&task].1.job.borrow().used, CAPACITY - own - 1);
        // The tokens of a killed job are free when the job has ended.
        run.change((10, task.0, 0));
        run.waiting.insert(task, CAPACITY - own);
        run.try_start(task);
        prop_assert!(run.waiting.is_empty());
    }
}

#[test]
fn a_job_that_takes_no_tokens_loses_them_to_a_job_that_does() {
    let mut bank = TokenBank::new(4, true);
    let channels = [0, 1, 2].map(|_| SimulatedChannel::new(false));
    for (task, channel) in (0..).map(TaskId).zip(&channels) {
        assert!(bank.reserve(task, 1));
        bank.open(task, channel.clone());
    }
    let mut waits = BTreeSet::new();
    for round in 0..300 {
        let ticks = (0..10).take_while(|_| !channels[2].take()).map(|_| bank.tick()).count();
        if round > 10 {
            waits.insert(ticks);
        }
        channels[2].give_back();
        bank.update();
    }
    assert!(waits.iter().all(|ticks| *ticks <= 3), "{waits:?}");
}

#[test]
fn the_cores_of_an_ended_job_are_kept_for_the_next_start() {
    let mut bank = TokenBank::new(2, true);
    let channels = [0, 1].map(|_| SimulatedChannel::new(false));
    for (task, channel) in (0..).map(TaskId).zip(&channels) {
        assert!(bank.reserve(task, 1));
        bank.open(task, channel.clone());
    }
    bank.close(TaskId(1));
    bank.tick();
    assert!(!channels[0].take() && bank.reserve(TaskId(2), 1), "the next job starts at once");
    bank.close(TaskId(2));
    (0..=KEPT).for_each(|_| bank.tick());
    assert!(channels[0].take() && !bank.reserve(TaskId(3), 1), "after some ticks, the core is lent");
}
