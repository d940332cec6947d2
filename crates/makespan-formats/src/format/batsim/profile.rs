//! Profiles of Batsim and their run times.

use std::collections::BTreeMap;

use makespan_core::{Quantity, Time};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess};

use crate::figure::{Figure, FromFigure, figure};
use crate::odd::{ValueProblem, run_time};
use crate::suggest::nearest;

/// Maximum nesting depth of compositions.
const DEEPEST: usize = 20;

/// Limit on the number of profiles in a composition, including the profiles in nested compositions. A profile that is
/// listed several times is counted each time.
const MAX_PARTS: usize = 100_000;

#[derive(Deserialize)]
pub(super) struct ProfileEntry {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    delay: Figure,
    #[serde(default)]
    cpu: Amount,
    #[serde(default)]
    com: Amount,
    generation_strategy: Option<String>,
    /// Names of the profiles of a composition, in the order in which they run.
    #[serde(default)]
    seq: Vec<String>,
    #[serde(default)]
    repeat: Figure,
}

/// A number, or the largest number in a list of numbers.
#[derive(Clone, Copy, Default)]
struct Amount {
    most: f64,
    /// True if a value is negative, too large or not a number.
    is_broken: bool,
}

impl FromFigure for Amount {
    fn from_text(text: Option<&str>) -> Self {
        text.map_or_else(Self::default, |text| amount(text.parse().unwrap_or(f64::NAN)))
    }

    fn from_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut all = Self::default();
        while let Some(one) = list.next_element::<Self>()? {
            all = Self { most: all.most.max(one.most), is_broken: all.is_broken || one.is_broken };
        }
        Ok(all)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        figure(deserializer)
    }
}

fn amount(value: f64) -> Amount {
    match Quantity::AMOUNT.check(value) {
        Ok(most) => Amount { most, is_broken: false },
        Err(_) => Amount { most: 0.0, is_broken: true },
    }
}

/// Run time of a profile, and whether the profile communicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ProfileTime {
    /// Run time, or `None` if the run time is unknown.
    pub time: Option<Time>,
    pub communicates: bool,
}

/// The profiles of a workload, and the speed of a processor in floating-point operations per second.
pub(super) struct WorkloadProfiles<'a> {
    pub profiles: &'a BTreeMap<String, ProfileEntry>,
    pub speed: f64,
}

impl WorkloadProfiles<'_> {
    /// Returns the run time of the named profile on `processors` processors.
    ///
    /// # Errors
    /// An error message if no profile has this name, or if a composition contains itself or is nested too deeply.
    pub(super) fn of(&self, label: &str, processors: u32) -> Result<ProfileTime, String> {
        self.part(label, processors, 0, &mut MAX_PARTS.clone())
    }

    fn part(&self, label: &str, processors: u32, depth: usize, left: &mut usize) -> Result<ProfileTime, String> {
        let profile = self.profiles.get(label).ok_or_else(|| {
            let near = nearest(label, self.profiles.keys().map(String::as_str));
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("`profiles` contains no profile `{label}`{near}")
        })?;
        *left = left.saturating_sub(1);
        if depth > DEEPEST || *left == 0 {
            return Err(format!("profile `{label}` is nested in more than {DEEPEST} compositions, or contains itself"));
        }
        let operations = profile.cpu.most;
        match profile.kind.as_str() {
            "delay" | "DelayProfile" => {
                let time = match run_time(profile.delay.text()) {
                    Err(ValueProblem::ZeroTime) => Some(Time::ZERO),
                    time => time.ok(),
                };
                Ok(ProfileTime { time, communicates: false })
            }
            "parallel" | "ptask" | "ParallelTaskProfile" | "msg_par" => Ok(self.computes(profile, operations)),
            "parallel_homogeneous" | "ptask_homogeneous" | "ParallelTaskHomogeneousProfile" | "msg_par_hg" => {
                // Workload files and Batsim's protocol use different names for this value.
                let is_spread = match profile.generation_strategy.as_deref() {
                    None | Some("defined_amount_used_for_each_value" | "DefinedAmountsUsedForEachValue") => false,
                    Some("defined_amount_spread_uniformly" | "DefinedAmountsSpreadUniformly") => true,
                    Some(_) => return Ok(ProfileTime { time: None, communicates: false }),
                };
                let share = if is_spread { operations / f64::from(processors) } else { operations };
                Ok(self.computes(profile, share))
            }
            "parallel_homogeneous_total" | "ptask_homogeneous_total" | "msg_par_hg_tot" => {
                Ok(self.computes(profile, operations / f64::from(processors)))
            }
            "composed" | "sequential_composition" | "SequentialCompositionProfile" => {
                self.composed(profile, processors, depth, left)
            }
            _ => Ok(ProfileTime { time: None, communicates: false }),
        }
    }

    /// Returns the run time of a profile with `operations` floating-point operations on each processor.
    fn computes(&self, profile: &ProfileEntry, operations: f64) -> ProfileTime {
        let time = Time::from_seconds_f64(operations / self.speed).ok().filter(|_| !profile.cpu.is_broken);
        let time = time.map(|time| if operations > 0.0 { time.max(Time::TICK) } else { time });
        ProfileTime { time, communicates: profile.com.most > 0.0 || profile.com.is_broken }
    }

    /// Returns the run time of a composition: the sum of the run times of its parts, multiplied by the number of
    /// repetitions.
    fn composed(
        &self,
        profile: &ProfileEntry,
        processors: u32,
        depth: usize,
        left: &mut usize,
    ) -> Result<ProfileTime, String> {
        let (mut sum, mut communicates) = (Some(0_i64), false);
        for label in &profile.seq {
            let part = self.part(label, processors, depth + 1, left)?;
            communicates |= part.communicates;
            sum = sum.zip(part.time).and_then(|(sum, time)| sum.checked_add(time.ticks()));
        }
        let repeat = profile.repeat.text().map_or(Some(1), |text| text.parse::<i64>().ok().filter(|&count| count >= 0));
        let ticks = sum.zip(repeat).and_then(|(sum, repeat)| sum.checked_mul(repeat));
        Ok(ProfileTime { time: ticks.map(Time::from_ticks), communicates })
    }
}
