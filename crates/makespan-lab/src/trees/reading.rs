//! Readings: interpretations of the paper. An interpretation is a choice of values for the parameters that the paper
//! does not state.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use makespan_generate::{DATA, Latency, Unit};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::parsed;

/// The parameters that section 5.1 of the paper does not print.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[group(skip)]
pub struct PaperReading {
    /// Number of applications, which the paper does not print
    #[arg(long, default_value_t = Self::DEFAULT.applications)]
    pub applications: usize,
    /// Unit of the paper's bandwidths "kb/s" and "Mb/s": bytes or bits
    #[arg(long, default_value_t = Self::DEFAULT.unit)]
    pub unit: Unit,
    /// Latencies: none, known (to all schedulers), unseen (by LP and DATA-CENTRIC) or window (known, and limiting the
    /// bandwidth)
    #[arg(long, default_value_t = Self::DEFAULT.latency)]
    pub latency: LatencyReading,
    /// Bytes of each task; latencies matter more for smaller tasks
    #[arg(long, default_value_t = Self::DEFAULT.data, value_name = "BYTES")]
    pub data: u64,
}

/// An interpretation of the paper with respect to latencies: their effect, and the schedulers that know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LatencyReading {
    /// Links have no latencies.
    None,
    /// The port is busy during the latency and the transfer. All schedulers know the latencies. A sentence of the paper
    /// about bandwidths suggests this interpretation: "the values were measured from within the simulator" (section
    /// 5.1.4).
    Known,
    /// The port is busy during the latency and the transfer. LP and DATA-CENTRIC do not know the latencies when they
    /// compute rates.
    Unseen,
    /// Latencies as in `Known`. In addition, a link's bandwidth is at most `SimGrid`'s window divided by twice its
    /// latency.
    Window,
}

/// The size in bytes of a matrix of 3500 x 3500 doubles. The paper derives its ratios of communication to computation
/// from this matrix (section 5.1.3).
const MATRIX: u64 = 98_000_000;

impl PaperReading {
    /// The default interpretation. In short runs, at most 8 of the 15 statements of section 5.2 are true under any
    /// interpretation. Several interpretations reach 8 statements, and this is the simplest one of them.
    pub const DEFAULT: Self = Self { applications: 2, unit: Unit::Bytes, latency: LatencyReading::None, data: DATA };

    /// Returns the interpretations that the campaign compares: two to four applications, both units, and every
    /// [`LatencyReading`]. The size of a task is a megabyte or the size of a matrix. Without latencies, a megabyte is
    /// enough, because another size would only change the unit of time.
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
    /// All variants.
    pub const ALL: [Self; 4] = [Self::None, Self::Known, Self::Unseen, Self::Window];

    /// Returns the option of the generator for the latencies of links.
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

/// Formats an interpretation, such as `2 applications, bytes, latency known, files of 98 MB`.
impl fmt::Display for PaperReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { applications, unit, latency, data } = self;
        let megabytes = *data as f64 / 1e6;
        write!(f, "{applications} applications, {unit}, latency {latency}, files of {megabytes} MB")
    }
}
