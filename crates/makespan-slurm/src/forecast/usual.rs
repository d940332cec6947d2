//! The fractions of their time limits that jobs use in public logs.

/// Twenty fractions of limits, in ascending order. They represent the jobs of three logs of the Parallel Workloads
/// Archive: KTH-SP2-1996, CTC-SP2-1996 and HPC2N-2002-2.1-cln. Each log has an equal total weight. All jobs are sorted
/// by the fraction of the limit that they used, and divided into twenty parts of equal weight. Each value is the
/// median of one part. On average, the jobs of these logs used 47, 39 and 47 % of their limits (Feitelson, Tsafrir and
/// Krakov, Experience with using the Parallel Workloads Archive, JPDC 74(10), 2014, doi 10.1016/j.jpdc.2014.06.013).
/// `benches/queue/usual.py` computes the values from these logs.
#[expect(clippy::approx_constant, reason = "one of them is near 1/π")]
pub(super) const USUAL: [f64; 20] = [
    0.000, 0.002, 0.012, 0.032, 0.057, 0.088, 0.133, 0.187, 0.241, 0.318, 0.419, 0.517, 0.623, 0.703, 0.794, 0.873,
    0.928, 0.983, 0.999, 1.000,
];
