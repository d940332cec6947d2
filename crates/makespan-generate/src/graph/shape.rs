//! Structures of task graphs.

use std::fmt;
use std::str::FromStr;

use rand_chacha::ChaCha8Rng;

use super::drawn::Drawn;
use super::random::{chain, fork_join, layers, series_parallel, stages};
use super::tiles::{cholesky, lu};
use super::workflow::{blast, bwa, cyber_shake, epigenomics, genomes, montage, seismology, soy_kb, sra_search};
use crate::GenerateError;

/// Structure of a task graph.
///
/// The first three workflows are those of S. Bharathi et al., "Characterization of scientific workflows", WORKS 2008,
/// DOI 10.1109/WORKS.2008.4723958, figures 1, 2 and 4. The other workflows are those of T. Coleman et al.,
/// "`WfCommons`: A framework for enabling scientific workflow research and development", Future Generation Computer
/// Systems 128, 2022, DOI 10.1016/j.future.2021.09.043. Their structure is reproduced, with the kinds of tasks in rough
/// proportion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Layers of 1 to `width` tasks. Each task waits for one task of the previous layer, and for each other task of
    /// that layer with probability `density`.
    Layers {
        /// Maximum number of tasks of a layer.
        width: usize,
        /// Probability of each further edge between neighbouring layers.
        density: f64,
    },
    /// One task after the other.
    Chain,
    /// A first task, then all others in parallel, then a last task.
    ForkJoin,
    /// A sequence of fork-joins. The number of branches is about the number of fork-joins.
    Stages,
    /// Parts in series or in parallel, with the same structure within each part.
    SeriesParallel,
    /// Cholesky factorisation of a matrix of tiles.
    Cholesky,
    /// LU factorisation of a matrix of tiles, without pivots.
    Lu,
    /// Mosaics of the sky: images are projected, compared in pairs, corrected and added up.
    Montage,
    /// Genomes: parallel parts with four steps each, then three common steps.
    Epigenomics,
    /// Earthquakes: two wave fields produce many seismograms, and each seismogram has a peak value.
    CyberShake,
    /// Populations: individuals of each chromosome are merged, and mutations are compared with them.
    Genomes,
    /// A database of sequences is searched in parallel.
    Blast,
    /// Reads are aligned in parallel to an index that is built first.
    Bwa,
    /// Signals of stations, processed separately and then combined.
    Seismology,
    /// Soy beans: samples with six steps each, which are then combined.
    SoyKb,
    /// Archived reads: each is fetched, unpacked and aligned.
    SraSearch,
}

impl Shape {
    /// All shapes, with default parameters for layers.
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

    /// Returns the name in files and on the command line.
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

    /// Generates a graph with about this number of tasks.
    pub(super) fn draw(self, tasks: usize, random: &mut ChaCha8Rng) -> Drawn {
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
            expected: "write layers, chain, fork-join, stages, series-parallel, cholesky, lu, montage, epigenomics, cybershake, \
                       1000genome, blast, bwa, seismology, soykb or srasearch",
        })
    }
}
