//! Published results for the benchmark.

/// A file of the benchmark. Makespans are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedFile {
    /// The file name without the extension `.gz`.
    pub file: &'static str,
    /// The best published makespan.
    pub best: f64,
    /// A lower bound on the makespan: the optimum of a linear programme, computed by another solver.
    pub bound: f64,
    /// Names of heuristics with their published makespans.
    pub heuristics: &'static [(&'static str, f64)],
}

const fn file(file: &'static str, best: f64, bound: f64) -> PublishedFile {
    PublishedFile { file, best, bound, heuristics: &[] }
}

/// The supported files: six of the twelve matrices of T. D. Braun et al., JPDC 61, 2001, DOI 10.1006/jpdc.2000.1714, in
/// the version of the collection chgogos/hcsp, with the best known makespans of this collection. `sufferage` is the
/// variant by M. Maheswaran et al., JPDC 59, 1999, DOI 10.1006/jpdc.1999.1581, which works in passes.
pub const FILES: [PublishedFile; 6] = [
    PublishedFile {
        file: "u_c_hihi.0",
        best: 7_358_942.8,
        bound: 7_346_524.2,
        heuristics: &[
            ("mct", 11_422_624.5),
            ("min-min", 8_460_675.0),
            ("max-min", 12_385_671.8),
            ("sufferage", 10_908_697.8),
        ],
    },
    file("u_c_lolo.0", 5135.7, 5132.8),
    file("u_i_hilo.0", 73_202.1, 73_057.9),
    file("u_i_lohi.0", 101_527.0, 101_063.4),
    file("u_s_hilo.0", 95_553.3, 95_419.0),
    file("u_s_lohi.0", 121_000.9, 120_452.3),
];
