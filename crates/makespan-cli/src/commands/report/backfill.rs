//! `makespan report --backfill`: advice about the parameters of Slurm's backfill, from simulations of the log.

use std::process::ExitCode;
use std::thread::available_parallelism;

use makespan::policy::policy_for;
use makespan::{Instance, Simulated, SimulationInput, SimulationOptions};
use makespan_core::counted;
use makespan_formats::{Replay, ReplayOptions};
use miette::{Result, miette};
use serde_json::{Value, json};

use super::effect::{Effect, LEAST_BLOCKS, PERCENT, RESAMPLES, Resamples, TaskWaits, widest};
use crate::args::{ReportFormat, ReportOptions};
use crate::commands::simulate::play::play;
use crate::difference::Difference;
use crate::input::replay_at;
use crate::output::{emit, narrow, table};
use crate::present;
use crate::slurm_policy::{merged, value};

/// The parameters to change: the name, the default of Slurm, and other values, in the units of `slurm.conf`.
const SWEEP: [(&str, &str, &[&str]); 8] = [
    ("bf_window", "1440", &["720", "2880", "5760", "10080"]),
    ("bf_max_job_test", "500", &["50", "100", "1000", "5000"]),
    ("bf_interval", "30", &["10", "60", "120", "300"]),
    ("bf_resolution", "60", &["30", "300", "600", "1800"]),
    ("bf_max_job_user", "0", &["1", "5", "20"]),
    ("bf_max_job_part", "0", &["10", "100"]),
    ("bf_max_job_start", "0", &["1", "10"]),
    ("bf_min_age_reserve", "0", &["600", "3600", "21600"]),
];

/// Number of blocks from which on the ranges need no warning.
const FEW_BLOCKS: usize = 20;

/// A simulated value of a parameter.
struct Setting {
    parameter: &'static str,
    value: &'static str,
    /// The value in the present policy.
    present: String,
    spec: String,
}

/// The present policy, its measures, and the effects of all other settings.
struct Advice {
    spec: String,
    jobs: usize,
    mean_wait: f64,
    slowdown: f64,
    settings: Vec<(Setting, Effect)>,
    /// The mean wait of the tasks on the most processors and the longest wait, in seconds: under the present policy, and
    /// with the best setting. `None` if there is no best setting.
    price: Option<[(f64, f64); 2]>,
    resamples: Resamples,
    seed: u64,
    remarks: Vec<String>,
}

