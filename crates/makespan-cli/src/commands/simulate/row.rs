//! A row of a table of measures.

/// The name of a measure, and its figure for each policy.
pub(super) type MeasureRow = (String, Vec<String>);
