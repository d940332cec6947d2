//! Propagation by energy (amount times units of time). In each period, the minimum energy of all tasks must not exceed
//! the energy of the supply.

use super::{Engine, Literal, Propagated, Step};

/// Approximate maximum number of elementary steps of a propagation by energy.
const MAX_WORK: usize = 1 << 26;

/// The remaining starts and modes of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::complete) struct StartWindow {
    pub(in crate::complete) earliest: i64,
    pub(in crate::complete) latest: i64,
    pub(in crate::complete) first: usize,
    pub(in crate::complete) last: usize,
}

/// A supply and a period of time.
#[derive(Clone, Copy)]
struct Period {
    supply: usize,
    from: i64,
    until: i64,
}

impl Engine {
    pub(in crate::complete) fn window(&self, task: usize) -> StartWindow {
        StartWindow {
            earliest: self.earliest(task),
            latest: self.latest(task),
            first: self.first_mode(task),
            last: self.last_mode(task),
        }
    }

    /// Returns the window that a task has before any decision.
    pub(in crate::complete) fn root_window(&self, task: usize) -> StartWindow {
        StartWindow {
            earliest: self.root_value(4 * task),
            latest: -self.root_value(4 * task + 1),
            first: self.root_value(4 * task + 2) as usize,
            last: -self.root_value(4 * task + 3) as usize,
        }
    }

    /// Adds premises that imply a lower limit on `quantity`, which is a function of the window of a task. The quantity
    /// never falls when the window shrinks. In the current window, the quantity is `now`. The limit may be less than
    /// `now` by up to `spare`, because weaker premises make more general nogoods. Subtracts the actual difference from
    /// `spare`.
    pub(in crate::complete) fn weakest(
        &self,
        task: usize,
        now: i64,
        spare: &mut i64,
        quantity: impl Fn(StartWindow) -> i64,
        premises: &mut Vec<Literal>,
    ) {
        let (mut window, root) = (self.window(task), self.root_window(task));
        let mut now = now;
        let mut attempt = |window: &mut StartWindow, wider: StartWindow| {
            let fall = if wider == *window { return false } else { now - quantity(wider) };
            if fall > *spare {
                return false;
            }
            (*spare, now, *window) = (*spare - fall, now - fall, wider);
            true
        };
        let at = window;
        attempt(&mut window, StartWindow { first: root.first, ..at });
        let at = window;
        attempt(&mut window, StartWindow { last: root.last, ..at });
        let at = window;
        attempt(&mut window, StartWindow { earliest: root.earliest, ..at });
        let at = window;
        attempt(&mut window, StartWindow { latest: root.latest, ..at });
        // Widens the window step by step. Until the first step fails, each step is twice as large as the previous step.
        // From then on, the step is halved whenever it fails, until it is zero.
        for is_latest in [false, true] {
            let left = |window: StartWindow| {
                if is_latest { root.latest - window.latest } else { window.earliest - root.earliest }
            };
            let mut step = left(window).min(1);
            let mut grows = true;
            while step > 0 {
                let at = window;
                let step_now = step.min(left(at));
                let wider = if is_latest {
                    StartWindow { latest: at.latest + step_now, ..at }
                } else {
                    StartWindow { earliest: at.earliest - step_now, ..at }
                };
                if attempt(&mut window, wider) {
                    step = if grows { 2 * step } else { step };
                } else {
                    grows = false;
                    step /= 2;
                }
                step = step.min(left(window));
            }
        }
        if window.earliest > root.earliest {
            premises.push(Literal::start_at_least(task, window.earliest));
        }
        if window.latest < root.latest {
            premises.push(Literal::start_at_most(task, window.latest));
        }
        if window.first > root.first {
            premises.push(Literal::mode_at_least(task, window.first));
        }
        if window.last < root.last {
            premises.push(Literal::mode_at_most(task, window.last as i64));
        }
    }

    /// Returns the minimum energy of a task in a period: the amount that the task holds, times the units of time for
    /// which the task runs in the period.
    fn held_in(&self, period: Period, task: usize, window: StartWindow) -> i64 {
        let Period { supply, from, until } = period;
        let of = &self.model.tasks[task];
        // If the fastest remaining mode can avoid the period, the minimum is zero.
        let latest = window.latest.min(of.latest[window.last]);
        if latest >= until || window.earliest + of.times[window.last] <= from {
            return 0;
        }
        let in_mode = |mode: usize| {
            let time = of.times[mode];
            let latest = window.latest.min(of.latest[mode]);
            let length = time.min(until - from).min(window.earliest + time - from).min(until - latest).max(0);
            length * of.amounts[supply][mode]
        };
        (window.first..=window.last).map(in_mode).min().unwrap_or(0)
    }

    /// Adds premises that imply a lower limit on the energy of tasks other than `except` in a period. The limit is the
    /// current minimum energy minus `spare`.
    fn held_because(&self, period: Period, except: Option<usize>, spare: i64, premises: &mut Vec<Literal>) {
        self.because(|task, window| self.held_in(period, task, window), except, spare, premises);
    }

