//! Speed-up laws that make the rigid jobs of a log moldable.

use std::fmt;
use std::str::FromStr;

use makespan_core::SpeedupLaw;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

/// Speed-up of logged jobs, stated as `linear`, `amdahl:S`, `power:E`, `downey:A,SIGMA`, `downey:random` or `fitted`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpeedupSpec {
    /// The same law for all jobs.
    Law(SpeedupLaw),
    /// Downey's law with random parameters for each job. A is log-uniform on [1, number of processors of the platform],
    /// and sigma is uniform on [0, 2].
    DowneyRandom,
    /// Amdahl's law, fitted to the logged efficiency of each job. The efficiency is the average CPU time of the job's
    /// processors, divided by the run time of the job. If the serial share is s, the efficiency on n processors is 1 /
    /// (1 + s (n - 1)). A job without a logged CPU time, or on one processor, stays rigid. Busy-waiting uses CPU time,
    /// so s becomes too small. Waiting for a disk uses no CPU time.
    Fitted,
}

/// Error for a text that is not a speed-up.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{text}` is not a speed-up: {reason}; write linear, amdahl:SERIAL, power:EXPONENT, downey:PARALLELISM,SIGMA, \
     downey:random, or fitted"
)]
pub struct SpeedupSpecError {
    text: String,
    reason: String,
}

impl FromStr for SpeedupSpec {
    type Err = SpeedupSpecError;

    fn from_str(text: &str) -> Result<Self, SpeedupSpecError> {
        parse(text).map_err(|reason| SpeedupSpecError { text: text.to_owned(), reason })
    }
}

fn parse(text: &str) -> Result<SpeedupSpec, String> {
    let (name, rest) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
    let parameters: Vec<&str> = if rest.is_empty() { Vec::new() } else { rest.split(',').map(str::trim).collect() };
    let number = |text: &str| text.parse::<f64>().map_err(|_| format!("`{text}` is not a number"));
    let law = match (name, parameters.as_slice()) {
        ("fitted", []) => return Ok(SpeedupSpec::Fitted),
        ("downey", ["random"]) => return Ok(SpeedupSpec::DowneyRandom),
        ("linear", []) => SpeedupLaw::Linear {},
        ("amdahl", [serial]) => SpeedupLaw::Amdahl { serial: number(serial)? },
        ("power", [exponent]) => SpeedupLaw::Power { exponent: number(exponent)? },
        ("downey", [parallelism, sigma]) => {
            SpeedupLaw::Downey { parallelism: number(parallelism)?, sigma: number(sigma)? }
        }
        ("linear" | "amdahl" | "power" | "downey" | "fitted", _) => {
            return Err("the number of parameters is wrong; write linear, amdahl:SERIAL, power:EXPONENT, \
                        downey:A,SIGMA, or fitted"
                .to_owned());
        }
        _ => return Err(format!("the law `{name}` is unknown")),
    };
    law.check().map_err(|error| error.to_string())?;
    Ok(SpeedupSpec::Law(law))
}

impl fmt::Display for SpeedupSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Law(SpeedupLaw::Linear {}) => f.write_str("linear"),
            Self::Law(SpeedupLaw::Amdahl { serial }) => write!(f, "amdahl:{serial}"),
            Self::Law(SpeedupLaw::Power { exponent }) => write!(f, "power:{exponent}"),
            Self::Law(SpeedupLaw::Downey { parallelism, sigma }) => write!(f, "downey:{parallelism},{sigma}"),
            Self::DowneyRandom => f.write_str("downey:random"),
            Self::Fitted => f.write_str("fitted"),
        }
    }
}

/// Generator of the speed-up law of each job.
pub(crate) struct Laws {
    spec: SpeedupSpec,
    rng: ChaCha8Rng,
    /// Natural logarithm of the number of processors of the platform. This logarithm is the maximum of log A.
    log_processors: f64,
}

impl Laws {
    pub(crate) fn new(spec: SpeedupSpec, seed: u64, processors: u32) -> Self {
        Self { spec, rng: ChaCha8Rng::seed_from_u64(seed), log_processors: f64::from(processors).ln() }
    }

    /// Returns the law of the next job. `processors` is the number of processors on which the job ran, and `efficiency`
    /// its logged efficiency. Returns `None` if the job stays rigid.
    pub(crate) fn next(&mut self, processors: u32, efficiency: Option<f64>) -> Option<SpeedupLaw> {
        match self.spec {
            SpeedupSpec::Law(law) => Some(law),
            SpeedupSpec::DowneyRandom => {
                let parallelism = (self.rng.random::<f64>() * self.log_processors).exp().max(1.0);
                Some(SpeedupLaw::Downey { parallelism, sigma: 2.0 * self.rng.random::<f64>() })
            }
            SpeedupSpec::Fitted => {
                let efficiency = efficiency.filter(|_| processors > 1)?;
                let serial = (1.0 / efficiency.min(1.0) - 1.0) / f64::from(processors - 1);
                Some(SpeedupLaw::Amdahl { serial: serial.clamp(0.0, 1.0) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_prints() {
        for text in ["linear", "amdahl:0.05", "power:0.8", "downey:20,0.7", "downey:random", "fitted"] {
            assert_eq!(text.parse::<SpeedupSpec>().unwrap().to_string(), text);
        }
        for bad in [
            "",
            "amdal:1",
            "amdahl",
            "amdahl:2",
            "amdahl:NaN",
            "downey:3",
            "power:x",
            "linear:1",
            "downey:0.5,1",
            "fitted:1",
        ] {
            let error = bad.parse::<SpeedupSpec>().unwrap_err().to_string();
            assert!(error.contains("write linear"), "{error}");
        }
    }

    #[test]
    fn a_fitted_law_has_the_logged_efficiency() {
        let mut laws = Laws::new(SpeedupSpec::Fitted, 0, 64);
        for (processors, efficiency) in [(2, 0.9), (8, 0.5), (64, 0.02)] {
            let law = laws.next(processors, Some(efficiency)).unwrap();
            let fitted = 1.0 / (law.time_fraction(processors) * f64::from(processors));
            assert!((fitted - efficiency).abs() < 1e-12, "{fitted} on {processors}");
        }
        assert_eq!(laws.next(4, Some(1.7)), Some(SpeedupLaw::Amdahl { serial: 0.0 }), "a measurement's error");
        assert_eq!(laws.next(4, Some(0.1)), Some(SpeedupLaw::Amdahl { serial: 1.0 }), "below one processor's work");
        assert_eq!((laws.next(1, Some(0.5)), laws.next(4, None)), (None, None));
    }
}
