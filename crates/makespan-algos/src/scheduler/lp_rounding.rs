//! Allotments by a linear programme and rounding.

use makespan_core::{Instance, Objective, Unsupported};

use super::{all_tasks_monotone, is_unrestricted, packed};
use crate::kernel::packing::{Packing, Row};
use crate::kernel::path_area::{self, MixedSolution, Mixture};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// Chooses allotments by a linear programme that balances the longest path against the area. The programme gives each
/// task a time between the times of two allotments, that is, a mixture of the two allotments. If the share of the
/// slower allotment in the mixture is at least `rho`, the task gets the slower allotment, otherwise the faster one. No
/// task gets more than `mu` processors. Then a list of the tasks by decreasing bottom level is executed.
///
/// Source: R. Lepère, D. Trystram, G. Woeginger, "Approximation algorithms for scheduling malleable tasks under
/// precedence constraints", Int. J. Found. Comput. Sci. 13, 2002, DOI 10.1142/S0129054102001308, with rho = 1/2; K.
/// Jansen, H. Zhang, "An approximation algorithm for scheduling malleable tasks under general precedence constraints",
/// ACM Trans. Algorithms 2(3), 2006, DOI 10.1145/1159892.1159899, with rho = 0.43. Assumptions: processors are always
/// open.
///
/// Guarantee (makespan): the ratio to the optimum on m processors is
///
/// `(m / (1 - rho) + max((m - mu) / rho, (m - 2 mu + 1) max(1 / rho, m / mu))) / (m - mu + 1)`,
///
/// with the `mu` from 1 to (m + 1) / 2 that minimises the ratio. For rho = 0.43 the ratio rises with m to 4.7306, as in
/// Jansen and Zhang. The guarantee holds under three conditions. All tasks are monotone, can run on one processor, and
/// need no other resources. There are no release dates, data transfers or bags. All processors are equal and always
/// open. The programme is solved only approximately. So the guaranteed ratio is multiplied by a factor, usually at most
/// 1.001: the value of the solution divided by the proven bound on the optimal value of the programme. Each task with a
/// speed-up law adds some ticks to the guaranteed makespan, because the run times of such tasks are rounded up (see the
/// proof below).
///
/// Complexity: O(r (e + n log m)) for r rounds, at most 1000, of n tasks with e edges. Deviations: the programme is
/// solved by fictitious play, not by a solver. In the programme, the area of a task is a convex function of its time:
/// the largest convex function that does not exceed the area of any allotment. The functions in the papers are nowhere
/// larger than this function. Only the list scheduler considers speeds and resource needs in full. For each task, the
/// programme considers only one resource: the resource of which the task needs the largest fraction of the platform's
/// amount.
///
/// ```
/// use makespan_algos::scheduler::LpRounding;
/// use makespan_algos::Scheduler;
/// use makespan_core::{Instance, Job, Objective, Platform, Profile, Time};
///
/// let times = [8, 5, 4, 3].map(Time::from_seconds);
/// let job = Job::new("a", Profile::table(times.to_vec()).unwrap());
/// let instance = Instance::new(Platform::flat(4).unwrap(), vec![job], vec![]).unwrap();
/// let guarantee = LpRounding::default().guarantee(&instance, Objective::Makespan).unwrap();
/// assert!(f64::from(guarantee.numerator) / f64::from(guarantee.denominator) < 4.0);
/// ```
///
/// # Proof of the guarantee
///
/// Theorem: if the `m` processors are equal and all tasks are monotone, the makespan is at most the value of the
/// programme's solution times the ratio above. Here, a task is monotone if two conditions hold when the number `l` of
/// processors increases: the time `t(l)` never increases, and the area `W(l) = l t(l)` never decreases. If an allotment
/// is slower than a smaller allotment, the time of the smaller allotment is used for both. Let `x` be the task times in
/// the solution of the programme, `w` the convex functions below the areas, and `C` the value of the solution. Then
/// every path of `x` is at most `C`, and `sum w(x) / m` is at most `C`.
///
/// 1. *Rounding.* The time `x` is `q` times the time of a slow allotment plus `1 - q` times the time of a fast
///    allotment. The area `w(x)` is the same combination of the areas of these two allotments. If `q >= rho`, the slow
///    allotment is chosen. Its time is at most `x / q <= x / rho`, and its area is at most `w(x)`. Otherwise, the fast
///    allotment is chosen. Its time is at most `x`, and its area is at most `w(x) / (1 - q) <= w(x) / (1 - rho)`. Call
///    the chosen allotment `l'`.
/// 2. *Cap.* The task gets the allotment `l = min(l', mu)`. The area of `l` is at most `W(l')`. If `l' > mu`, the fast
///    allotment `k >= l' > mu` satisfies `t(k) <= x`, and so `mu t(mu) = W(mu) <= W(k) = k t(k) <= m x`. Therefore
///    `t(l) <= max(1 / rho, m / mu) x` in every case, and `t(l) <= x / rho` if `l < mu`.
/// 3. *List.* Let `T1` be the total time during which at most `mu - 1` processors are busy. Let `T2` be the total time
///    with `mu` to `m - mu` busy processors, and `T3` the total time with more busy processors (`mu <= (m + 1) / 2`).
///    During `T1` and `T2`, every ready task fits on the free processors. So there is a path such that a task of this
///    path is running at every instant of `T1` and `T2`. During `T1`, no running task of this path is capped, and so
///    `rho T1 + min(rho, mu / m) T2 <= C`. The areas imply
///    `T1 + mu T2 + (m - mu + 1) T3 <= m C / (1 - rho)`. Together, the makespan is at most
///    `C (m / (1 - rho) + max((m - mu) / rho, (m - 2 mu + 1) max(1 / rho, m / mu))) / (m - mu + 1)`.
///
/// The run times of speed-up laws are rounded up to ticks. So `W(i)` may decrease by `i` ticks. The cap therefore adds
/// at most `mu` ticks to the area of a task, and at most one tick to its time on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LpRounding {
    /// The threshold of rounding, in hundredths. If the share of the slower allotment in the mixture of a task is at
    /// least `rho`, the task gets this allotment.
    pub rho: u32,
}

