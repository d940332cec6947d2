//! The critical chains of a graph, the longest first.

use makespan_core::{Dependence, Instance, JobId, TaskId};

use crate::kernel::graph::GraphProblem;

/// A graph of tasks and transfers. Each task has one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chart {
    /// The positive time of each task.
    pub times: Vec<i64>,
    /// The edges: source, target and transfer time. The transfer time is not negative.
    pub edges: Vec<(u32, u32, i64)>,
    /// The tasks in topological order.
    pub order: Vec<u32>,
}

/// A path through a graph, from a task without predecessors to a task without successors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The tasks in the order of the path.
    pub tasks: Vec<u32>,
    /// The edges between the tasks. There is one edge less than there are tasks.
    pub edges: Vec<u32>,
    /// The sum of the times of the tasks and transfers.
    pub length: i64,
}

/// The rule by which chains cover the edges of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cover {
    /// Chains are added until every edge is in a chain. An edge may be in several chains.
    #[default]
    Covering,
    /// Every edge is in exactly one chain.
    Disjoint,
}

impl Chart {
    /// Returns the chart of one job, with the fastest time of each task and the mean transfer time between different
    /// nodes.
    pub fn of(instance: &Instance, problem: &GraphProblem, job: JobId) -> Self {
        let tasks = instance.job(job);
        let fastest = |task: TaskId| problem.times(task.0 as u32).iter().copied().min().unwrap_or(0);
        let number = |task: TaskId| (task.0 - tasks.first().0) as u32;
        let edge = |(edge, at): (&Dependence, u32)| {
            (number(edge.from), number(edge.to), problem.transfers().mean(at).ceil() as i64)
        };
        Self {
            times: tasks.task_ids().map(fastest).collect(),
            edges: instance.edges_of(job).iter().zip(problem.edges_of(job)).map(edge).collect(),
            order: instance.order(job).map(number).collect(),
        }
    }

    /// Returns the chains of this graph, the longest first. Among chains of equal length, the chain through the edge
    /// with the lowest index comes first. The tasks without edges follow, each as a chain, the longest first.
    ///
    /// Source: A. Tselishchev and V. V. Toporkov, "Compound job scheduling and job-flows management in distributed
    /// computing", 54th IWK, Ilmenau 2009, section 3.1. The printed procedure builds a tree of graphs. Each child of a
    /// graph lacks one edge of the graph's longest path. The procedure takes the longest paths of all graphs in the
    /// tree, the longest first, until all edges are covered. The first of these paths that contains an edge is the
    /// longest path through this edge. Thus sorting the edges by the longest path through each edge yields the chains
    /// of the paper. For e edges, sorting takes O(e log e) plus the length of the output, whereas the tree has
    /// exponential size. Deviation: the paper sorts all paths by length, also paths of one task. Here, tasks without
    /// edges come last.
    ///
    /// [`Cover::Disjoint`] follows a sentence of the paper: every edge is to be included once. This rule repeatedly
    /// takes the longest path and removes the edges of this path. Each chain takes O(e).
    pub fn chains(&self, cover: Cover) -> Vec<Chain> {
        let mut chains = match cover {
            Cover::Covering => self.covering(),
            Cover::Disjoint => self.disjoint(),
        };
        let mut touched = vec![false; self.times.len()];
        for &(from, to, _) in &self.edges {
            touched[from as usize] = true;
            touched[to as usize] = true;
        }
        let mut alone: Vec<u32> = (0..self.times.len() as u32).filter(|&task| !touched[task as usize]).collect();
        alone.sort_by_key(|&task| (-self.times[task as usize], task));
        let chain = |task: u32| Chain { tasks: vec![task], edges: Vec::new(), length: self.times[task as usize] };
        chains.extend(alone.into_iter().map(chain));
        chains
    }

    fn covering(&self) -> Vec<Chain> {
        let reach = Reach::new(self, &vec![true; self.edges.len()]);
        let mut order: Vec<u32> = (0..self.edges.len() as u32).collect();
        order.sort_by_key(|&edge| (-reach.through(self, edge), edge));
        let mut covered = vec![false; self.edges.len()];
        let mut chains = Vec::new();
        for edge in order {
            if covered[edge as usize] {
                continue;
            }
            let chain = reach.chain(self, edge);
            chain.edges.iter().for_each(|&edge| covered[edge as usize] = true);
            chains.push(chain);
        }
        chains
    }

    fn disjoint(&self) -> Vec<Chain> {
        let mut left = vec![true; self.edges.len()];
        let mut chains = Vec::new();
        loop {
            let reach = Reach::new(self, &left);
            let open = (0..self.edges.len() as u32).filter(|&edge| left[edge as usize]);
            let Some(edge) = open.min_by_key(|&edge| (-reach.through(self, edge), edge)) else { return chains };
            let chain = reach.chain(self, edge);
            chain.edges.iter().for_each(|&edge| left[edge as usize] = false);
            chains.push(chain);
        }
    }
}

/// For each task, the longest path that ends with the task, and the longest path that begins with the task.
struct Reach {
    /// For each task, the longest path that ends with the task: the length of this path, and its last edge.
    to: Vec<(i64, Option<u32>)>,
    from: Vec<(i64, Option<u32>)>,
}

impl Reach {
    fn new(chart: &Chart, open: &[bool]) -> Self {
        let tasks = chart.times.len();
        let (mut incoming, mut outgoing) = (vec![Vec::new(); tasks], vec![Vec::new(); tasks]);
        for (number, &(from, to, _)) in chart.edges.iter().enumerate().filter(|&(number, _)| open[number]) {
            incoming[to as usize].push(number as u32);
            outgoing[from as usize].push(number as u32);
        }
        let path = |edges: &[u32], ends: &[(i64, Option<u32>)], end: &dyn Fn(&(u32, u32, i64)) -> u32| {
            let lengths = edges.iter().map(|&number| {
                let edge = &chart.edges[number as usize];
                (edge.2 + ends[end(edge) as usize].0, number)
            });
            lengths.min_by_key(|&(length, number)| (-length, number))
        };
        let mut to = vec![(0, None); tasks];
        for &task in &chart.order {
            let best = path(&incoming[task as usize], &to, &|edge| edge.0);
            to[task as usize] = (chart.times[task as usize] + best.map_or(0, |best| best.0), best.map(|best| best.1));
        }
        let mut from = vec![(0, None); tasks];
        for &task in chart.order.iter().rev() {
            let best = path(&outgoing[task as usize], &from, &|edge| edge.1);
            from[task as usize] = (chart.times[task as usize] + best.map_or(0, |best| best.0), best.map(|best| best.1));
        }
        Self { to, from }
    }

    /// Returns the length of the longest path through an edge.
    fn through(&self, chart: &Chart, edge: u32) -> i64 {
        let (from, to, time) = chart.edges[edge as usize];
        self.to[from as usize].0 + time + self.from[to as usize].0
    }

    fn chain(&self, chart: &Chart, edge: u32) -> Chain {
        let (first, last, _) = chart.edges[edge as usize];
        let (mut edges, mut at) = (vec![edge], first);
        while let (_, Some(number)) = self.to[at as usize] {
            edges.push(number);
            at = chart.edges[number as usize].0;
        }
        edges.reverse();
        at = last;
        while let (_, Some(number)) = self.from[at as usize] {
            edges.push(number);
            at = chart.edges[number as usize].1;
        }
        let mut tasks = vec![chart.edges[edges[0] as usize].0];
        tasks.extend(edges.iter().map(|&number| chart.edges[number as usize].1));
        Chain { tasks, edges, length: self.through(chart, edge) }
    }
}
