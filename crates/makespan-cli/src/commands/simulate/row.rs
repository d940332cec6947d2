//! A row of a table of measures.

/// A row: what is measured, and its figure for each policy.
pub(super) type Row = (String, Vec<String>);
