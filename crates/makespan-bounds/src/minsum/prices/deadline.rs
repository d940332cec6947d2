//! How closely a deadline is looked at.

/// The search knows so many allotments of all jobs together.
pub(super) const SAMPLE: usize = 3000;
/// Of a job it tries so many.
pub(super) const ALLOTMENTS: usize = 12;
/// Instants beside those at which processors open and close.
pub(super) const INSTANTS: usize = 24;
/// The lowest temperature.
pub(super) const COLD: f64 = 1e-3;
