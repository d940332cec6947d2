//! The account of the cores that are lent to jobs as tokens.
//!
//! Each token stands for one core. A job with `k` cores runs one process without a token, and owns `k - 1` tokens.
//! Cores that no job holds are lent as further tokens. The sum of the cores that jobs hold and of the lent tokens never
//! exceeds the capacity, so a start waits until enough lent tokens are back.
//!
//! A token that a job has not taken can be withdrawn at any time. A token that a job has taken comes back when the job
//! returns it, or when the job has ended.

use std::collections::BTreeMap;

use makespan_core::TaskId;

/// Number of ticks after which a start that is not tried again no longer prevents loans.
const EXPIRY: u64 = 50;

/// Number of ticks for which the cores of a job that has ended are kept for the next start.
const KEPT: u64 = 2;

/// Binary logarithm of the maximum number of ticks for which a job that took no token is served last.
const LONGEST_REST: u32 = 6;

/// The channel through which one job takes and returns tokens.
pub(super) trait TokenChannel {
    /// Returns the number of tokens that the job can take at once.
    fn unread(&self) -> u32;
    /// Adds up to `count` tokens. Returns the number of added tokens.
    fn offer(&mut self, count: u32) -> u32;
    /// Removes up to `count` tokens that the job has not taken. Returns the number of removed tokens.
    fn withdraw(&mut self, count: u32) -> u32;
    /// Removes the tokens that the job returned, and returns their number. If returned tokens are among the unread
    /// tokens, the result is 0.
    fn collect(&mut self) -> u32;
    /// Stores the number of granted tokens for later sessions.
    fn store(&mut self, granted: u32);
}

/// A running job.
#[derive(Debug)]
struct Borrower<C> {
    /// The channel of the job, or `None` if the job takes no tokens.
    channel: Option<C>,
    /// Number of tokens that belong to the job's own cores.
    own: u32,
    /// Number of tokens that are in the channel, or that the job has taken.
    granted: u32,
    /// Number of tokens in the channel at the last look.
    unread: u32,
    /// The tick of the last offer of a lent token.
    offered: u64,
    /// The tick until which the job is served last, because it took no token.
    rests_until: u64,
    /// Number of offers in sequence that the job did not take.
    ignored: u32,
}

impl<C: TokenChannel> Borrower<C> {
    fn new(cores: u32) -> Self {
        let own = cores.saturating_sub(1);
        Self { channel: None, own, granted: 0, unread: 0, offered: 0, rests_until: 0, ignored: 0 }
    }

    /// Returns the number of cores that the job holds.
    fn held(&self) -> u32 {
        1 + self.own.max(self.granted)
    }

    /// Returns the number of lent tokens that the job has not taken.
    fn idle(&self) -> u32 {
        self.unread.min(self.granted.saturating_sub(self.own))
    }

    fn offer(&mut self, count: u32) -> u32 {
        let Some(channel) = self.channel.as_mut().filter(|_| count > 0) else { return 0 };
        // The number is stored first. If this program is killed now, a later session lends too few cores, not too many.
        channel.store(self.granted + count);
        let added = channel.offer(count);
        (self.granted, self.unread) = (self.granted + added, self.unread + added);
        if added < count {
            channel.store(self.granted);
        }
        added
    }

    fn withdraw(&mut self, count: u32) -> u32 {
        let Some(channel) = self.channel.as_mut().filter(|_| count > 0) else { return 0 };
        let removed = channel.withdraw(count).min(self.granted);
        (self.granted, self.unread) = (self.granted - removed, self.unread.saturating_sub(removed));
        channel.store(self.granted);
        removed
    }

    /// Takes in returned tokens, and offers the tokens of the job's own cores again.
    fn settle(&mut self) {
        let Some(channel) = &mut self.channel else { return };
        let (returned, unread) = (channel.collect(), channel.unread());
        if unread < self.unread {
            (self.ignored, self.rests_until) = (0, 0);
        }
        self.unread = unread;
        if returned > 0 {
            // A job that returns more tokens than it took is not trusted: unread tokens remain granted.
            self.granted = self.granted.saturating_sub(returned).max(unread);
            channel.store(self.granted);
        }
        if unread > self.granted {
            channel.withdraw(unread - self.granted);
            self.unread = self.granted;
        }
        self.offer(self.own.saturating_sub(self.granted));
    }
}

/// The cores of a run, and the jobs that hold them.
#[derive(Debug)]
pub(super) struct TokenBank<C> {
    capacity: u32,
    jobs: BTreeMap<TaskId, Borrower<C>>,
    /// The starts that wait for cores, with the tick of the last attempt.
    claims: BTreeMap<TaskId, u64>,
    tick: u64,
    /// Number of cores of ended jobs that are kept for the next start, and the tick from which they may be lent.
    kept: (u32, u64),
    /// True if cores may be lent.
    lends: bool,
}

impl<C: TokenChannel> TokenBank<C> {
    /// Creates the account of this number of cores.
    pub fn new(capacity: u32, lends: bool) -> Self {
        Self { capacity, jobs: BTreeMap::new(), claims: BTreeMap::new(), tick: 0, kept: (0, 0), lends }
    }

