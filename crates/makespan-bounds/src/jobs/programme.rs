//! The dual function in floating point: its value and its gradient at given prices.

use makespan_core::Time;

/// Number of instants in each period that are tried as the end of a job.
const FINER: usize = 2;
/// Consider a possible end of a job, and the cost of this end without the payments of the tasks. If this cost exceeds
/// the least cost of the job, payments included, by more than this number of smoothing widths, the search ignores this
/// end and all later ends.
const REACH: f64 = 40.0;

/// The jobs in flat arrays. The unit of time is the time from the first release to the instant after which all prices
/// are zero. The unit of rates is the rate of all processors.
pub(super) struct JobProgramme {
    pub(super) jobs: Vec<JobRow>,
    pub(super) periods: usize,
    /// For each period, the available fraction of the processors, integrated over the period.
    pub(super) open: Vec<f64>,
    /// For each task, the range of its runs.
    pub(super) tasks: Vec<std::ops::Range<usize>>,
    pub(super) ways: Vec<TaskRun>,
    /// True if the tasks of some job are the blocks of the job. Their payments are valid only if no price is above the
    /// price before it.
    pub(super) has_blocks: bool,
    pub(super) first: Time,
    /// The length of the unit of time, in ticks.
    pub(super) unit: f64,
    /// The value of the price 1 of the programme, in units of the objective per tick. The unit is a millionth of
    /// weight, or one for the mean flow.
    pub(super) worth: f64,
}

pub(super) struct JobRow {
    pub(super) weight: f64,
    pub(super) released: f64,
    /// The sum of the least areas of the tasks of the job.
    pub(super) work: f64,
    /// The earliest possible end of the job.
    pub(super) soonest: f64,
    /// The instant after which the cost of the job grows with its end. An end up to this instant costs nothing.
    pub(super) from: f64,
    /// The penalty that replaces `weight` for each unit of time after `from`.
    pub(super) penalty: Option<PenaltyRow>,
    /// The number of equal tasks that each task of the programme represents. This number is one for jobs other than
    /// bags.
    pub(super) count: f64,
    pub(super) tasks: std::ops::Range<usize>,
}

/// A penalty of a job: pairs of an instant and a cost. Between two instants, the cost is constant or linear.
pub(super) struct PenaltyRow {
    pub(super) points: Vec<(f64, f64)>,
    pub(super) has_steps: bool,
}

/// A run of a task. The rate is the number of processors of the run times their least price factor, in the unit of
/// [`JobProgramme`].
#[derive(Clone, Copy)]
pub(super) struct TaskRun {
    pub(super) head: f64,
    pub(super) time: f64,
    pub(super) tail: f64,
    pub(super) rate: f64,
}

/// The value and the gradient of the dual function at some prices.
pub(super) struct Point {
    pub(super) value: f64,
    /// The gradient of a smoothed form of the dual function.
    pub(super) rise: Vec<f64>,
    /// The number of pairs of a run and an instant that were examined.
    pub(super) looked_at: usize,
}

/// The soft minimum of the payments of one task, for one end of its job. `least` is the least payment so far. `sum` is
/// the sum of the weights of all payments so far, if the least payment has the weight one.
#[derive(Clone, Copy)]
struct SoftMinimum {
    least: f64,
    sum: f64,
}

/// Buffers for one job. They are reused for every job to avoid allocation.
#[derive(Default)]
struct Buffers {
    /// For each end of the job and each task, the soft minimum of the payments of the task.
    softs: Vec<SoftMinimum>,
    /// For each end of the job and each run of its tasks, the payment for the run.
    paid: Vec<f64>,
    /// For each end of the job, the cost of the job with the soft minima of its tasks.
    sums: Vec<f64>,
}

impl JobRow {
    /// Returns the cost of an end.
    fn cost(&self, end: f64) -> f64 {
        let Some(PenaltyRow { points, has_steps }) = &self.penalty else {
            return self.weight * (end - self.from).max(0.0);
        };
        match points.partition_point(|&(at, _)| at < end) {
            0 if *has_steps => 0.0,
            0 => points[0].1,
            before if *has_steps || points.len() == 1 => points[before - 1].1,
            before => {
                let (from, to) = (points[(before - 1).min(points.len() - 2)], points[before.min(points.len() - 1)]);
                from.1 + (end - from.0) * (to.1 - from.1) / (to.0 - from.0)
            }
        }
    }
}

impl TaskRun {
    pub(super) fn replaces(&self, other: &Self) -> bool {
        self.head <= other.head && self.time <= other.time && self.tail <= other.tail && self.rate <= other.rate
    }
}

impl JobProgramme {
    pub(super) fn period(&self) -> f64 {
        1.0 / self.periods as f64
    }

    /// Returns the number of tasks of all jobs.
    pub(super) fn tasks(&self) -> f64 {
        self.jobs.iter().map(|job| job.count * job.tasks.len() as f64).sum()
    }

    /// Converts a price of the programme to units of the objective per tick (see `worth`).
    pub(super) fn price_in_ticks(&self, price: f64) -> f64 {
        price * self.worth
    }

    /// Returns the boundaries of the periods.
    pub(super) fn instants(&self) -> Vec<Time> {
        let at = |period: usize| Time::from_ticks((self.unit * period as f64 / self.periods as f64) as i64);
        (0..=self.periods).map(|period| self.first + at(period)).collect()
    }

