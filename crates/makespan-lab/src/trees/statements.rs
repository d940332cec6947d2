//! The statements of section 5.2 of the paper about short runs. Each statement has a numeric test.

use super::points::{Points, Ratios, TreeGroup};
use super::{PaperReading, Run, Setting, TreeOutcome, outcome};

/// The measurements for one interpretation of the paper.
pub(super) struct Evidence<'a> {
    pub(super) reading: PaperReading,
    pub(super) runs: Vec<&'a Run>,
    pub(super) points: &'a Points,
}

/// A statement of the paper.
pub(super) struct Statement {
    pub(super) place: &'static str,
    pub(super) text: &'static str,
    /// The test. Returns the measured value as text, and `true` if the value agrees with the statement. Returns `None`
    /// without measurements.
    pub(super) judge: fn(&Evidence<'_>) -> Option<(String, bool)>,
}

/// The measured mean of a ratio agrees with the mean in the paper if their relative difference is at most this value.
const TOLERANCE: f64 = 0.10;
/// The measured maximum of a ratio agrees with the maximum in the paper if they differ by at most this factor.
const FACTOR: f64 = 2.0;
/// DATA-CENTRIC fails on an instance if LP's throughput divided by DATA-CENTRIC's throughput is above this value.
const FAILS: f64 = 2.0;

/// The statements in the order of the paper.
pub(super) const STATEMENTS: [Statement; 15] = [
    Statement {
        place: "Section 5.2.1",
        text: "LP, DATA-CENTRIC and CGBC are 9.426 % below theory on average (here: 4.7 to 14.1 %)",
        judge: |all| {
            let mean = all.deviation(Setting::Short)?;
            Some((percent(mean), (0.047..=0.141).contains(&mean)))
        },
    },
    Statement {
        place: "Section 5.2.2",
        text: "Most logarithms of the ratio LP / heuristic are positive, and LP is the best on average",
        judge: |all| {
            let shares = ["data-centric", "cgbc", "fcfs", "pbc"].map(|name| all.share(name, |ratio| ratio > 1.0));
            let means = ["data-centric", "cgbc", "fcfs"].map(|name| all.mean(TreeGroup::All, name));
            let list: Vec<String> = shares.iter().flatten().map(|&share| percent(share)).collect();
            let holds =
                shares.iter().flatten().all(|&share| share > 0.5) && means.iter().flatten().all(|&mean| mean > 1.0);
            Some((format!("DATA-CENTRIC, CGBC, FCFS, PBC: {}", list.join(", ")), holds))
        },
    },
    Statement {
        place: "Abstract",
        text: "DATA-CENTRIC performs like LP (here: LP / DATA-CENTRIC is at most 1.05) in about two thirds of the settings (here: 55 to 80 %)",
        judge: |all| {
            let share = all.share("data-centric", |ratio| ratio <= 1.05)?;
            Some((percent(share), (0.55..=0.80).contains(&share)))
        },
    },
    Statement {
        place: "Section 5.2.2",
        text: "The geometric mean of LP / DATA-CENTRIC is 1.164",
        judge: |all| all.near("data-centric", TreeGroup::All, 1.164),
    },
    Statement {
        place: "Section 5.2.2",
        text: "The geometric mean of LP / CGBC is 1.156",
        judge: |all| all.near("cgbc", TreeGroup::All, 1.156),
    },
    Statement {
        place: "Section 5.2.2",
        text: "The means of DATA-CENTRIC and CGBC are close to each other (here: they differ by a factor of at most 1.05)",
        judge: |all| {
            let (data, coarse) = (all.mean(TreeGroup::All, "data-centric")?, all.mean(TreeGroup::All, "cgbc")?);
            Some((format!("{data:.3} and {coarse:.3}"), data.max(coarse) <= 1.05 * data.min(coarse)))
        },
    },
    Statement {
        place: "Section 5.2.2",
        text: "LP has up to 16 times the fair throughput of DATA-CENTRIC (here: 8 to 32 times)",
        judge: |all| all.worst("data-centric", 16.0),
    },
    Statement {
        place: "Section 5.2.2",
        text: "CGBC has at least half the fair throughput of LP (here: LP has at most 2.5 times as much)",
        judge: |all| {
            let worst = all.of(TreeGroup::All, "cgbc")?.max;
            Some((format!("{worst:.2}"), worst <= 2.5))
        },
    },
    Statement {
        place: "Section 5.2.2",
        text: "In a few instances (here: at most 10 %), LP has more than twice the fair throughput of DATA-CENTRIC, on small and large, thin and wide trees",
        judge: failures_anywhere,
    },
    Statement {
        place: "Section 5.2.2",
        text: "If DATA-CENTRIC has less than half the fair throughput of LP, the theory predicts this (here: in 90 % of these cases, theory predicts at least half of the logarithm of the ratio)",
        judge: failures_in_theory,
    },
    Statement {
        place: "Section 5.2.2",
        text: "With PBC, the throughput of an application is near zero in more than 35 % of the settings",
        judge: |all| {
            let share = all.of(TreeGroup::All, "pbc")?.starved();
            Some((percent(share), share > 0.35))
        },
    },
    Statement {
        place: "Section 5.2.2",
        text: "The geometric mean of LP / FCFS is 1.564",
        judge: |all| all.near("fcfs", TreeGroup::All, 1.564),
    },
    Statement {
        place: "Section 5.2.2",
        text: "In the worst setting, LP has more than 8 times the fair throughput of FCFS (here: 8 to 16 times)",
        judge: |all| {
            let worst = all.of(TreeGroup::All, "fcfs")?.max;
            Some((format!("{worst:.1}"), worst > 8.0 && worst <= 8.0 * FACTOR))
        },
    },
    Statement {
        place: "Section 5.2.2",
        text: "On small trees FCFS and CGBC are of the same order (here: their means differ by a factor of at most 1.25)",
        judge: |all| {
            let (fcfs, coarse) = (all.mean(TreeGroup::Small, "fcfs")?, all.mean(TreeGroup::Small, "cgbc")?);
            Some((format!("{fcfs:.3} and {coarse:.3}"), fcfs.max(coarse) <= 1.25 * fcfs.min(coarse)))
        },
    },
    Statement {
        place: "Section 5.2.2",
        text: "On trees of 50 and 100 nodes, the geometric mean of LP / CGBC is 1.243, and the geometric mean of LP / FCFS is 2.0399",
        judge: |all| {
            let (coarse, fcfs) =
                (all.near("cgbc", TreeGroup::Large, 1.243)?, all.near("fcfs", TreeGroup::Large, 2.0399)?);
            Some((format!("{} and {}", coarse.0, fcfs.0), coarse.1 && fcfs.1))
        },
    },
];

impl<'a> Evidence<'a> {
    pub(super) fn new(reading: PaperReading, runs: &'a [Run], points: &'a Points) -> Self {
        Self { reading, runs: runs.iter().filter(|run| run.key.reading == reading).collect(), points }
    }