impl LpRounding {
    /// The value of `rho` in the paper of Jansen and Zhang, in hundredths.
    pub const RHO: u32 = 43;

    fn rho(self) -> f64 {
        f64::from(self.rho) / 100.0
    }
}

impl Default for LpRounding {
    fn default() -> Self {
        Self { rho: Self::RHO }
    }
}

impl Scheduler for LpRounding {
    fn name(&self) -> String {
        if *self == Self::default() { "lp-rounding".into() } else { format!("lp-rounding[rho=0.{:02}]", self.rho) }
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        super::needs_open_processors(instance)?;
        packed::supports(instance)
    }

    fn guarantee(&self, instance: &Instance, objective: Objective) -> Option<Guarantee> {
        if objective != Objective::Makespan || !is_proved_for(instance) {
            return None;
        }
        let packing = packed::packing(instance).ok()?;
        let MixedSolution { value, bound, .. } = path_area::solve(&packing);
        let (processors, rho) = (instance.processors(), self.rho());
        let most = best_cap(processors, rho);
        // Increase the ratio slightly to cover floating-point errors.
        let ratio = ratio(processors, most, rho) * (value / bound) * (1.0 + 1e-9);
        let rounded = instance.task_ids().filter(|&task| instance.profile(task).rounds_up()).count() as f64;
        let ticks = (rounded * ticks_of_task(processors, most, rho)).ceil();
        let numerator = (ratio * 10_000.0).ceil();
        let stated = numerator.is_finite() && numerator < f64::from(u32::MAX);
        stated.then(|| Guarantee::ratio(numerator as u32, 10_000).plus_ticks(ticks as i64))
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        let unsupported = |reason| ScheduleError::Unsupported { scheduler: self.name(), reason };
        super::check_supported(self, instance)?;
        let packing = packed::packing(instance).map_err(unsupported)?;
        let mixed = path_area::solve(&packing);
        if mixed.value > mixed.bound {
            let over = 100.0 * (mixed.value / mixed.bound - 1.0);
            context.remarks.push(format!("the linear programme was solved to within {over:.2} % of its optimum"));
        }
        let most = best_cap(instance.processors(), self.rho());
        let choices = rounded(&packing, &mixed.rows, self.rho(), most);
        let choices = packed::repaired(&packing, choices).map_err(unsupported)?;
        let ranks = packing.ranks(&choices);
        let list = packing.list(&choices, |row| -ranks[row.index()]);
        packed::planned(self, packed::carried_out(&packing, &list, false))
    }
}