    /// Returns the approximate bound at these prices, and a gradient. For each task, the gradient is a weighted mean
    /// over its choices. A choice has little weight if its payment exceeds the least payment by more than a few times
    /// `width`.
    pub(super) fn evaluate(&self, prices: &[f64], width: f64) -> Point {
        let mut until = vec![0.0];
        let mut sum = 0.0;
        for price in prices {
            sum += price * self.period();
            until.push(sum);
        }
        let (mut value, mut held) = (0.0, vec![0.0; self.periods + 1]);
        let (mut buffers, mut looked_at) = (Buffers::default(), 0);
        for job in &self.jobs {
            value += self.of_job(job, &until, width, &mut buffers, &mut held);
            looked_at += buffers.paid.len();
        }
        // The price of a period is part of the integral up to each later instant.
        let mut behind = 0.0;
        let mut rise = vec![0.0; self.periods];
        for period in (0..self.periods).rev() {
            behind += held[period + 1];
            rise[period] = behind * self.period() - self.open[period];
            value -= prices[period] * self.open[period];
        }
        Point { value, rise, looked_at }
    }

    /// Returns the least cost of one job, including payments, and adds its derivatives to `held`. The entry for the
    /// boundary of a period is the derivative with respect to the integral of the price up to this boundary.
    fn of_job(&self, job: &JobRow, until: &[f64], width: f64, buffers: &mut Buffers, held: &mut [f64]) -> f64 {
        let step = self.period() / FINER as f64;
        let tasks = &self.tasks[job.tasks.clone()];
        let ways = tasks[0].start..tasks[tasks.len() - 1].end;
        let Buffers { softs, paid, sums } = buffers;
        softs.clear();
        paid.clear();
        sums.clear();
        // A task with slack may run long before the end of its job. So also examine ends that are too early for the
        // job as a whole.
        let room = |way: &TaskRun| job.soonest.max(job.from) - way.head - way.time - way.tail;
        let before = self.ways[ways.clone()].iter().map(room).fold(0.0, f64::max);
        let soonest = job.soonest.max(job.from);
        let too_early = (before / step).ceil() as usize;
        let end_of = |index: usize| soonest + (index as f64 - too_early as f64) * step;
        let (mut least, mut soft_least) = (f64::INFINITY, f64::INFINITY);
        let price = |start: f64, way: &TaskRun| way.rate * (integral(until, start + way.time) - integral(until, start));
        let latest = |end: f64, way: &TaskRun| end - way.tail - way.time;
        loop {
            let (index, from) = (sums.len(), softs.len());
            let end = end_of(index);
            let late = job.cost(end);
            if index > too_early && (late > least + REACH * width || end > 1.0 + soonest) {
                break;
            }
            let (mut hard, mut soft) = (late, late);
            for (number, own) in tasks.iter().enumerate() {
                let mut state = match index {
                    0 => SoftMinimum { least: f64::INFINITY, sum: 0.0 },
                    _ => softs[from + number - tasks.len()],
                };
                for way in &self.ways[own.clone()] {
                    let start = latest(end, way);
                    if start < way.head - 1e-9 {
                        paid.push(f64::INFINITY);
                        continue;
                    }
                    let own = price(start, way);
                    paid.push(own);
                    if own < state.least {
                        state.sum = state.sum * ((own - state.least) / width).exp() + 1.0;
                        state.least = own;
                    } else {
                        state.sum += ((state.least - own) / width).exp();
                    }
                }
                softs.push(state);
                hard += job.count * state.least;
                soft += job.count * (state.least - width * state.sum.ln());
            }
            if index < too_early {
                (hard, soft) = (f64::INFINITY, f64::INFINITY);
            }
            least = least.min(hard);
            soft_least = soft_least.min(soft);
            sums.push(soft);
        }
        let all: f64 = sums.iter().map(|soft| ((soft_least - soft) / width).exp()).sum();
        for (number, own) in tasks.iter().enumerate() {
            let mut behind = 0.0;
            for index in (0..sums.len()).rev() {
                let soft = softs[index * tasks.len() + number];
                if soft.sum == 0.0 {
                    break;
                }
                if let Some(next) = softs.get((index + 1) * tasks.len() + number) {
                    behind *= ((next.least - soft.least) / width).exp();
                }
                behind += ((soft_least - sums[index]) / width).exp() / all / soft.sum;
                if behind < 1e-9 {
                    continue;
                }
                for (at, way) in own.clone().zip(&self.ways[own.clone()]) {
                    let own = paid[index * ways.len() + at - ways.start];
                    let weight = behind * ((soft.least - own) / width).exp() * job.count * way.rate;
                    if weight > 1e-12 {
                        let start = latest(end_of(index), way);
                        spread(held, start + way.time, weight);
                        spread(held, start, -weight);
                    }
                }
            }
        }
        least
    }
}

/// Returns the period that contains an instant from 0 to 1, and the fraction of the period that lies before the
/// instant.
fn place(at: f64, periods: usize) -> (usize, f64) {
    let place = at.clamp(0.0, 1.0) * periods as f64;
    let before = (place as usize).min(periods - 1);
    (before, place - before as f64)
}

/// Returns the integral of a price from 0 to the instant `at`. `until` contains the integrals from 0 to the boundaries
/// of equal periods. Between boundaries, the integral is linear.
fn integral(until: &[f64], at: f64) -> f64 {
    let (before, part) = place(at, until.len() - 1);
    until[before] + (until[before + 1] - until[before]) * part
}

/// Splits a weight between the two boundaries of the period that contains `at`. The nearer boundary gets the larger
/// part.
fn spread(held: &mut [f64], at: f64, weight: f64) {
    let (before, part) = place(at, held.len() - 1);
    held[before] += weight * (1.0 - part);
    held[before + 1] += weight * part;
}
