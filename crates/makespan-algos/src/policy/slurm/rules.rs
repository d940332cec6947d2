//! The parameters of the policy, as in `slurm.conf`.

use makespan_core::{CycleRules, Time};

use crate::catalogue::{Parameter, Spec, SpecError};
use crate::policy::order::Request;

/// The parameters of the two cycles and of priorities.
#[derive(Clone, Debug, PartialEq)]
pub struct SlurmRules {
    /// The parameters of the two cycles. Times are in ticks.
    pub cycles: CycleRules,
    /// The parameters of the multifactor priority.
    pub priority: PriorityRules,
}

/// The weights of the multifactor priority, and the parameters of its factors.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorityRules {
    /// `PriorityWeightAge`.
    pub age: u32,
    /// `PriorityWeightFairshare`.
    pub fairshare: u32,
    /// `PriorityWeightJobSize`.
    pub size: u32,
    /// `PriorityWeightPartition`.
    pub partition: u32,
    /// `PriorityWeightQOS`.
    pub qos: u32,
    /// `PriorityWeightTRES`: weights of `cpu`, `node` and resources by name.
    pub tres: Vec<(Box<str>, u32)>,
    /// `PriorityMaxAge`: age at which the age factor is 1.
    pub max_age: Time,
    /// `PriorityDecayHalfLife`: time after which past usage is halved. 0 means that usage never decays.
    pub half_life: Time,
    /// `PriorityCalcPeriod`: time between two computations of usage and priorities.
    pub calc_period: Time,
    /// Whether the fair tree computes the fair-share factor. If not, the classic algorithm computes it
    /// (`NO_FAIR_TREE`).
    pub fair_tree: bool,
    /// `PriorityFavorSmall`: whether small jobs get a higher size factor than large jobs.
    pub favor_small: bool,
}

impl Default for SlurmRules {
    fn default() -> Self {
        let seconds = Time::from_seconds;
        Self {
            cycles: CycleRules::usual(Time::TICKS_PER_SECOND),
            priority: PriorityRules {
                age: 0,
                fairshare: 0,
                size: 0,
                partition: 0,
                qos: 0,
                tres: Vec::new(),
                max_age: seconds(7 * 86_400),
                half_life: seconds(7 * 86_400),
                calc_period: seconds(300),
                fair_tree: true,
                favor_small: false,
            },
        }
    }
}

impl PriorityRules {
    /// Returns whether any factor of the priority has a weight. Without weights, only operators set priorities.
    pub(super) fn weighs(&self) -> bool {
        self.age > 0
            || self.fairshare > 0
            || self.size > 0
            || self.partition > 0
            || self.qos > 0
            || self.tres.iter().any(|weight| weight.1 > 0)
    }
}

const SECONDS: &str = "a positive time in seconds, or with a unit, such as 30 or 5m";
const MINUTES: &str = "a positive number of minutes, or a time with a unit, such as 1440 or 2d";
const SPAN: &str = "a time from 0 in seconds, or with a unit, such as 0 or 7d";
const COUNT: &str = "a whole number from 1";
const UNLIMITED: &str = "a whole number, 0 for no limit";
const RESERVATIONS: &str = "a whole number from 0 to 1000";
const WEIGHT: &str = "a whole number from 0 to 4294967295";
const TRES: &str = "weights by name, such as cpu:1000+memory:10+gpus:5000";
const FAIR: &str = "tree or classic";
const FAVOR: &str = "large or small";

const fn parameter(name: &'static str, values: &'static str, default: &'static str) -> Parameter {
    Parameter { name, values, default }
}

