//! Structures of task graphs.

use std::fmt;
use std::str::FromStr;

use rand_chacha::ChaCha8Rng;

use super::drawn::DrawnGraph;
use super::random::{chain, fork_join, layers, series_parallel, stages};
use super::tiles::{cholesky, lu};
use super::workflow::{blast, bwa, cyber_shake, epigenomics, genomes, montage, seismology, soy_kb, sra_search};
use crate::GenerateError;

/// Structure of a task graph.
///
/// The first three workflows come from S. Bharathi et al., "Characterization of scientific workflows", WORKS 2008, DOI
/// 10.1109/WORKS.2008.4723958, figures 1, 2 and 4. The other five workflows come from T. Coleman et al., "`WfCommons`:
/// A framework for enabling scientific workflow research and development", Future Generation Computer Systems 128,
/// 2022, DOI 10.1016/j.future.2021.09.043. The graphs reproduce the structure of these workflows, and approximately the
/// share of each kind of task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Layers of 1 to `width` tasks. Each task waits for one random task of the previous layer. In addition, it waits
    /// for each other task of the previous layer with probability `density`.
    Layers {
        /// Maximum number of tasks in a layer.
        width: usize,
        /// Probability that a task waits for a task of the previous layer, in addition to the task for which it always
        /// waits.
        density: f64,
    },
    /// Tasks in series: each task waits for the previous one.
    Chain,
    /// A first task (fork), then parallel tasks, then a last task (join).
    ForkJoin,
    /// A sequence of fork-joins. The average number of branches of a fork-join is about the number of fork-joins in the
    /// sequence.
    Stages,
    /// Parts that are in series or in parallel. Each part is divided in the same way, down to single tasks and short
    /// chains.
    SeriesParallel,
    /// Cholesky factorisation of a matrix that is divided into tiles.
    Cholesky,
    /// LU factorisation, without pivoting, of a matrix that is divided into tiles.
    Lu,
    /// A mosaic of images of the sky. The images are projected, compared in pairs, corrected and combined.
    Montage,
    /// Genome sequencing. The data are split into parts. Each part passes through four steps, in parallel with the
    /// other parts. Three steps for the combined data follow.
    Epigenomics,
    /// Computation of earthquake hazards. Many seismograms are computed from two wave fields, and then one peak value
    /// is computed from each seismogram.
    CyberShake,
    /// Comparison of the genomes of populations. For each chromosome, the data of individuals are merged and then
    /// compared with mutations.
    Genomes,
    /// Parallel searches in a database of biological sequences.
    Blast,
    /// Sequence alignment. One task builds an index, and then parallel tasks align DNA sequences to the index.
    Bwa,
    /// Analysis of seismic signals. The signal of each station is processed separately, and then the results are
    /// combined.
    Seismology,
    /// Analysis of the genomes of soy beans. Each sample is processed in several steps, and then all samples are
    /// combined.
    SoyKb,
    /// A search in archived DNA sequences. Each sequence is fetched, unpacked and aligned.
    SraSearch,
}

impl Shape {
    /// All shapes; [`Shape::Layers`] has default parameters.
    pub const ALL: [Self; 16] = [
        Self::Layers { width: 8, density: 0.3 },
        Self::Chain,
        Self::ForkJoin,
        Self::Stages,
        Self::SeriesParallel,
        Self::Cholesky,
        Self::Lu,
        Self::Montage,
        Self::Epigenomics,
        Self::CyberShake,
        Self::Genomes,
        Self::Blast,
        Self::Bwa,
        Self::Seismology,
        Self::SoyKb,
        Self::SraSearch,
    ];

    /// Returns the name of the shape in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Layers { .. } => "layers",
            Self::Chain => "chain",
            Self::ForkJoin => "fork-join",
            Self::Montage => "montage",
            Self::Epigenomics => "epigenomics",
            Self::CyberShake => "cybershake",
            Self::Stages => "stages",
            Self::SeriesParallel => "series-parallel",
            Self::Cholesky => "cholesky",
            Self::Lu => "lu",
            Self::Genomes => "1000genome",
            Self::Blast => "blast",
            Self::Bwa => "bwa",
            Self::Seismology => "seismology",
            Self::SoyKb => "soykb",
            Self::SraSearch => "srasearch",
        }
    }

    /// Generates a graph with about `tasks` tasks.
    pub(super) fn draw(self, tasks: usize, random: &mut ChaCha8Rng) -> DrawnGraph {
        match self {
            Self::Layers { width, density } => layers(tasks, width, density, random),
            Self::Chain => chain(tasks),
            Self::ForkJoin => fork_join(tasks),
            Self::Montage => montage(tasks),
            Self::Epigenomics => epigenomics(tasks),
            Self::CyberShake => cyber_shake(tasks),
            Self::Stages => stages(tasks, random),
            Self::SeriesParallel => series_parallel(tasks, random),
            Self::Cholesky => cholesky(tasks),
            Self::Lu => lu(tasks),
            Self::Genomes => genomes(tasks),
            Self::Blast => blast(tasks),
            Self::Bwa => bwa(tasks),
            Self::Seismology => seismology(tasks),
            Self::SoyKb => soy_kb(tasks),
            Self::SraSearch => sra_search(tasks),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Shape {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self, GenerateError> {
        Self::ALL.into_iter().find(|shape| shape.name() == text).ok_or_else(|| GenerateError::Option {
            name: "shape",
            value: text.to_owned(),
            expected: "write one of layers, chain, fork-join, stages, series-parallel, cholesky, lu, montage, epigenomics, cybershake, \
                       1000genome, blast, bwa, seismology, soykb or srasearch",
        })
    }
}