    fn free(&self) -> u32 {
        self.capacity.saturating_sub(self.jobs.values().map(Borrower::held).sum())
    }

    /// Reserves cores for a job that is about to start. If too many tokens are lent, returns false and lends no more
    /// tokens until the start was tried again with success.
    pub fn reserve(&mut self, task: TaskId, cores: u32) -> bool {
        self.jobs.values_mut().for_each(Borrower::settle);
        if self.free() < cores {
            self.withdraw_idle();
        }
        let fits = self.free() >= cores;
        if fits {
            self.claims.remove(&task);
            self.kept.0 = self.kept.0.saturating_sub(cores);
            self.jobs.insert(task, Borrower::new(cores));
        } else {
            self.claims.insert(task, self.tick);
        }
        fits
    }

    /// Opens the channel of a job, with the tokens of the job's own cores.
    pub fn open(&mut self, task: TaskId, channel: C) {
        if let Some(job) = self.jobs.get_mut(&task) {
            job.channel = Some(channel);
            job.offer(job.own);
        }
        self.lend();
    }

    /// Adds a running job of an earlier session, with the number of tokens that this session granted.
    pub fn adopt(&mut self, task: TaskId, cores: u32, earlier: Option<(C, u32)>) {
        let mut job = Borrower::new(cores);
        if let Some((channel, granted)) = earlier {
            (job.unread, job.granted, job.channel) = (channel.unread(), granted, Some(channel));
        }
        self.jobs.insert(task, job);
    }

    /// Removes a job that has ended, with all its tokens. Returns its channel. The job's own cores are not lent yet,
    /// because the scheduler may start the next job there at once.
    pub fn close(&mut self, task: TaskId) -> Option<C> {
        self.claims.remove(&task);
        let job = self.jobs.remove(&task)?;
        self.kept = (self.kept.0 + 1 + job.own, self.tick + KEPT);
        self.lend();
        job.channel
    }

    /// Removes all jobs and returns their channels.
    pub fn close_all(&mut self) -> impl Iterator<Item = C> {
        std::mem::take(&mut self.jobs).into_values().filter_map(|job| job.channel)
    }

    /// Takes in returned tokens and lends free cores.
    pub fn update(&mut self) {
        self.jobs.values_mut().for_each(Borrower::settle);
        if self.claims.is_empty() { self.lend() } else { self.withdraw_idle() }
    }

    /// Works as [`Self::update`]. In addition, moves tokens from jobs that did not take them since the last tick to
    /// jobs that took all their tokens.
    pub fn tick(&mut self) {
        self.tick += 1;
        self.claims.retain(|_, tried| *tried + EXPIRY > self.tick);
        if self.kept.1 < self.tick {
            self.kept.0 = 0;
        }
        self.update();
        if self.claims.is_empty() {
            self.move_idle();
        }
    }

    /// Returns the channels of the jobs that may return tokens. If a start waits for tokens, returns only the channels
    /// of the jobs that have taken lent tokens.
    pub fn watched(&self) -> impl Iterator<Item = &C> {
        let is_watched = |job: &&Borrower<C>| job.granted > if self.claims.is_empty() { 0 } else { job.own };
        self.jobs.values().filter(is_watched).filter_map(|job| job.channel.as_ref())
    }

    /// Returns whether a start waits for tokens.
    pub fn is_claimed(&self) -> bool {
        !self.claims.is_empty()
    }

    fn withdraw_idle(&mut self) {
        for job in self.jobs.values_mut() {
            job.withdraw(job.idle());
        }
    }

    /// Lends all free cores that are not kept. A job without unread tokens comes before other jobs, and a job with fewer tokens before a
    /// job with more tokens.
    fn lend(&mut self) {
        if !self.claims.is_empty() || !self.lends {
            return;
        }
        let tick = self.tick;
        for _ in self.kept.0..self.free() {
            let order = |job: &Borrower<C>| {
                (tick < job.rests_until, job.unread, job.granted.saturating_sub(job.own), job.offered)
            };
            let open = self.jobs.iter_mut().filter(|(_, job)| job.channel.is_some());
            let Some((_, job)) = open.min_by_key(|(task, job)| (order(job), **task)) else { return };
            job.offered = tick;
            if job.offer(1) == 0 {
                return;
            }
        }
    }

    /// Moves one lent token to each job without unread tokens, from jobs that did not take them.
    fn move_idle(&mut self) {
        let tick = self.tick;
        let is_hungry = |job: &&mut Borrower<C>| job.channel.is_some() && job.unread == 0 && job.rests_until <= tick;
        let hungry = self.jobs.values_mut().filter(is_hungry).count();
        for _ in 0..hungry {
            let gives = |job: &&mut Borrower<C>| job.idle() > 1 || job.idle() == 1 && job.offered < tick;
            let giver = self.jobs.values_mut().filter(gives).max_by_key(|job| (tick < job.rests_until, job.idle()));
            let Some(giver) = giver else { return };
            if giver.withdraw(1) == 0 {
                return;
            }
            giver.ignored += 1;
            giver.rests_until = tick + (1 << giver.ignored.min(LONGEST_REST));
            self.lend();
        }
    }
}

#[cfg(test)]
mod tests;