impl SlurmRules {
    pub(in crate::policy) const PARAMETERS: &'static [Parameter] = &[
        parameter("bf_interval", SECONDS, "30"),
        parameter("bf_window", MINUTES, "1440"),
        parameter("bf_resolution", SECONDS, "60"),
        parameter("bf_window_linear", SPAN, "0"),
        parameter("bf_max_job_test", COUNT, "500"),
        parameter("bf_max_job_part", UNLIMITED, "0"),
        parameter("bf_max_job_user", UNLIMITED, "0"),
        parameter("bf_max_job_start", UNLIMITED, "0"),
        parameter("bf_max_job_array_resv", RESERVATIONS, "20"),
        parameter("bf_min_age_reserve", SPAN, "0"),
        parameter("bf_min_prio_reserve", UNLIMITED, "0"),
        parameter("default_queue_depth", COUNT, "100"),
        parameter("partition_job_depth", UNLIMITED, "0"),
        parameter("sched_interval", SECONDS, "60"),
        parameter("weight_age", WEIGHT, "0"),
        parameter("weight_fairshare", WEIGHT, "0"),
        parameter("weight_job_size", WEIGHT, "0"),
        parameter("weight_partition", WEIGHT, "0"),
        parameter("weight_qos", WEIGHT, "0"),
        parameter("weight_tres", TRES, "cpu:0"),
        parameter("max_age", SECONDS, "7d"),
        parameter("half_life", SPAN, "7d"),
        parameter("calc_period", SECONDS, "5m"),
        parameter("fair", FAIR, "tree"),
        parameter("favor", FAVOR, "large"),
        parameter("request", Request::VALUES, "efficient"),
    ];

    /// Reads the parameters of a spec.
    pub(in crate::policy) fn read(spec: &mut Spec) -> Result<Self, SpecError> {
        let usual = Self::default();
        let (own, cycles) = (&usual.priority, &usual.cycles);
        Ok(Self {
            cycles: CycleRules {
                bf_interval: spec.take("bf_interval", cycles.bf_interval, ticks(seconds))?,
                bf_window: spec.take("bf_window", cycles.bf_window, ticks(minutes))?,
                bf_resolution: spec.take("bf_resolution", cycles.bf_resolution, ticks(seconds))?,
                bf_window_linear: spec.take("bf_window_linear", cycles.bf_window_linear, ticks(span))?,
                bf_max_job_test: spec.take("bf_max_job_test", cycles.bf_max_job_test, count)?,
                bf_max_job_part: spec.take("bf_max_job_part", cycles.bf_max_job_part, unlimited)?,
                bf_max_job_user: spec.take("bf_max_job_user", cycles.bf_max_job_user, unlimited)?,
                bf_max_job_start: spec.take("bf_max_job_start", cycles.bf_max_job_start, unlimited)?,
                bf_max_job_array_resv: spec.take(
                    "bf_max_job_array_resv",
                    cycles.bf_max_job_array_resv,
                    reservations,
                )?,
                bf_min_age_reserve: spec.take("bf_min_age_reserve", cycles.bf_min_age_reserve, ticks(span))?,
                bf_min_prio_reserve: spec.take("bf_min_prio_reserve", cycles.bf_min_prio_reserve, |text| {
                    unlimited(text).map(|it| it as u64)
                })?,
                default_queue_depth: spec.take("default_queue_depth", cycles.default_queue_depth, count)?,
                partition_job_depth: spec.take("partition_job_depth", cycles.partition_job_depth, unlimited)?,
                sched_interval: spec
                    .take("sched_interval", cycles.sched_interval, |text| ticks(seconds)(text).map(Some))?,
                ..cycles.clone()
            },
            priority: PriorityRules {
                age: spec.take("weight_age", own.age, weight)?,
                fairshare: spec.take("weight_fairshare", own.fairshare, weight)?,
                size: spec.take("weight_job_size", own.size, weight)?,
                partition: spec.take("weight_partition", own.partition, weight)?,
                qos: spec.take("weight_qos", own.qos, weight)?,
                tres: spec.take("weight_tres", own.tres.clone(), weights)?,
                max_age: spec.take("max_age", own.max_age, seconds)?,
                half_life: spec.take("half_life", own.half_life, span)?,
                calc_period: spec.take("calc_period", own.calc_period, seconds)?,
                fair_tree: spec.take("fair", own.fair_tree, |text| either(text, FAIR, "tree", "classic"))?,
                favor_small: !spec.take("favor", !own.favor_small, |text| either(text, FAVOR, "large", "small"))?,
            },
        })
    }
}

fn either(text: &str, values: &str, yes: &str, no: &str) -> Result<bool, String> {
    if text == yes {
        return Ok(true);
    }
    if text == no { Ok(false) } else { Err(values.to_owned()) }
}

/// Returns a reader of times in ticks.
fn ticks(read: fn(&str) -> Result<Time, String>) -> impl Fn(&str) -> Result<i64, String> {
    move |text| read(text).map(Time::ticks)
}

fn span(text: &str) -> Result<Time, String> {
    Time::parse(text).ok().filter(|time| time.ticks() >= 0).ok_or_else(|| SPAN.to_owned())
}

fn seconds(text: &str) -> Result<Time, String> {
    span(text).ok().filter(|time| time.ticks() > 0).ok_or_else(|| SECONDS.to_owned())
}

fn minutes(text: &str) -> Result<Time, String> {
    let bare = text.parse::<u32>().ok().filter(|&count| count > 0);
    let time = bare.map(|count| Time::from_seconds(60 * i64::from(count)));
    time.map_or_else(|| seconds(text).map_err(|_| MINUTES.to_owned()), Ok)
}

fn unlimited(text: &str) -> Result<usize, String> {
    text.parse::<u32>().map(|count| count as usize).map_err(|_| UNLIMITED.to_owned())
}

fn reservations(text: &str) -> Result<usize, String> {
    unlimited(text).ok().filter(|&count| count <= 1000).ok_or_else(|| RESERVATIONS.to_owned())
}

fn count(text: &str) -> Result<usize, String> {
    unlimited(text).ok().filter(|&count| count > 0).ok_or_else(|| COUNT.to_owned())
}

fn weight(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| WEIGHT.to_owned())
}

fn weights(text: &str) -> Result<Vec<(Box<str>, u32)>, String> {
    let one = |part: &str| {
        let (name, weight) = part.split_once(':')?;
        (!name.is_empty()).then_some(())?;
        Some((name.into(), weight.parse().ok()?))
    };
    text.split('+').map(one).collect::<Option<Vec<_>>>().ok_or_else(|| TRES.to_owned())
}
