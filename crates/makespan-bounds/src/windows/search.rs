//! A search for the latest deadline that some window of time refutes.

use makespan_core::Time;
use makespan_verify::proof::TimeWindow;

use super::{KindStarts, NEVER, TaskArrays, prices::prices};
use crate::Clock;

/// Maximum number of instants at which windows may begin, and maximum number of instants at which windows may end.
const INSTANTS: usize = 32;
/// Maximum number of run times that the search examines for one deadline. The more tasks an instance has, the fewer
/// windows the search examines.
const LOOKED_AT: usize = 1 << 20;

/// If the clock has expired, the bisection stops when the interval of undecided deadlines is at most 2^-`COARSE` of the
/// deadline.
const COARSE: u32 = 8;

/// Returns a late refuted deadline, and a window that refutes this deadline. The longest path refutes all deadlines
/// before its end. A bisection finds later deadlines. For each deadline, the search examines up to 1024 windows. Each
/// window begins at the earliest start of some task. The time from the end of the window to the deadline is the tail of
/// some task: the length of the longest path after the task.
pub(super) fn window(tasks: &TaskArrays, clock: &Clock) -> TimeWindow {
    let by_kind = prices(tasks);
    let instants = Instants::of(tasks);
    let ends = (0..tasks.len()).map(|task| tasks.heads[task] + tasks.fastest[task] + tasks.tails[task]);
    let path = ends.max().unwrap_or(0);
    let deadline = (path - 1).max(0);
    let mut best = (deadline, Window::default());
    let (mut low, mut step) = (deadline, path.max(1));
    // The loop ends, because no window refutes a deadline that exceeds the total run time of all tasks.
    let mut high = loop {
        let probe = low.saturating_add(step);
        match instants.refute(tasks, &by_kind, probe, clock) {
            Some(window) if probe < i64::MAX / 4 => {
                best = (probe, window);
                (low, step) = (probe, step.saturating_mul(2));
            }
            _ => break probe,
        }
    };
    while low + 1 < high && (high - low > low >> COARSE || !clock.is_over()) {
        let middle = low + (high - low) / 2;
        match instants.refute(tasks, &by_kind, middle, clock) {
            Some(window) => (low, best) = (middle, (middle, window)),
            None => high = middle,
        }
    }
    let (deadline, Window { from, until }) = best;
    let ticks = Time::from_ticks;
    let prices = tasks.kind_of.iter().map(|kind| kind.map_or(0, |kind| by_kind[kind])).collect();
    TimeWindow { deadline: ticks(deadline), from: ticks(from), until: ticks(until), prices }
}

/// A span of time in ticks.
#[derive(Clone, Copy, Default)]
struct Window {
    from: i64,
    until: i64,
}

/// The beginnings and ends of the windows that are examined.
struct Instants {
    /// The instants at which windows may begin.
    begins: Vec<i64>,
    /// The times from the ends of windows to the deadline.
    before_end: Vec<i64>,
}

impl Instants {
    fn of(tasks: &TaskArrays) -> Self {
        let each = LOOKED_AT / (tasks.len() * tasks.kinds).max(1);
        let count = (each.isqrt()).clamp(1, INSTANTS);
        Self { begins: spread(&tasks.heads, count), before_end: spread(&tasks.tails, count) }
    }

    /// Returns a window in which the tasks must pay more than the price of all processor time, if the search finds one.
    /// The search ignores unavailable periods. The check of the certificate includes these periods, so it may refute a
    /// later deadline.
    fn refute(&self, tasks: &TaskArrays, prices: &[u64], deadline: i64, clock: &Clock) -> Option<Window> {
        let each = prices.iter().zip(&tasks.processors);
        let rate: i128 = each.map(|(&price, &count)| i128::from(price) * i128::from(count)).sum();
        let Some(starts) = tasks.starts(deadline) else { return Some(Window::default()) };
        for (at, &from) in self.begins.iter().enumerate() {
            // Always examine the first window. It is the longest window and contains all work.
            let is_over = clock.is_over();
            if at > 0 && is_over {
                return None;
            }
            for &before in self.before_end.iter().take(if is_over { 1 } else { usize::MAX }) {
                let until = deadline - before;
                let window = Window { from, until };
                if until > from && paid(tasks, &starts, prices, deadline, window) > rate * i128::from(until - from) {
                    return Some(window);
                }
            }
        }
        None
    }
}

/// Returns the least amount that the tasks pay within a window.
fn paid(tasks: &TaskArrays, starts: &KindStarts, prices: &[u64], deadline: i64, window: Window) -> i128 {
    let Window { from, until } = window;
    let mut sum = 0_i128;
    for task in 0..tasks.len() {
        if tasks.counts[task] == 0 {
            continue;
        }
        let row = task * tasks.kinds..(task + 1) * tasks.kinds;
        let spans = starts.heads[row.clone()].iter().zip(&starts.tails[row]);
        let mut least = i128::MAX;
        for ((&time, &price), (&head, &tail)) in tasks.times[task].iter().zip(prices).zip(spans) {
            let latest = deadline.saturating_sub(tail);
            if head == NEVER || time > latest.saturating_sub(head) {
                continue;
            }
            let within = time.min(until - from).min(head + time - from).min(until - (latest - time)).max(0);
            least = least.min(i128::from(within) * i128::from(price));
        }
        if least < i128::MAX {
            sum = sum.saturating_add(least.saturating_mul(i128::from(tasks.counts[task])));
        }
    }
    sum
}

/// Returns up to `count` of the values, including the smallest one. The returned values are spread evenly over the
/// sorted values.
fn spread(values: &[i64], count: usize) -> Vec<i64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() > count {
        let of = |at: usize| sorted[at * sorted.len() / count];
        sorted = (0..count).map(of).collect();
    }
    sorted
}