/// Returns whether the instance meets the conditions of the proof.
fn is_proved_for(instance: &Instance) -> bool {
    let plain = instance.has_equal_processors() && is_unrestricted(instance) && !instance.has_demands();
    let at_once = !instance.has_release_dates() && !instance.has_transfers() && !instance.has_bags();
    // Require at most 256 allotments of each task. If a task has more allotments, the packing keeps only some of them.
    let all = |task| instance.profile(task).max_processors() <= 256;
    plain && at_once && all_tasks_monotone(instance) && instance.task_ids().all(all)
}

/// Returns the allotment of each row. A row is a task or the equal tasks of a bag. If the share of the slower allotment
/// is at least `rho`, the slower allotment is used, otherwise the faster one. If the used allotment has more than
/// `most` processors, the largest allotment with at most `most` processors replaces it.
fn rounded(packing: &Packing<'_>, rows: &[Mixture], rho: f64, most: u32) -> Vec<u32> {
    let of_row = |row: Row| {
        let Mixture { slow, fast, part } = rows[row.index()];
        let choice = if part >= rho { slow } else { fast };
        if packing.choice(choice).processors <= most {
            return choice;
        }
        let choices = packing.choices_of(row);
        let within = choices.clone().rev().find(|&choice| packing.choice(choice).processors <= most);
        within.unwrap_or(choices.start)
    };
    packing.rows().map(of_row).collect()
}

/// Returns the cap `mu` (the maximum number of processors of a task) that gives the least guaranteed ratio.
fn best_cap(processors: u32, rho: f64) -> u32 {
    let half = processors.div_ceil(2);
    (1..=half).min_by(|&a, &b| ratio(processors, a, rho).total_cmp(&ratio(processors, b, rho))).unwrap_or(1)
}

/// Returns the number of ticks by which the guaranteed makespan grows if a path becomes one tick longer, multiplied by
/// m - mu + 1. This number is the maximum of two cases: the path runs while fewer than `mu` processors are busy, or
/// while `mu` to m - mu processors are busy.
fn longer(processors: u32, most: u32, rho: f64) -> f64 {
    let (m, mu) = (f64::from(processors), f64::from(most));
    ((m - mu) / rho).max((m - 2.0 * mu + 1.0) * (1.0 / rho).max(m / mu))
}

/// Returns the guaranteed ratio of the makespan to the optimal value of the programme.
fn ratio(processors: u32, most: u32, rho: f64) -> f64 {
    let (m, mu) = (f64::from(processors), f64::from(most));
    (m / (1.0 - rho) + longer(processors, most, rho)) / (m - mu + 1.0)
}

/// Returns the number of ticks that a task with rounded times adds to the makespan. Rounding adds up to one tick on
/// each of its processors, and up to one tick on a path.
fn ticks_of_task(processors: u32, most: u32, rho: f64) -> f64 {
    let (m, mu) = (f64::from(processors), f64::from(most));
    (mu + longer(processors, most, rho)) / (m - mu + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the number of processors grows, the ratio of Jansen and Zhang tends to 100/43 + 100 (sqrt(4349) - 7) / 2451.
    /// Lepère et al. multiply the factor of the cap by the factor of the rounding, and get the ratio `3 + sqrt(5)`. For
    /// rho = 1/2, [`ratio`] tends to less than `3 + sqrt(5)`.
    #[test]
    fn the_ratio_tends_to_that_of_the_paper() {
        let of = |rho: f64| ratio(1_000_000, best_cap(1_000_000, rho), rho);
        assert!((of(0.5) - (2.0 + 8.0_f64.sqrt())).abs() < 1e-4, "{}", of(0.5));
        let jansen_zhang = 100.0 / 43.0 + 100.0 * (4349.0_f64.sqrt() - 7.0) / 2451.0;
        assert!((of(0.43) - jansen_zhang).abs() < 1e-4, "{}", of(0.43));
        let largest = (1..3000).map(|m| ratio(m, best_cap(m, 0.43), 0.43)).fold(0.0, f64::max);
        assert!(largest < jansen_zhang, "{largest}");
    }
}
