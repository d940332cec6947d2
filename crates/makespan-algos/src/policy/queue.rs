//! The jobs that wait, in order, indexed so that the next one that fits is found without asking all of them.

use makespan_core::{Instance, JobId, JobSet, Time};

use super::order::time_on_equal;
use super::queue_state::Reading;

/// Waiting jobs in the order of a queue. Every job of the instance has a fixed rank in the order; a tree over the ranks
/// knows the least width and the least time of the waiting jobs below each of its nodes.
#[derive(Debug)]
pub(super) struct Queue {
    /// The jobs by rank.
    jobs: Vec<JobId>,
    /// The rank of each job.
    ranks: Vec<u32>,
    /// What each job asks for, by rank.
    asked: Vec<Asked>,
    /// Leaves from `leaves` on, by rank; a node is over nodes `2i` and `2i + 1`.
    tree: Vec<Asked>,
    leaves: usize,
    len: usize,
}

/// Processors and time; of an inner node, the least of each below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub width: u32,
    /// On a platform of equal processors.
    pub time: Time,
}

/// What a job must keep to: it fits into `beside`, or into `free` when it ends in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// Processors that are free now.
    pub free: u32,
    /// How long all of them stay free.
    pub window: Time,
    /// How many of them stay free after that; at most `free`.
    pub beside: u32,
}

impl Gap {
    fn admits(self, Asked { width, time }: Asked) -> bool {
        width <= self.beside || width <= self.free && time <= self.window
    }
}

const NOBODY: Asked = Asked { width: u32::MAX, time: Time::MAX };

impl Queue {
    /// An empty queue for the jobs of this instance.
    pub(super) fn new(instance: &Instance, Reading { order, request, queues }: Reading) -> Self {
        let widths = request.widths(instance);
        let jobs = order.sorted(instance, &widths, queues);
        let mut ranks = vec![0; jobs.len()];
        for (rank, job) in (0..).zip(&jobs) {
            ranks[job.index()] = rank;
        }
        let ask = |&job: &JobId| {
            let width = widths[job.index()];
            Asked { width, time: time_on_equal(instance, job, width) }
        };
        let asked = jobs.iter().map(ask).collect();
        let leaves = jobs.len().next_power_of_two();
        Self { asked, tree: vec![NOBODY; 2 * leaves], leaves, len: 0, jobs, ranks }
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Exactly these wait.
    pub(super) fn reset(&mut self, waiting: &JobSet) {
        self.tree.fill(NOBODY);
        self.len = waiting.len();
        for job in waiting.iter() {
            let rank = self.rank(job);
            self.tree[self.leaves + rank] = self.asked[rank];
        }
        for node in (1..self.leaves).rev() {
            self.tree[node] = least(self.tree[2 * node], self.tree[2 * node + 1]);
        }
    }

    /// The place of a job in the order.
    pub(super) fn rank(&self, job: JobId) -> usize {
        self.ranks[job.index()] as usize
    }

    /// The job at a place in the order.
    pub(super) fn job(&self, rank: usize) -> JobId {
        self.jobs[rank]
    }

    /// What the job at this place asks for.
    pub(super) fn asked(&self, rank: usize) -> Asked {
        self.asked[rank]
    }

    /// Whether the job waits.
    pub(super) fn contains(&self, job: JobId) -> bool {
        self.tree[self.leaves + self.rank(job)].width < u32::MAX
    }

    /// Whether a job waits at this place that the gap admits.
    pub(super) fn admitted(&self, rank: usize, gap: Gap) -> bool {
        gap.admits(self.tree[self.leaves + rank])
    }

    /// Adds a job.
    pub(super) fn insert(&mut self, job: JobId) {
        let rank = self.rank(job);
        if !self.contains(job) {
            self.len += 1;
            self.set(rank, self.asked[rank]);
        }
    }

    /// Takes out the job at this place.
    pub(super) fn remove(&mut self, rank: usize) {
        self.len -= 1;
        self.set(rank, NOBODY);
    }

    fn set(&mut self, rank: usize, asked: Asked) {
        let mut node = self.leaves + rank;
        self.tree[node] = asked;
        while node > 1 {
            node /= 2;
            self.tree[node] = least(self.tree[2 * node], self.tree[2 * node + 1]);
        }
    }

    /// The first place at which a job waits.
    pub(super) fn first(&self) -> Option<usize> {
        self.next(0)
    }

    /// The first place from `from` on at which a job waits.
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        self.search(from, |asked| asked.width < u32::MAX)
    }

    /// The first place from `from` on at which a job waits that the gap admits.
    pub(super) fn next_admitted(&self, from: usize, gap: Gap) -> Option<usize> {
        self.search(from, |asked| gap.admits(asked))
    }

    /// The first leaf from `from` on with the property, which a node must have when a leaf below it has. Nodes to the
    /// right are tried from the bottom up, so that what is found near costs little.
    fn search(&self, from: usize, may: impl Fn(Asked) -> bool) -> Option<usize> {
        if from >= self.leaves {
            return None;
        }
        let mut node = self.leaves + from;
        loop {
            if may(self.tree[node]) {
                if node >= self.leaves {
                    return Some(node - self.leaves);
                }
                node *= 2;
                continue;
            }
            // To the next subtree on the right.
            while node & 1 == 1 {
                node >>= 1;
            }
            if node == 0 {
                return None;
            }
            node += 1;
        }
    }
}

fn least(a: Asked, b: Asked) -> Asked {
    Asked { width: a.width.min(b.width), time: a.time.min(b.time) }
}
