//! Unavailable periods that are announced while an instance is executed.

use super::{Instance, check_periods};
use crate::model::{Availability, Unavailable};

impl Instance {
    /// Replaces all unavailable periods except the first `own` periods by `announced`, and returns true. Returns false
    /// and changes nothing if a period is empty, has unknown processors, or makes some schedule end too late.
    pub(crate) fn announce(&mut self, own: usize, announced: Vec<Unavailable>) -> bool {
        if check_periods(&announced, self.platform.processors()).is_err() {
            return false;
        }
        let mut periods = self.unavailable[..own].to_vec();
        periods.extend(announced);
        let availability = Availability::new(self.platform.processors(), &periods);
        let before = (
            std::mem::replace(&mut self.unavailable, periods),
            std::mem::replace(&mut self.availability, availability),
        );
        let is_within = self.is_within(&self.measured_horizon());
        if !is_within {
            (self.unavailable, self.availability) = before;
        }
        is_within
    }
}
