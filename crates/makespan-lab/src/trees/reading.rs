//! How what the paper leaves open is read.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use makespan_generate::{DATA, Latency, Unit};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::parsed;

/// What section 5.1 of the paper does not print.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[group(skip)]
pub struct Reading {
    /// How many applications: the paper does not print it
    #[arg(long, default_value_t = Self::DEFAULT.applications)]
    pub applications: usize,
    /// How the paper's bandwidths, "kb/s" and "Mb/s", are read: bytes or bits
    #[arg(long, default_value_t = Self::DEFAULT.unit)]
    pub unit: Unit,
    /// How its latencies are read: none, known (to all schedulers), unseen (by LP and DATA-CENTRIC) or window (known, and
    /// limiting the bandwidth)
    #[arg(long, default_value_t = Self::DEFAULT.latency)]
    pub latency: LatencyReading,
    /// Bytes of each task: how much latencies weigh
    #[arg(long, default_value_t = Self::DEFAULT.data, value_name = "BYTES")]
    pub data: u64,
}

/// What latencies do, and who knows of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LatencyReading {
    /// There are none.
    None,
    /// The port is busy for latency and bytes, and all schedulers reckon with it: "the values were measured from within
    /// the simulator" (section 5.1.4).
    Known,
    /// The port is busy for latency and bytes, and the rates of LP and DATA-CENTRIC are those without latencies.
    Unseen,
    /// As known; and a link's bandwidth is at most `SimGrid`'s window over twice its latency.
    Window,
}

/// Bytes of a matrix of 3500 x 3500 doubles, from which the paper takes its ratios (section 5.1.3).
const MATRIX: u64 = 98_000_000;

impl Reading {
    /// The reading under which most statements of section 5.2 hold, 8 of 15 in short runs; of two equal ones the simpler.
    pub const DEFAULT: Self = Self { applications: 2, unit: Unit::Bytes, latency: LatencyReading::None, data: DATA };

    /// The readings that are compared: two to four applications, both units, each reading of latencies, with files of a
    /// megabyte and of a matrix. Without latencies the size of files only sets the unit of time.
    pub fn grid() -> Vec<Self> {
        let latencies = [
            (LatencyReading::None, DATA),
            (LatencyReading::Known, DATA),
            (LatencyReading::Known, MATRIX),
            (LatencyReading::Unseen, DATA),
            (LatencyReading::Unseen, MATRIX),
            (LatencyReading::Window, DATA),
            (LatencyReading::Window, MATRIX),
        ];
        let all = (2..=4).flat_map(|applications| Unit::ALL.map(|unit| (applications, unit)));
        let each = all.flat_map(|(applications, unit)| {
            latencies.map(|(latency, data)| Self { applications, unit, latency, data })
        });
        each.collect()
    }
}

impl LatencyReading {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::None, Self::Known, Self::Unseen, Self::Window];

    /// How links are drawn.
    pub(super) fn drawn(self) -> Latency {
        match self {
            Self::None => Latency::None,
            Self::Known | Self::Unseen => Latency::Plain,
            Self::Window => Latency::Window,
        }
    }
}

impl fmt::Display for LatencyReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}").to_lowercase())
    }
}

impl FromStr for LatencyReading {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        parsed(Self::ALL, text, "latency", "write none, known, unseen or window")
    }
}

/// `2 applications, bytes, latency known, files of 98 MB`.
impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { applications, unit, latency, data } = self;
        let megabytes = *data as f64 / 1e6;
        write!(f, "{applications} applications, {unit}, latency {latency}, files of {megabytes} MB")
    }
}
