//! Macro-tasks, which consist of several tasks.

use thiserror::Error;

use super::{Kind, Network, NetworkError};

/// The reason why tasks cannot be combined into macro-tasks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MacroTaskError {
    /// The weights are not in a ratio of small integers.
    #[error("a macro-task would have more than {most} tasks of one bag; give weights in a ratio of small integers")]
    Ratio {
        /// Maximum number of tasks of one application that are combined.
        most: u32,
    },
    /// The macro-tasks do not form a network.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

/// Maximum number of tasks of one application in a macro-task. Larger macro-tasks would take too long to send.
const MAX: u32 = 1000;

impl Network {
    /// Combines tasks into macro-tasks. Each macro-task has tasks of every application in proportion to the weights,
    /// in the smallest possible integers. When some application has too few tasks left for another macro-task, the
    /// remaining tasks of all applications stay single. Single tasks have kinds of their own, after the kind of the
    /// macro-tasks.
    ///
    /// # Errors
    /// [`MacroTaskError`] if the weights are not in a ratio of small integers.
    pub fn in_macro_tasks(&self) -> Result<Self, MacroTaskError> {
        let share = shares(&self.kinds().iter().map(|kind| kind.weight).collect::<Vec<_>>())?;
        let count = self.kinds().iter().zip(&share).map(|(kind, share)| kind.count / share).min().unwrap_or(0);
        let sum = |of: &dyn Fn(&Kind) -> f64| {
            self.kinds().iter().zip(&share).map(|(kind, &share)| of(kind) * f64::from(share)).sum::<f64>()
        };
        let tasks = self.kinds().iter().zip(&share).flat_map(|(kind, &share)| {
            kind.tasks.iter().map(move |&(application, count)| (application, count * share))
        });
        let joined = Kind {
            data: sum(&|kind| kind.data),
            work: sum(&|kind| kind.work),
            weight: sum(&|kind| kind.weight),
            count,
            tasks: tasks.collect(),
        };
        let single = self.kinds().iter().zip(&share);
        let single = single.map(|(kind, share)| Kind { count: kind.count - count * share, ..kind.clone() });
        let kinds = std::iter::once(joined).chain(single).collect();
        Ok(self.with_kinds(kinds)?)
    }
}

/// Returns the smallest integers in the ratio of the weights.
fn shares(weights: &[f64]) -> Result<Vec<u32>, MacroTaskError> {
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    // The weights are multiples of a millionth, so a search finds the smallest factor that makes their ratios to the
    // smallest weight integers.
    (1..=MAX)
        .find_map(|factor| {
            let scaled = weights.iter().map(|weight| weight / least * f64::from(factor));
            let whole = |share: f64| (share - share.round()).abs() < 1e-9 * share && share < f64::from(MAX) + 0.5;
            scaled.map(|share| whole(share).then_some(share.round() as u32)).collect::<Option<Vec<u32>>>()
        })
        .ok_or(MacroTaskError::Ratio { most: MAX })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;
    use crate::tree::network::NetworkNode;

    fn network(weights: &[f64], counts: &[u32]) -> Network {
        let node = NetworkNode { parent: None, processors: 1, speed: 1.0, bandwidth: 1.0, latency: Time::ZERO };
        let kind = |(at, (&weight, &count))| Kind { data: 2.0, work: 3.0, weight, count, tasks: vec![(at, 1)] };
        Network::new(&[node], weights.iter().zip(counts).enumerate().map(kind).collect()).unwrap()
    }

    #[test]
    fn shares_are_the_smallest_integers() {
        assert_eq!(shares(&[1.0, 1.0]).unwrap(), [1, 1]);
        assert_eq!(shares(&[3.0, 1.5, 2.0]).unwrap(), [6, 3, 4]);
        assert_eq!(shares(&[1.0, 1.000_001]), Err(MacroTaskError::Ratio { most: MAX }));
    }

    #[test]
    fn no_task_is_lost_in_macro_tasks() {
        let single = network(&[2.0, 1.0], &[11, 4]);
        let joined = single.in_macro_tasks().unwrap();
        assert_eq!(joined.kinds()[0].tasks, [(0, 2), (1, 1)]);
        assert_eq!(joined.kinds().iter().map(|kind| kind.count).collect::<Vec<_>>(), [4, 3, 0]);
        assert!((joined.kinds()[0].work - 9.0).abs() < 1e-12);
        assert_eq!(joined.tasks(), single.tasks());
    }
}