    pub(super) fn of(&self, group: TreeGroup, name: &str) -> Option<&Ratios> {
        self.at(Setting::Short, group, name)
    }

    pub(super) fn at(&self, setting: Setting, group: TreeGroup, name: &str) -> Option<&Ratios> {
        self.points.get(&(self.reading, setting, group, name.to_owned()))
    }

    pub(super) fn mean(&self, group: TreeGroup, name: &str) -> Option<f64> {
        self.of(group, name)?.geometric_mean()
    }

    /// Returns the mean deviation from the theoretical throughput, over LP, DATA-CENTRIC and CGBC.
    pub(super) fn deviation(&self, setting: Setting) -> Option<f64> {
        let names = ["lp", "data-centric", "cgbc"].into_iter();
        let sums = names.filter_map(|name| self.at(setting, TreeGroup::All, name).map(|ratios| ratios.deviations));
        let (sum, count) = sums.fold((0.0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        (count > 0).then(|| sum / count as f64)
    }

    /// Returns, for every short run, the outcome of LP and the outcome of a heuristic.
    fn pairs(&self, name: &str) -> impl Iterator<Item = (&'a Run, &'a TreeOutcome, &'a TreeOutcome)> {
        let pair =
            move |run: &'a Run| Some((run, outcome(run, "lp", Setting::Short)?, outcome(run, name, Setting::Short)?));
        self.runs.iter().copied().filter_map(pair)
    }

    /// Returns the fraction of the short runs in which LP's throughput divided by the throughput of a heuristic
    /// satisfies the condition `such`. Leaves out the runs in which LP's throughput is zero.
    pub(super) fn share(&self, name: &str, such: impl Fn(f64) -> bool) -> Option<f64> {
        let pairs = self.pairs(name).filter(|(_, lp, _)| lp.fair > 0.0);
        let answers: Vec<bool> = pairs.map(|(_, lp, other)| such(lp.fair / other.fair)).collect();
        let yes = answers.iter().filter(|&&yes| yes).count();
        (!answers.is_empty()).then(|| yes as f64 / answers.len() as f64)
    }

    /// Returns the geometric mean of LP's throughput divided by a heuristic's throughput, as text. Also returns `true`
    /// if this mean agrees with the mean `printed` in the paper.
    fn near(&self, name: &str, group: TreeGroup, printed: f64) -> Option<(String, bool)> {
        let mean = self.mean(group, name)?;
        Some((format!("{mean:.3}"), (mean - printed).abs() <= TOLERANCE * printed))
    }

    /// Returns the maximum of LP's throughput divided by a heuristic's throughput, as text. Also returns `true` if this
    /// maximum agrees with the maximum `printed` in the paper.
    fn worst(&self, name: &str, printed: f64) -> Option<(String, bool)> {
        let worst = self.of(TreeGroup::All, name)?.max;
        Some((format!("largest {worst:.1}"), (printed / FACTOR..=printed * FACTOR).contains(&worst)))
    }

    /// Returns the short runs in which DATA-CENTRIC fails.
    fn failures(&self) -> Vec<(&'a Run, &'a TreeOutcome, &'a TreeOutcome)> {
        self.pairs("data-centric").filter(|(_, lp, data)| lp.fair > FAILS * data.fair).collect()
    }
}

fn failures_anywhere(all: &Evidence<'_>) -> Option<(String, bool)> {
    let (failures, pairs) = (all.failures(), all.pairs("data-centric").count());
    let count = |such: &dyn Fn(&Run) -> bool| failures.iter().filter(|(run, ..)| such(run)).count();
    let (small, large) = (count(&|run| run.key.nodes <= 20), count(&|run| run.key.nodes >= 50));
    let (thin, wide) = (count(&|run| run.key.degree == 2), count(&|run| run.key.degree == 15));
    let share = failures.len() as f64 / pairs.max(1) as f64;
    let text = format!("{}; small {small}, large {large}, degree 2 {thin}, 15 {wide}", percent(share));
    let everywhere = [small, large, thin, wide].iter().all(|&count| count > 0);
    (pairs > 0).then_some((text, everywhere && share <= 0.10))
}

fn failures_in_theory(all: &Evidence<'_>) -> Option<(String, bool)> {
    let ratios = all.failures().into_iter().filter_map(|(_, lp, data)| {
        let (of_lp, of_data) = (lp.theory?, data.theory?);
        Some(((lp.fair / data.fair).ln(), (of_lp / of_data).ln()))
    });
    let same: Vec<bool> = ratios.map(|(measured, theory)| theory >= measured.min(8.0) / 2.0).collect();
    let yes = same.iter().filter(|&&same| same).count();
    let text = format!("in theory as well: {yes} of {}", same.len());
    (!same.is_empty()).then_some((text, yes as f64 >= 0.9 * same.len() as f64))
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
