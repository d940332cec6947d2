//! One-dimensional load balancing.

/// Balances choices by frequencies. Contains the frequency of each choice, and the number of times that the choice was
/// made.
///
/// Source: P. Boulet, J. Dongarra, F. Rastello, Y. Robert and F. Vivien, "Algorithmic issues on heterogeneous computing
/// platforms" (Parallel Processing Letters 9(2), 1999), section 3, as used by O. Beaumont et al. (IPDPS 2006, section
/// 4.1). Let f(i) be the frequency of choice i, and g(i) the number of times that choice i was made. The next choice is
/// the choice i with the least (g(i) + 1) / f(i).
#[derive(Clone, Debug, Default)]
pub(super) struct Balance {
    frequency: Vec<f64>,
    made: Vec<f64>,
}

impl Balance {
    pub(super) fn new(frequency: Vec<f64>) -> Self {
        let made = vec![0.0; frequency.len()];
        Self { frequency, made }
    }

    /// Returns the number (g(i) + 1) / f(i) of a choice. If the frequency of the choice is zero, returns infinity.
    pub(super) fn due(&self, choice: usize) -> f64 {
        if self.frequency[choice] > 0.0 { (self.made[choice] + 1.0) / self.frequency[choice] } else { f64::INFINITY }
    }

    /// Returns the next choice: the possible choice with the least number [`Balance::due`]. Among equal numbers,
    /// returns the first choice.
    pub(super) fn next(&self, possible: impl Iterator<Item = usize>) -> Option<usize> {
        let due = possible.map(|choice| (self.due(choice), choice)).filter(|(due, _)| due.is_finite());
        due.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, choice)| choice)
    }

    /// Returns the number of choices.
    pub(super) fn len(&self) -> usize {
        self.frequency.len()
    }

    /// Returns whether the frequency of a choice is positive.
    pub(super) fn is_made(&self, choice: usize) -> bool {
        self.frequency[choice] > 0.0
    }

    /// Sets the frequency of a choice to zero, so that it is never made again.
    pub(super) fn stop(&mut self, choice: usize) {
        self.frequency[choice] = 0.0;
    }

    pub(super) fn make(&mut self, choice: usize) {
        self.made[choice] += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_made_as_often_as_they_should_be() {
        let mut balance = Balance::new(vec![3.0, 0.0, 1.0]);
        let made: Vec<usize> = (0..8)
            .map(|_| {
                let next = balance.next(0..3).unwrap();
                balance.make(next);
                next
            })
            .collect();
        assert_eq!(made, [0, 0, 0, 2, 0, 0, 0, 2]);
        assert_eq!(balance.next([1].into_iter()), None);
    }
}
