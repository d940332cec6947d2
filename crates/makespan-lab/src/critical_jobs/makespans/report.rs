//! The report about makespans: ratios and verdicts.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::{ALGORITHMS, MakespansKey, MakespansOptions, PROCESSORS, Run, SHAPES, name};
use crate::campaign::{AnyRun, Claim, aligned, shown};
use crate::statistics::mean;

/// Target for `optimise` with a time limit of 1 s: an upper limit on the mean of makespan / HEFT's makespan.
const AIM: f64 = 0.95;

/// Widths of the columns of the table.
const WIDTHS: [i32; 4] = [-38, 7, 4, 7];

/// The measurements for the report.
pub(super) struct Report<'a> {
    pub(super) options: &'a MakespansOptions,
    pub(super) runs: &'a [Run],
    pub(super) files: &'a [PathBuf],
}

impl Report<'_> {
    fn drawn(&self, shape: Option<usize>) -> impl Iterator<Item = &Run> {
        let wanted = move |own: u32| shape.is_none_or(|shape| shape == own as usize);
        self.runs.iter().filter(move |run| matches!(run.key, MakespansKey::Drawn(own, ..) if wanted(own)))
    }

    /// Returns the mean of makespan / HEFT's makespan. The mean includes only the random graphs for which the algorithm
    /// found a plan of its own. If `algorithm` is "bound", returns the mean of bound / HEFT's makespan.
    fn ratio(&self, shape: Option<usize>, algorithm: &str) -> Option<f64> {
        let ratio = |run: &Run| {
            let heft = run.of("heft")?.makespan;
            if algorithm == "bound" {
                return Some(run.facts.reference / heft);
            }
            run.of(algorithm).filter(|outcome| outcome.found).map(|outcome| outcome.makespan / heft)
        };
        mean(&self.drawn(shape).filter_map(ratio).collect::<Vec<f64>>())
    }

    /// Returns the number of random graphs for which the algorithm found a plan of its own instead of using HEFT's
    /// plan.
    fn found(&self, algorithm: &str) -> usize {
        self.drawn(None).filter(|run| run.of(algorithm).is_none_or(|outcome| outcome.found)).count()
    }

    /// Returns two numbers of runs on standard graphs: the runs in which the algorithm found the optimal makespan, and
    /// all runs.
    fn optimal(&self, algorithm: &str) -> (usize, usize) {
        let standard = self.runs.iter().filter(|run| matches!(run.key, MakespansKey::Standard(..)));
        let each: Vec<bool> =
            standard.filter_map(|run| Some(run.of(algorithm)?.makespan <= run.facts.reference)).collect();
        (each.iter().filter(|&&optimal| optimal).count(), each.len())
    }

    pub(super) fn claims(&self) -> Vec<Claim> {
        let second = self.options.search.known(1000);
        let ratio = second.as_ref().and_then(|spec| self.ratio(None, spec));
        let (optimal, all) = second.as_ref().map_or((0, 0), |spec| self.optimal(spec));
        let of = |algorithm: &str| self.ratio(None, algorithm);
        let longest = of("cpop").zip(of("peft")).map(|(cpop, peft)| cpop.max(peft).max(1.0));
        let printed = of("critical-jobs[start=empty]").zip(longest);
        vec![
            Claim::one(
                "aim",
                "On graphs of 20 to 100 tasks, the mean of makespan / HEFT's makespan is at most 0.95 for `optimise` with a limit of 1 s",
                ratio.map(|ratio| (format!("{ratio:.3}"), ratio <= AIM)),
            ),
            Claim::one(
                "aim",
                "`optimise` with a limit of 1 s reaches the known optimal makespan on at least 90 % of the standard graphs",
                (all > 0).then(|| (format!("{optimal} of {all}"), 10 * optimal >= 9 * all)),
            ),
            Claim::one(
                "comparison",
                "The paper's method uses the whole time until the deadline, so its plans are longer than the plans of all list schedulers",
                printed.map(|(own, list)| (format!("{own:.3}, lists at most {list:.3}"), own > list)),
            ),
        ]
    }

    pub(super) fn text(&self) -> String {
        let sizes: Vec<f64> = self.drawn(None).map(|run| run.facts.tasks as f64).collect();
        let mut text = format!(
            "Makespans divided by HEFT's: {} graphs with {:.1} tasks on average, on 8 processors. Searches of optimise: {};\n\
             graphs planned at the same time: {}. Means over the graphs for which the algorithm found a plan.\n\n",
            sizes.len(),
            mean(&sizes).unwrap_or_default(),
            self.options.search.searches,
            self.options.search.at_once
        );
        text += &aligned(&WIDTHS, ["", "all", "of", "layer", "narrow", "mont.", "epig.", "cyber.", "fork"]);
        for algorithm in std::iter::once("bound").chain(ALGORITHMS.into_iter().skip(1)) {
            text += &self.row(algorithm, algorithm);
        }
        for (algorithm, label) in self.searched() {
            text += &self.row(&algorithm, &label);
        }
        if self.files.is_empty() {
            return text
                + "\nSkipped the standard task graphs: --data names no folder that contains graphs with a known optimum.\n";
        }
        let names: Vec<String> = self.files.iter().map(|path| name(path)).collect();
        let counts = PROCESSORS.map(|count| count.to_string()).join(", ");
        let _infallible =
            write!(text, "\n{} on {counts} processors; plans with the known optimal makespan:", names.join(", "));
        for (algorithm, label) in self.searched() {
            let (optimal, all) = self.optimal(&algorithm);
            let _infallible = write!(text, "\n{label}: {optimal} of {all}");
        }
        text + "\n"
    }

    /// Returns each spec of `optimise` and its label in the report.
    fn searched(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let search = &self.options.search;
        search.specs().zip(&search.limits.0).map(|(spec, limit)| (spec, format!("optimise, {limit}")))
    }

    fn row(&self, algorithm: &str, label: &str) -> String {
        let all = shown(self.ratio(None, algorithm), 3);
        let shapes = (0..SHAPES.len()).map(|shape| shown(self.ratio(Some(shape), algorithm), 3));
        aligned(&WIDTHS, [label.to_owned(), all, self.found(algorithm).to_string()].into_iter().chain(shapes))
    }
}
