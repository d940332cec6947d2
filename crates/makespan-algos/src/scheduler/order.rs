//! The order of a list schedule.

/// The order of the tasks of a list. In the formulas, w is the weight of a task, p its run time, and k its number of
/// processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first shelf of the dual approximation, then the second shelf, then small tasks.
    Shelf,
    /// Increasing w / p, so that tasks with a long time for their weight come first. This interpretation of "weighted
    /// LPTF" reproduces the curves of its paper (Dutot, Eyraud, Mounié and Trystram, SPAA 2004).
    WeightedLptf,
    /// Decreasing w / p (Smith's rule, 1956), which is the other possible interpretation of "weighted LPTF".
    Smith,
    /// Increasing area k p.
    Saf,
    /// Increasing due date (Jackson's rule, 1955). Jobs without a due date come last.
    Edd,
}

named!(Order { "shelf" => Shelf, "weighted-lptf" => WeightedLptf, "smith" => Smith, "saf" => Saf, "edd" => Edd });
