//! How often values fall into bins.

/// Shares of a sample in bins of equal width.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Above the plot.
    pub title: String,
    /// Under the horizontal axis, with its unit.
    pub x_label: String,
    /// The sample. Values beyond the range count in the first or last bin; those that are not finite are left out.
    pub values: Vec<f64>,
    /// Of the horizontal axis.
    pub range: (f64, f64),
    /// How many bins; at least one is drawn.
    pub bins: usize,
}

impl Histogram {
    /// The share of the sample in each bin.
    pub fn shares(&self) -> Vec<f64> {
        let bins = self.bins.max(1);
        let (low, high) = self.range;
        let values: Vec<f64> = self.values.iter().copied().filter(|value| value.is_finite()).collect();
        let mut shares = vec![0.0; bins];
        for value in &values {
            // A negative position becomes the first bin.
            let at = ((value - low) / (high - low) * bins as f64) as usize;
            shares[at.min(bins - 1)] += 1.0 / values.len() as f64;
        }
        shares
    }
}
