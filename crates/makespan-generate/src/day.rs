//! Daily cycle of arrivals.

/// Half hours in a day.
const SLOTS: usize = 48;
/// Seconds in a half hour.
const SLOT: f64 = 1800.0;
/// Shape and scale (in half hours) of the gamma distribution of arrivals over a day that begins at [`BEGIN`].
const SHAPE: f64 = 8.1737;
const SCALE: f64 = 3.9631;
/// Number of the half hour, from 1, at which the day of the distribution begins: early in the morning.
const BEGIN: usize = 11;

/// Generates arrivals over several days with busy and quiet half hours.
///
/// Each gap between two arrivals costs points: one point for each half hour that the gap would last in the rush hours.
/// Each half hour provides points in proportion to its share of the day's jobs, so a gap lasts longer at night.
pub(super) struct Day {
    cost: [f64; SLOTS],
    slot: usize,
    /// Points spent since the beginning of the current half hour.
    points: f64,
    /// Beginning of the current half hour, in seconds.
    begun: f64,
}

impl Day {
    /// Returns a day that begins at midnight.
    pub(super) fn new() -> Self {
        let mut cost = [0.0; SLOTS];
        for slot in BEGIN..BEGIN + SLOTS {
            let slot_share = below(slot as f64 + 0.5) - below(slot as f64 - 0.5);
            cost[(slot - 1) % SLOTS] = slot_share;
        }
        let mean = cost.iter().sum::<f64>() / SLOTS as f64;
        Self { cost: cost.map(|cost| cost / mean), slot: 0, points: 0.0, begun: 0.0 }
    }

    /// Returns the instant of the next arrival, in seconds. `gap` is the gap to the next arrival, in seconds of the
    /// rush hours.
    pub(super) fn arrive(&mut self, gap: f64) -> f64 {
        self.points += gap / SLOT;
        while self.points > self.cost[self.slot] {
            self.points -= self.cost[self.slot];
            self.slot = (self.slot + 1) % SLOTS;
            self.begun += SLOT;
        }
        self.begun + SLOT * self.points / self.cost[self.slot]
    }
}

/// Integrates the density of the gamma distribution with [`SHAPE`] and [`SCALE`] from 0 to `x`, by Simpson's rule. The
/// constant factor is missing, because [`Day::new`] divides it out.
fn below(x: f64) -> f64 {
    const STEPS: usize = 2000;
    let density = |x: f64| x.powf(SHAPE - 1.0) * (-x / SCALE).exp();
    let width = x / STEPS as f64;
    let inner: f64 = (1..STEPS).map(|step| density(width * step as f64) * if step % 2 == 1 { 4.0 } else { 2.0 }).sum();
    (density(0.0) + inner + density(x)) * width / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_of_points_is_a_day_and_noon_is_busier_than_night() {
        let mut day = Day::new();
        assert!((day.cost.iter().sum::<f64>() - 48.0).abs() < 1e-9);
        // Half hour 24 is at noon, and half hour 8 is at four o'clock at night.
        assert!(day.cost[24] > 1.5 && day.cost[8] < 0.6, "{:?}", day.cost);
        assert!((day.arrive(86_400.0) - 86_400.0).abs() < 1e-3);
        let first = day.arrive(60.0);
        assert!(first > 86_460.0, "a gap at midnight is longer than in the rush hours: {first}");
    }
}