    /// Adds premises that imply a lower limit on the sum of a quantity over all tasks other than `except`. The quantity is
    /// a function of a task and its window, and never falls when the window shrinks. The limit is the current sum minus
    /// `spare`.
    pub(in crate::complete) fn because(
        &self,
        quantity: impl Fn(usize, StartWindow) -> i64,
        except: Option<usize>,
        mut spare: i64,
        premises: &mut Vec<Literal>,
    ) {
        let gain = |task: usize| {
            let now = quantity(task, self.window(task));
            (now - quantity(task, self.root_window(task)), now, task)
        };
        let mut gains: Vec<_> = (0..self.tasks()).filter(|&task| Some(task) != except).map(gain).collect();
        gains.retain(|one| one.0 > 0);
        gains.sort_unstable();
        for (gain, now, task) in gains {
            if gain <= spare {
                spare -= gain;
            } else {
                self.weakest(task, now, &mut spare, |window| quantity(task, window), premises);
            }
        }
    }

    /// Checks periods that begin at the earliest start of a task. Consider the energy of the tasks as a function of the
    /// end of the period. Each period ends at an instant at which this function begins to grow more slowly. For tasks
    /// with one remaining mode, a sweep over the ends computes the energy in O(n^2 log n) for each supply. If this
    /// would take more than `MAX_WORK` steps, ignores the scales. If the other supplies would also take more than
    /// `MAX_WORK` steps, examines nothing.
    pub(in crate::complete) fn by_energy(&mut self) -> Propagated {
        let mut starts: Vec<i64> = (0..self.tasks()).map(|task| self.earliest(task)).collect();
        starts.sort_unstable();
        starts.dedup();
        let (several, single): (Vec<usize>, Vec<usize>) =
            (0..self.tasks()).partition(|&task| self.first_mode(task) < self.last_mode(task));
        let modes: usize = several.iter().map(|&task| self.last_mode(task) + 1 - self.first_mode(task)).sum();
        let each = starts.len() * (several.len() * modes + self.tasks());
        let supplies = if each * self.scarce.len() <= MAX_WORK { self.model.supplies.len() } else { self.model.own };
        let count = self.scarce.iter().filter(|&&supply| supply < supplies).count();
        if each * count > MAX_WORK {
            return Ok(());
        }
        self.work += each * count;
        let mut changes: Vec<(i64, i64)> = Vec::new();
        for at in 0..self.scarce.len() {
            let supply = self.scarce[at];
            if supply >= supplies {
                continue;
            }
            for &from in &starts {
                changes.clear();
                for &task in &single {
                    let mode = self.first_mode(task);
                    let of = &self.model.tasks[task];
                    let (amount, time) = (of.amounts[supply][mode], of.times[mode]);
                    let length = time.min(self.earliest(task) + time - from);
                    if amount > 0 && length > 0 {
                        let start = from.max(self.latest(task));
                        changes.extend([(start, amount), (start + length, -amount)]);
                    }
                }
                let ends = several.iter().map(|&task| (self.latest(task) + self.shortest(task), 0));
                changes.extend(ends.filter(|end| end.0 > from));
                changes.sort_unstable();
                self.sweep(Period { supply, from, until: from }, &changes, &several)?;
            }
        }
        Ok(())
    }

    fn sweep(&mut self, begin: Period, changes: &[(i64, i64)], several: &[usize]) -> Propagated {
        let Period { supply, from, .. } = begin;
        let (mut slope, mut sum, mut last) = (0, 0, from);
        let mut at = 0;
        while at < changes.len() {
            let until = changes[at].0;
            sum += slope * (until - last);
            last = until;
            let mut is_end = false;
            while at < changes.len() && changes[at].0 == until {
                slope += changes[at].1;
                is_end |= changes[at].1 <= 0;
                at += 1;
            }
            if is_end && until > from {
                let before = self.trail.len();
                self.check_period(Period { supply, from, until }, sum, several)?;
                if self.trail.len() > before {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Checks a period. `sum` is the energy of the tasks with one remaining mode. `several` contains the tasks with
    /// several remaining modes.
    fn check_period(&mut self, period: Period, sum: i64, several: &[usize]) -> Propagated {
        let Period { supply, from, until } = period;
        let number = supply as u8;
        let all = self.model.supplies[supply].within(from, until);
        let held = |&task: &usize| self.held_in(period, task, self.window(task));
        let sum = sum + several.iter().map(held).sum::<i64>();
        if sum > all {
            let mut premises = Vec::new();
            self.held_because(period, None, sum - all - 1, &mut premises);
            return self.fail(premises, Step::Energy { supply: number, from, until });
        }
        for &task in several {
            let window = self.window(task);
            let in_mode = |mode: usize| self.held_in(period, task, StartWindow { first: mode, last: mode, ..window });
            if in_mode(window.last) <= all - sum {
                continue;
            }
            let free = all - (sum - self.held_in(period, task, window));
            let wide = (window.first..=window.last).rev().map(in_mode).take_while(|&held| held > free);
            let (count, least) = wide.fold((0, i64::MAX), |(count, least), held| (count + 1, least.min(held)));
            if count == 0 {
                continue;
            }
            let mut premises =
                vec![Literal::start_at_least(task, window.earliest), Literal::start_at_most(task, window.latest)];
            premises.extend(self.last_mode_literal(task));
            self.held_because(period, Some(task), least - free - 1, &mut premises);
            let step = Step::ModesWithin { supply: number, from, until, task: task as u32 };
            return self.set(Literal::mode_at_most(task, window.last as i64 - count), &premises, step);
        }
        Ok(())
    }
}
