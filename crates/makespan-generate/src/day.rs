//! Daily cycle of arrivals.

/// Half hours in a day.
const SLOTS: usize = 48;
/// Seconds in a half hour.
const SLOT: f64 = 1800.0;
/// Shape of the gamma distribution of arrivals over a day. The distribution starts at the half hour [`BEGIN`], not at
/// midnight.
const SHAPE: f64 = 8.1737;
/// Scale of this gamma distribution, in half hours.
const SCALE: f64 = 3.9631;
/// Number of the half hour (1 starts at midnight) at which the gamma distribution of arrivals starts: early in the
/// morning.
const BEGIN: usize = 11;

/// Generates arrivals over several days. More jobs arrive by day than at night.
///
/// A gap between two arrivals that would last n half hours at the mean arrival rate of a day has n points. Half hour i
/// of a day uses up `cost[i]` points: the arrival rate in this half hour, divided by the mean arrival rate. The gap
/// ends when its points are used up. So gaps last longer at night.
pub(super) struct Day {
    cost: [f64; SLOTS],
    slot: usize,
    /// Number of points that the current half hour has used up, from its beginning to the last arrival.
    points: f64,
    /// Start of the current half hour, in seconds since the first midnight.
    begun: f64,
}

impl Day {
    /// Creates the state at the first midnight.
    pub(super) fn new() -> Self {
        let mut cost = [0.0; SLOTS];
        for slot in BEGIN..BEGIN + SLOTS {
            let slot_share = below(slot as f64 + 0.5) - below(slot as f64 - 0.5);
            cost[(slot - 1) % SLOTS] = slot_share;
        }
        let mean = cost.iter().sum::<f64>() / SLOTS as f64;
        Self { cost: cost.map(|cost| cost / mean), slot: 0, points: 0.0, begun: 0.0 }
    }

    /// Returns the instant of the next arrival, in seconds. `gap` is the length in seconds that the gap before this
    /// arrival would have at the mean arrival rate of a day.
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

/// Returns the integral of the density of the gamma distribution from 0 to `x`, by Simpson's rule. The constant factor
/// of the density is omitted, because [`Day::new`] divides the results by their mean.
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
        // Half hour 24 (from 0) starts at noon, and half hour 8 at 4 a.m.
        assert!(day.cost[24] > 1.5 && day.cost[8] < 0.6, "{:?}", day.cost);
        assert!((day.arrive(86_400.0) - 86_400.0).abs() < 1e-3);
        let first = day.arrive(60.0);
        assert!(first > 86_460.0, "a gap at midnight is longer than at the mean arrival rate: {first}");
    }
}
