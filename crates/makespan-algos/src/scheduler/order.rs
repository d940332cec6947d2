//! The order of a list schedule.

/// The order of a list, where w is the weight, p the time and k the allotment of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// First shelf of the dual approximation, second shelf, small tasks.
    Shelf,
    /// Increasing w / p: the tasks that are longest for their weight come first. This reading of the paper's "weighted LPTF"
    /// reproduces its curves.
    WeightedLptf,
    /// Decreasing w / p: Smith's rule (1956), the other reading of "weighted LPTF".
    Smith,
    /// Smallest area k p first.
    Saf,
}

named!(Order { "shelf" => Shelf, "weighted-lptf" => WeightedLptf, "smith" => Smith, "saf" => Saf });