/// Prints the advice for the log that the options name.
pub fn advise(options: &ReportOptions) -> Result<ExitCode> {
    if options.format == ReportFormat::Csv {
        return Err(miette!("--backfill: the advice has no CSV table; write --format text or --format json"));
    }
    let advice = Advice::new(options)?;
    emit(&match options.format {
        ReportFormat::Json => format!("{:#}\n", advice.json()),
        _ => advice.text(),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the settings that differ from the present policy in one parameter.
fn settings(spec: &str) -> Vec<Setting> {
    let of = |&(parameter, default, others): &(&'static str, &'static str, &'static [&'static str])| {
        let present = value(spec, parameter).unwrap_or(default);
        let values: Vec<&'static str> = [default].iter().chain(others).copied().filter(|&one| one != present).collect();
        let setting = move |value: &'static str| {
            let spec = merged(spec, &format!("slurm[{parameter}={value}]"))?;
            Some(Setting { parameter, value, present: present.to_owned(), spec })
        };
        values.into_iter().filter_map(setting).collect::<Vec<_>>()
    };
    SWEEP.iter().flat_map(of).collect()
}

impl Advice {
    fn new(options: &ReportOptions) -> Result<Self> {
        let cluster = options.from.as_deref().map(present::read).transpose()?;
        let own = cluster.as_ref().map_or_else(|| "slurm".to_owned(), |(queue, _)| queue.policy_spec(&[]));
        let stated = options.advice.policy.as_deref().unwrap_or("slurm");
        let spec = merged(&own, stated).ok_or_else(|| {
            miette!("--policy {stated}: --backfill needs the policy slurm, such as 'slurm[bf_window=2880]'")
        })?;
        // The policy chooses nodes itself, as Slurm does.
        let platform = cluster.map(|(_, present)| present.instance.platform().clone().with_placement(None));
        let reading = ReplayOptions {
            processors: options.processors,
            platform,
            strict: options.strict,
            ..ReplayOptions::default()
        };
        let Replay { instance, actual, mut remarks, format, .. } = replay_at(&options.log, &reading)?;
        if !format.is_log() {
            return Err(miette!("{}: this file is {format}, not a log of jobs that ran", options.log.display()));
        }
        let resamples = Resamples::new(&instance, options.advice.seed);
        if resamples.blocks() < LEAST_BLOCKS {
            return Err(miette!(
                "{}: --backfill needs jobs of at least {LEAST_BLOCKS} days for the ranges of its differences, but the log has jobs of {}; \
                 save a longer log",
                options.log.display(),
                counted(resamples.blocks(), "day")
            ));
        }
        policy_for(&spec, &instance, options.advice.seed).map_err(|error| miette!("{error}"))?;
        let settings = settings(&spec);
        let rules = SimulationOptions::default();
        let scene =
            SimulationInput { instance: &instance, actual: &actual, options: &rules, seed: options.advice.seed };
        let specs = [&spec].into_iter().chain(settings.iter().map(|setting| &setting.spec));
        let scenes: Vec<(SimulationInput<'_>, &str)> = specs.map(|spec| (scene, spec.as_str())).collect();
        let all = play(&scenes, available_parallelism().map_or(1, usize::from))?;
        let waits = |one: &Simulated| TaskWaits::of(&instance, &one.simulation.trace);
        let (before, measures) = (waits(&all[0]), &all[0].measures);
        let effects = all[1..].iter().map(|one| resamples.effect(&before, &waits(one)));
        let settings: Vec<(Setting, Effect)> = settings.into_iter().zip(effects).collect();
        let wide = widest(&all[0].simulation.trace);
        let price = best(&settings).map(|best| {
            let after = &all[best + 1];
            [(before.mean(&wide), measures.wait.max), (waits(after).mean(&wide), after.measures.wait.max)]
        });
        remarks.extend(never(&instance, &before));
        remarks.extend((resamples.blocks() < FEW_BLOCKS).then(|| {
            format!(
                "with fewer than {FEW_BLOCKS} blocks, ranges are often too narrow; a longer log gives better ranges"
            )
        }));
        remarks.push(
            "cycles take no time in the simulation; on the cluster, a larger bf_window or bf_max_job_test, a finer bf_resolution and a \
             shorter bf_interval take more time of the controller (sdiag prints it)"
                .into(),
        );
        let (mean_wait, slowdown) = (measures.wait.mean, measures.bounded_slowdown.mean);
        Ok(Self {
            spec,
            jobs: measures.jobs,
            mean_wait,
            slowdown,
            settings,
            price,
            resamples,
            seed: options.advice.seed,
            remarks,
        })
    }

    /// Returns the setting with the largest certain decrease of the mean wait.
    fn best(&self) -> Option<&(Setting, Effect)> {
        best(&self.settings).map(|best| &self.settings[best])
    }

    /// Returns the conclusion in one sentence.
    fn conclusion(&self) -> String {
        match self.best() {
            Some((Setting { parameter, value, present, .. }, effect)) => format!(
                "{parameter} binds: with {value} instead of {present}, the mean wait changes by {}",
                effect.wait.words()
            ),
            None if self.settings.iter().any(|one| one.1.wait.is_certain()) => {
                "no value reduces the mean wait by more than its range; some values increase it".to_owned()
            }
            None => "no parameter changes the mean wait by more than its range".to_owned(),
        }
    }

    fn text(&self) -> String {
        let mut text = narrow("", 0, &format!("{} under {}", counted(self.jobs, "job"), self.spec));
        text += &format!("mean wait {:.0} s, mean bounded slowdown {:.3}\n\n", self.mean_wait, self.slowdown);
        let between = |own: &Difference, places: usize| {
            let (early, late) = own.range.unwrap_or_default();
            format!("{early:+.places$} .. {late:+.places$}")
        };
        let (without, with): (Vec<_>, Vec<_>) = self.settings.iter().partition(|one| one.1.is_none());
        let most = with.iter().map(|one| one.1.slowdown.seconds.abs()).fold(0.0, f64::max);
        let places = if most < 100.0 { 2 } else { 0 };
        let row = |(setting, effect): &&(Setting, Effect)| {
            let Effect { wait, slowdown } = effect;
            vec![
                setting.parameter.to_owned(),
                setting.value.to_owned(),
                format!("{:+.0}", wait.seconds),
                between(wait, 0),
                format!("{:+.places$}", slowdown.seconds),
                between(slowdown, places),
            ]
        };
        let heading = ["parameter", "value", "wait (s)", "between", "slowdown", "between"];
        if !with.is_empty() {
            text += &table(&heading, 1, with.iter().map(row));
            text += "\n";
        }
        if !without.is_empty() {
            let values = |parameter: &str| {
                let values = without.iter().filter(|one| one.0.parameter == parameter).map(|one| one.0.value);
                let values = values.collect::<Vec<_>>().join(", ");
                (!values.is_empty()).then(|| format!("{parameter} {values}"))
            };
            let all: Vec<String> = SWEEP.iter().filter_map(|row| values(row.0)).collect();
            text += &narrow("no effect: ", 11, &all.join("; "));
        }
        text += &narrow("", 0, &self.conclusion());
        if let Some((Setting { parameter, value, .. }, _)) = self.best() {
            text +=
                &narrow("", 0, &format!("to use it, set in slurm.conf: SchedulerParameters=..,{parameter}={value}"));
        }
        if let Some([before, after]) = self.price {
            let price = format!(
                "with it, the tenth of the jobs on the most processors waits {:.0} s instead of {:.0} s in the mean, and the longest \
                 wait is {:.0} s instead of {:.0} s",
                after.0, before.0, after.1, before.1
            );
            text += &narrow("price: ", 7, &price);
        }
        text += &narrow("note: ", 6, &self.method());
        self.remarks.iter().for_each(|remark| text += &narrow("note: ", 6, remark));
        text
    }

    /// Describes the ranges.
    fn method(&self) -> String {
        format!(
            "differences are paired by job; each range contains {PERCENT} % of {RESAMPLES} resamples of {} (block bootstrap, seed {})",
            counted(self.resamples.blocks(), self.resamples.block()),
            self.seed
        )
    }

    fn json(&self) -> Value {
        let difference = |own: &Difference| {
            let (early, late) = own.range.unzip();
            json!({ "difference": own.seconds, "early": early, "late": late })
        };
        let setting = |(setting, effect): &(Setting, Effect)| {
            json!({
                "parameter": setting.parameter,
                "value": setting.value,
                "present": setting.present,
                "policy": setting.spec,
                "mean_wait": effect.wait.json(),
                "bounded_slowdown": difference(&effect.slowdown),
            })
        };
        json!({
            "policy": self.spec,
            "jobs": self.jobs,
            "mean_wait": self.mean_wait,
            "bounded_slowdown": self.slowdown,
            "settings": self.settings.iter().map(setting).collect::<Vec<_>>(),
            "best": self.best().map(setting),
            "price": self.price.map(|price| {
                let [present, best] = price.map(|(widest, longest)| json!({ "mean_wait_of_widest": widest, "longest_wait": longest }));
                json!({ "present": present, "best": best })
            }),
            "conclusion": self.conclusion(),
            "ranges": {
                "percent": PERCENT,
                "resamples": RESAMPLES,
                "blocks": self.resamples.blocks(),
                "block": self.resamples.block(),
                "seed": self.seed,
            },
            "remarks": self.remarks,
        })
    }
}

/// Returns the index of the setting with the largest certain decrease of the mean wait.
fn best(settings: &[(Setting, Effect)]) -> Option<usize> {
    let waits = settings.iter().map(|one| one.1.wait).enumerate();
    let better = waits.filter(|(_, wait)| wait.is_certain() && wait.seconds < 0.0);
    better.min_by(|one, other| one.1.seconds.total_cmp(&other.1.seconds)).map(|best| best.0)
}

/// Returns a note about the jobs that can never start under the rules of the cluster.
fn never(instance: &Instance, before: &TaskWaits) -> Option<String> {
    let count = instance.tasks() as usize - before.ended();
    (count > 0).then(|| {
        format!("{} can never start under the rules of this cluster: not included in the means", counted(count, "job"))
    })
}
