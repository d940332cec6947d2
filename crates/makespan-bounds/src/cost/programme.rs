//! The dual function in floating point: its value and its gradient at given prices.

use makespan_core::{Instance, TaskId, Time, task_cost, volume};

use crate::windows::{NEVER, TaskArrays};

/// The kind of node in the choice of a task that may hold several processors. Such a task may run on nodes of several
/// kinds.
pub(super) const SEVERAL: usize = usize::MAX;
/// Maximum difference between the payment of a choice and the least payment, in smoothing widths. The gradient ignores
/// choices with a larger difference.
const REACH: f64 = 16.0;

/// The tasks of all jobs in flat arrays. The unit of time is the time from the first release to the horizon.
pub(super) struct CostProgramme {
    /// The number of kinds of nodes. Nodes of one kind have the same prices.
    pub(super) kinds: usize,
    /// The number of equal periods from the first release to the horizon.
    pub(super) periods: usize,
    /// For each edge, the indices of its two tasks.
    pub(super) edges: Vec<(u32, u32)>,
    tasks: Vec<Row>,
    choices: Vec<Choice>,
    /// For each kind and period, the total available time of the processors of this kind.
    open: Vec<f64>,
}

struct Row {
    count: f64,
    /// The range of the task's choices in `CostProgramme::choices`.
    choices: std::ops::Range<usize>,
}

#[derive(Clone, Copy)]
struct Choice {
    kind: usize,
    time: f64,
    cost: f64,
    head: f64,
    latest: f64,
}

/// The prices of each kind of nodes in each period, and the price of each edge. Prices are per unit of time, which is
/// the time from the first release to the horizon.
#[derive(Clone)]
pub(super) struct Prices {
    pub(super) kinds: Vec<f64>,
    pub(super) edges: Vec<f64>,
}

/// The value and the gradient of the dual function at some prices.
pub(super) struct Point {
    pub(super) value: f64,
    /// The gradient of a smoothed form of the dual function.
    pub(super) rise: Prices,
}

/// Two sums of edge prices for one task: over its incoming edges, and over its outgoing edges.
#[derive(Clone, Copy, Default)]
struct EdgePrices {
    into: f64,
    out: f64,
}

/// A possible start of a task in one of its choices, and the sum of cost and payments for this start.
#[derive(Clone, Copy)]
struct Start {
    choice: usize,
    at: f64,
    paid: f64,
}

impl CostProgramme {
    /// Returns the programme, or `None` if some task cannot end by the horizon.
    pub(super) fn new(instance: &Instance, tasks: &TaskArrays, horizon: Time, periods: usize) -> Option<Self> {
        let first = instance.first_release();
        let unit = (horizon - first).ticks() as f64;
        let share = |ticks: i64| (ticks - first.ticks()) as f64 / unit;
        let mut programme = Self {
            kinds: tasks.kinds,
            periods,
            edges: Vec::new(),
            tasks: Vec::new(),
            choices: Vec::new(),
            open: vec![0.0; tasks.kinds * periods],
        };
        let starts = tasks.starts(horizon.ticks())?;
        let mut begin = 0;
        for id in instance.ids() {
            let job = instance.job(id);
            for task in 0..job.different_tasks() {
                let at = begin + task as usize;
                let span = |kind: usize| match kind {
                    SEVERAL => (tasks.heads[at], tasks.tails[at]),
                    kind => (starts.heads[at * tasks.kinds + kind], starts.tails[at * tasks.kinds + kind]),
                };
                let from = programme.choices.len();
                let profile = instance.profile(job.task(task));
                let volume = volume(profile);
                let cost = |time: i64| task_cost(volume, Time::from_ticks(time)) as f64;
                let mut add = |kind: usize, time: i64, cost: f64| {
                    let (head, tail) = span(kind);
                    let latest = horizon.ticks().saturating_sub(tail);
                    if time < NEVER && head.saturating_add(time) <= latest {
                        let (head, latest) = (share(head), share(latest));
                        programme.choices.push(Choice { kind, time: time as f64 / unit, cost, head, latest });
                    }
                };
                if profile.max_processors() == 1 {
                    tasks.times[at].iter().enumerate().for_each(|(kind, &time)| add(kind, time, cost(time)));
                } else {
                    let slowest = profile.slowest().divided_by(instance.platform().speeds().0);
                    add(SEVERAL, tasks.fastest[at], cost(slowest.ticks()));
                }
                let choices = from..programme.choices.len();
                if choices.is_empty() {
                    return None;
                }
                programme.tasks.push(Row { count: job.equal_tasks() as f64, choices });
            }
            let number = |task: TaskId| begin as u32 + (task.0 - job.first().0) as u32;
            let edges = instance.edges_of(id).iter();
            programme.edges.extend(edges.map(|edge| (number(edge.from), number(edge.to))));
            begin += job.different_tasks() as usize;
        }
        programme.open_up(instance, tasks, &instants(first, horizon, periods));
        Some(programme)
    }

