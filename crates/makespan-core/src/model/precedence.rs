//! Which jobs wait for which, where the tasks of compound jobs have become jobs.

use std::ops::Range;

use crate::model::{Job, JobId, Load};

/// What [`crate::Expansion`] knows of an instance whose jobs are tasks: which waits for which and for what data, and the
/// jobs that they are of.
///
/// A job is submitted when it is released and all that it waits for has ended with success. Where it may start then
/// depends on its data: [`crate::View::arrival`].
#[derive(Clone, Debug, PartialEq)]
pub struct Precedence {
    wholes: Vec<Whole>,
    /// For each job the whole that it is of.
    whole: Vec<u32>,
    incoming: Rows,
    outgoing: Rows,
}

/// A job as its user submitted it, or one task of a bag.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// The job itself, with its graph if it is compound.
    pub job: Job,
    /// The first of its tasks; the others follow in the order of the graph.
    pub first: JobId,
}

/// One job waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// The other job.
    pub job: JobId,
    /// What is carried between them.
    pub load: Load,
}

/// The dependences of job `j` are `items[first[j] .. first[j + 1]]`.
#[derive(Clone, Debug, PartialEq)]
struct Rows {
    first: Vec<u32>,
    items: Vec<Dependence>,
}

impl Rows {
    fn of(&self, job: JobId) -> &[Dependence] {
        &self.items[self.first[job.index()] as usize..self.first[job.index() + 1] as usize]
    }

    fn new() -> Self {
        Self { first: vec![0], items: Vec::new() }
    }

    fn close(&mut self) {
        self.first.push(self.items.len() as u32);
    }
}

impl Whole {
    /// The numbers of its tasks.
    pub fn tasks(&self) -> Range<u32> {
        self.first.0..self.first.0 + self.job.tasks_apart()
    }
}

impl Precedence {
    /// Of jobs that become one job for each task of their graph, in this order. O(tasks + edges).
    pub(crate) fn of(jobs: Vec<Job>) -> Self {
        let (mut wholes, mut whole) = (Vec::with_capacity(jobs.len()), Vec::new());
        let (mut incoming, mut outgoing) = (Rows::new(), Rows::new());
        for job in jobs {
            let first = whole.len() as u32;
            let number = |task: u32| JobId(first + task);
            for task in 0..job.tasks_apart() {
                whole.push(wholes.len() as u32);
                if let Some(graph) = &job.graph {
                    let dependence = |task, load| Dependence { job: number(task), load };
                    incoming.items.extend(graph.incoming(task).map(|edge| dependence(edge.from, edge.load)));
                    outgoing.items.extend(graph.outgoing(task).map(|edge| dependence(edge.to, edge.load)));
                }
                incoming.close();
                outgoing.close();
            }
            wholes.push(Whole { job, first: JobId(first) });
        }
        Self { wholes, whole, incoming, outgoing }
    }

    /// What a job waits for, in the order of the edges.
    pub fn incoming(&self, job: JobId) -> &[Dependence] {
        self.incoming.of(job)
    }

    /// What waits for a job, in the order of the edges.
    pub fn outgoing(&self, job: JobId) -> &[Dependence] {
        self.outgoing.of(job)
    }

    /// All dependences, by the job that waits.
    pub fn dependences(&self) -> &[Dependence] {
        &self.incoming.items
    }

    /// The jobs as their users submitted them, in file order.
    pub fn wholes(&self) -> &[Whole] {
        &self.wholes
    }

    /// The position among [`Precedence::wholes`] of that which a job is of.
    pub fn whole_of(&self, job: JobId) -> usize {
        self.whole[job.index()] as usize
    }
}
