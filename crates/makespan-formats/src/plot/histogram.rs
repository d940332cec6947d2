//! Histograms: shares of a sample in bins of equal width.

/// Shares of a sample in bins of equal width.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Title above the plot.
    pub title: String,
    /// Label of the horizontal axis, with the unit.
    pub x_label: String,
    /// Values of the sample. Values beyond the range are counted in the first or last bin. Values that are not finite
    /// are ignored.
    pub values: Vec<f64>,
    /// First and last value of the horizontal axis.
    pub range: (f64, f64),
    /// Number of bins. If the number is 0, one bin is drawn.
    pub bins: usize,
}

impl Histogram {
    /// Returns the share of the sample in each bin, from 0 to 1.
    pub fn shares(&self) -> Vec<f64> {
        let bins = self.bins.max(1);
        let (low, high) = self.range;
        let values: Vec<f64> = self.values.iter().copied().filter(|value| value.is_finite()).collect();
        let mut shares = vec![0.0; bins];
        for value in &values {
            // The cast converts a negative position to 0, the first bin.
            let at = ((value - low) / (high - low) * bins as f64) as usize;
            shares[at.min(bins - 1)] += 1.0 / values.len() as f64;
        }
        shares
    }
}
