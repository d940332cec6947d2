//! How the tasks of a graph wait for each other.

use std::fmt;
use std::str::FromStr;

use rand_chacha::ChaCha8Rng;

use super::drawn::Drawn;
use super::random::{chain, fork_join, layers, series_parallel, stages};
use super::tiles::{cholesky, lu};
use super::workflow::{blast, bwa, cyber_shake, epigenomics, genomes, montage, seismology, soy_kb, sra_search};
use crate::GenerateError;

/// The form of a graph.
///
/// The first three workflows are those of S. Bharathi et al., "Characterization of scientific workflows", WORKS 2008, DOI
/// 10.1109/WORKS.2008.4723958, figures 1, 2 and 4; the others those of T. Coleman et al., "`WfCommons`: A framework for enabling
/// scientific workflow research and development", Future Generation Computer Systems 128, 2022, DOI 10.1016/j.future.2021.09.043:
/// their structure, with the kinds of tasks in rough proportion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Layers of 1 to `width` tasks. Each task waits for one of the layer before, and for each other of it with
    /// probability `density`.
    Layers {
        /// Most tasks of a layer.
        width: usize,
        /// How probable each further edge between neighbouring layers is.
        density: f64,
    },
    /// One task after the other.
    Chain,
    /// One task, all others but the last, the last.
    ForkJoin,
    /// One fork-join after the other, of about as many branches as there are of them.
    Stages,
    /// Parts one after the other or side by side, and the same within each part.
    SeriesParallel,
    /// Cholesky factorisation of a matrix of tiles.
    Cholesky,
    /// LU factorisation of a matrix of tiles, without pivots.
    Lu,
    /// Mosaics of the sky: images projected, compared in pairs, corrected together and added up.
    Montage,
    /// Genomes: parts that go through four steps each, side by side, then three steps together.
    Epigenomics,
    /// Earthquakes: two wave fields, from which many seismograms are made, each with its peak.
    CyberShake,
    /// Populations: individuals of each chromosome merged, and mutations compared with them.
    Genomes,
    /// A database of sequences, searched side by side.
    Blast,
    /// Reads, aligned side by side to an index that is made first.
    Bwa,
    /// Signals of stations, each by itself, then all together.
    Seismology,
    /// Soy beans: samples that go through six steps each, then all together.
    SoyKb,
    /// Archived reads: each fetched, unpacked and aligned.
    SraSearch,
}

impl Shape {
    /// Every shape; layers as they are drawn by default.
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

    /// The word in files and on the command line.
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

    /// A graph of about so many tasks.
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
