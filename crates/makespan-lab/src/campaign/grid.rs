//! The grid of a campaign: each algorithm plans each instance. The instances are divided into groups. A cell of the
//! grid contains the outcomes of one algorithm on the instances of one group.

use serde::{Deserialize, Serialize};

use crate::statistics::{mean, range};

/// A run: an instance, and the outcome of each algorithm on this instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridRun<Key, Facts, Outcome> {
    pub key: Key,
    /// The seed from which the random instance was generated.
    pub seed: u64,
    /// Facts about the instance, such as its bounds.
    pub facts: Facts,
    /// Specs and outcomes, in the order of the algorithms.
    pub outcomes: Vec<(String, Outcome)>,
}

/// A run of any campaign, with its key, its facts and its outcomes.
pub trait AnyRun {
    type Key: Copy + Ord + Send;
    type Outcome;

    fn key(&self) -> Self::Key;

    fn outcomes(&self) -> &[(String, Self::Outcome)];

    /// Returns the outcome of an algorithm.
    fn of(&self, algorithm: &str) -> Option<&Self::Outcome> {
        self.outcomes().iter().find(|(name, _)| name == algorithm).map(|(_, outcome)| outcome)
    }
}

impl<Key: Copy + Ord + Send, Facts, Outcome> AnyRun for GridRun<Key, Facts, Outcome> {
    type Key = Key;
    type Outcome = Outcome;

    fn key(&self) -> Key {
        self.key
    }

    fn outcomes(&self) -> &[(String, Outcome)] {
        &self.outcomes
    }
}

/// A run, the spec of an algorithm, and the outcome of the algorithm.
pub(crate) type GridRow<'a, R> = (&'a R, &'a str, &'a <R as AnyRun>::Outcome);

/// Returns a row for each outcome of each run.
pub(crate) fn rows<R: AnyRun>(runs: &[R]) -> impl Iterator<Item = GridRow<'_, R>> {
    runs.iter().flat_map(|run| run.outcomes().iter().map(move |(name, outcome)| (run, name.as_str(), outcome)))
}

/// The outcomes of an algorithm on the instances of a group.
pub(crate) struct GridCell<'a, Group, R: AnyRun> {
    pub group: Group,
    pub algorithm: &'a str,
    /// The rows of the algorithm, in the order of the runs.
    pub rows: Vec<GridRow<'a, R>>,
}

impl<'a, Group, R: AnyRun> GridCell<'a, Group, R> {
    /// Calls `figure` for each row, and returns the values that are not `None`.
    pub fn sample(&self, figure: impl Fn(&GridRow<'a, R>) -> Option<f64>) -> Vec<f64> {
        self.rows.iter().filter_map(figure).collect()
    }

    /// Returns the mean of `figure` over the rows, or NaN if there are no rows.
    pub fn mean(&self, figure: impl Fn(&GridRow<'a, R>) -> f64) -> f64 {
        mean(&self.all(figure)).unwrap_or(f64::NAN)
    }

    /// Returns the smallest and the largest value of `figure` over the rows.
    pub fn range(&self, figure: impl Fn(&GridRow<'a, R>) -> f64) -> (f64, f64) {
        range(&self.all(figure))
    }

    fn all(&self, figure: impl Fn(&GridRow<'a, R>) -> f64) -> Vec<f64> {
        self.rows.iter().map(figure).collect()
    }
}

/// Returns a cell for each pair of a group and an algorithm. `groups` returns the list of groups to which a run
/// belongs. The result is sorted by the position of the group in this list: first the groups at the first position,
/// then the groups at the second position, and so on.
pub(crate) fn cells<'a, Group: Clone + PartialEq, R: AnyRun>(
    runs: &'a [R],
    groups: impl Fn(&'a R) -> Vec<Group>,
) -> Vec<GridCell<'a, Group, R>> {
    let mut gathered: Vec<(usize, Group, Vec<&'a R>)> = Vec::new();
    for run in runs {
        for (place, group) in groups(run).into_iter().enumerate() {
            match gathered.iter_mut().find(|(at, known, _)| (*at, known) == (place, &group)) {
                Some((.., all)) => all.push(run),
                None => gathered.push((place, group, vec![run])),
            }
        }
    }
    gathered.sort_by_key(|(place, ..)| *place);
    let of_group = |(_, group, runs): (usize, Group, Vec<&'a R>)| {
        let algorithms = runs[0].outcomes().iter();
        let rows = |name: &str| {
            runs.iter().flat_map(|run| rows(std::slice::from_ref(*run))).filter(|row| row.1 == name).collect()
        };
        let cells =
            algorithms.map(|(name, _)| GridCell { group: group.clone(), algorithm: name.as_str(), rows: rows(name) });
        cells.collect::<Vec<_>>()
    };
    gathered.into_iter().flat_map(of_group).collect()
}

/// Returns the cell of a group and an algorithm.
pub(crate) fn find<'c, 'a, Group: PartialEq, R: AnyRun>(
    cells: &'c [GridCell<'a, Group, R>],
    group: &Group,
    algorithm: &str,
) -> Option<&'c GridCell<'a, Group, R>> {
    cells.iter().find(|cell| cell.group == *group && cell.algorithm == algorithm)
}