    fn open_up(&mut self, instance: &Instance, tasks: &TaskArrays, instants: &[Time]) {
        let unit = (instants[self.periods] - instants[0]).ticks() as f64;
        for (node, kind) in tasks.kind_of.iter().enumerate() {
            let Some(kind) = *kind else { continue };
            let processors = instance.platform().processors_of(node);
            for class in instance.availability().classes() {
                let count = f64::from(processors.intersection(&class.processors).len());
                if count == 0.0 {
                    continue;
                }
                for (period, pair) in instants.windows(2).enumerate() {
                    let within = |&(start, end): &(Time, Time)| (end.min(pair[1]) - start.max(pair[0])).max(Time::ZERO);
                    let closed: Time = class.closed.iter().map(within).sum();
                    let open = (pair[1] - pair[0]).ticks() as f64 - closed.ticks() as f64;
                    self.open[kind * self.periods + period] += count * open / unit;
                }
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns the size of one evaluation: the approximate number of starts that it examines, over all choices.
    pub(super) fn size(&self) -> usize {
        self.choices.len() * (2 * self.periods + 2)
    }

    pub(super) fn free(&self) -> Prices {
        Prices { kinds: vec![0.0; self.kinds * self.periods], edges: vec![0.0; self.edges.len()] }
    }

    /// Returns two means over all tasks: the mean of the least costs, and the mean run time of the choices with these
    /// costs.
    pub(super) fn scale(&self) -> (f64, f64) {
        let count = self.tasks.iter().map(|row| row.count).sum::<f64>().max(1.0);
        let least = |row: &Row| {
            let own = &self.choices[row.choices.clone()];
            own.iter().min_by(|a, b| a.cost.total_cmp(&b.cost)).map_or((0.0, 0.0), |choice| (choice.cost, choice.time))
        };
        let sum = self.tasks.iter().fold((0.0, 0.0), |(cost, time), row| {
            let (own, takes) = least(row);
            (cost + own * row.count, time + takes * row.count)
        });
        (sum.0 / count, (sum.1 / count).max(f64::MIN_POSITIVE))
    }

    /// Returns the mean length of the windows of all tasks. The window of a task lasts from its earliest start to its
    /// latest end.
    pub(super) fn room(&self) -> f64 {
        let widest = |row: &Row| {
            let own = self.choices[row.choices.clone()].iter();
            let (head, latest) = own.fold((f64::INFINITY, 0.0_f64), |(head, latest), choice| {
                (head.min(choice.head), latest.max(choice.latest))
            });
            latest - head
        };
        self.tasks.iter().map(widest).sum::<f64>() / self.len() as f64
    }

    /// Returns the bound at these prices, and the gradient of a smoothed bound. To this gradient, each task contributes
    /// a weighted mean over its choices. A choice has the weight zero if its payment exceeds the least payment by more
    /// than `REACH` times `width`.
    pub(super) fn evaluate(&self, prices: &Prices, width: f64) -> Point {
        let until = self.integrals(&prices.kinds);
        let flows = self.flows(&prices.edges);
        let mut rise = self.free();
        let (mut starts, mut ends) = (vec![0.0; self.len()], vec![0.0; self.len()]);
        let mut value = 0.0;
        let mut found: Vec<Start> = Vec::new();
        for (task, row) in self.tasks.iter().enumerate() {
            found.clear();
            self.starts(row, flows[task], &until, |start| found.push(start));
            let least = found.iter().map(|start| start.paid).fold(f64::INFINITY, f64::min);
            value += least * row.count;
            let weight = |start: &Start| ((least - start.paid) / width).exp();
            let near = |start: &&Start| start.paid <= least + REACH * width;
            let all: f64 = found.iter().filter(near).map(weight).sum();
            for start in found.iter().filter(near) {
                let (share, choice) = (weight(start) / all, self.choices[start.choice]);
                starts[task] += share * start.at;
                ends[task] += share * (start.at + choice.time);
                self.hold(choice, start.at, share * row.count, &mut rise.kinds);
            }
        }
        for (rise, open) in rise.kinds.iter_mut().zip(&self.open) {
            *rise -= open;
        }
        for (rise, &(from, to)) in rise.edges.iter_mut().zip(&self.edges) {
            *rise = ends[from as usize] - starts[to as usize];
        }
        value -= prices.kinds.iter().zip(&self.open).map(|(price, open)| price * open).sum::<f64>();
        Point { value, rise }
    }

    /// Returns, for each task, the kind of node and the start at which the task pays least.
    pub(super) fn cheapest(&self, prices: &Prices) -> Vec<(usize, f64)> {
        let until = self.integrals(&prices.kinds);
        let flows = self.flows(&prices.edges);
        let each = self.tasks.iter().enumerate().map(|(task, row)| {
            let first = row.choices.start;
            let mut best = Start { choice: first, at: self.choices[first].head, paid: f64::INFINITY };
            self.starts(row, flows[task], &until, |start| {
                if start.paid < best.paid {
                    best = start;
                }
            });
            (self.choices[best.choice].kind, best.at)
        });
        each.collect()
    }

    /// For every choice of a task, calls `each` with the starts at which the payment can be least.
    fn starts(&self, row: &Row, flow: EdgePrices, until: &[f64], mut each: impl FnMut(Start)) {
        for index in row.choices.clone() {
            let Choice { kind, time, cost, head, latest } = self.choices[index];
            let last = (latest - time).max(head);
            let priced = (kind != SEVERAL).then(|| &until[kind * (self.periods + 1)..][..=self.periods]);
            let mut look = |at: f64| {
                let held = priced.map_or(0.0, |own| integral(own, at + time) - integral(own, at));
                each(Start { choice: index, at, paid: cost + flow.out * time + (flow.out - flow.into) * at + held });
            };
            look(head);
            if last > head {
                look(last);
            }
            if priced.is_none() {
                continue;
            }
            for period in 0..=self.periods {
                let instant = period as f64 / self.periods as f64;
                for at in [instant, instant - time] {
                    if at > head && at < last {
                        look(at);
                    }
                }
            }
        }
    }

    /// Adds to `held` the use of processors by a choice that starts at the instant `at`. For each period, this is the
    /// time for which the choice runs in the period, multiplied by `share`.
    fn hold(&self, choice: Choice, at: f64, share: f64, held: &mut [f64]) {
        if choice.kind == SEVERAL {
            return;
        }
        let periods = self.periods as f64;
        let end = at + choice.time;
        for period in (at * periods) as usize..self.periods {
            let (from, until) = (period as f64 / periods, (period + 1) as f64 / periods);
            if from >= end {
                break;
            }
            held[choice.kind * self.periods + period] += share * (end.min(until) - at.max(from)).max(0.0);
        }
    }

    /// Returns, for each kind, the integrals of its price. Each integral begins at the first release, and ends at the
    /// beginning of a period or at the horizon.
    fn integrals(&self, prices: &[f64]) -> Vec<f64> {
        let mut until = Vec::with_capacity(self.kinds * (self.periods + 1));
        for own in prices.chunks(self.periods) {
            let mut sum = 0.0;
            until.push(0.0);
            for price in own {
                sum += price / self.periods as f64;
                until.push(sum);
            }
        }
        until
    }

    /// Returns the sums of the edge prices of each task.
    fn flows(&self, prices: &[f64]) -> Vec<EdgePrices> {
        let mut flows = vec![EdgePrices::default(); self.len()];
        for (&price, &(from, to)) in prices.iter().zip(&self.edges) {
            flows[from as usize].out += price;
            flows[to as usize].into += price;
        }
        flows
    }
}

/// Returns the integral of a price from 0 to the instant `at`, which is between 0 and 1. `until` contains the
/// integrals from 0 to the boundaries of equal periods. Between boundaries, the integral is linear.
fn integral(until: &[f64], at: f64) -> f64 {
    let periods = until.len() - 1;
    let place = at * periods as f64;
    let before = (place as usize).min(periods - 1);
    until[before] + (until[before + 1] - until[before]) * (place - before as f64)
}

/// Returns the boundaries of `periods` equal periods from `first` to `horizon`.
pub(super) fn instants(first: Time, horizon: Time, periods: usize) -> Vec<Time> {
    let length = i128::from((horizon - first).ticks());
    let at = |period: usize| (length * period as i128 / periods as i128) as i64;
    (0..=periods).map(|period| first + Time::from_ticks(at(period))).collect()
}
