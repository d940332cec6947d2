//! The families of graphs.

use std::fmt;
use std::str::FromStr;

use makespan_generate::Shape;
use serde::{Deserialize, Serialize};

use crate::LabError;

/// Graphs of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Random layers.
    Layers,
    /// Parts one after the other or side by side.
    SeriesParallel,
    /// One fork-join after the other.
    Stages,
    /// Cholesky factorisation.
    Cholesky,
    /// LU factorisation.
    Lu,
    /// Mosaics of the sky.
    Montage,
    /// Genomes, part by part.
    Epigenomics,
    /// Populations.
    Genomes,
    /// Reads, aligned side by side.
    Bwa,
    /// Soy beans.
    SoyKb,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 10] = [
        Self::Layers,
        Self::SeriesParallel,
        Self::Stages,
        Self::Cholesky,
        Self::Lu,
        Self::Montage,
        Self::Epigenomics,
        Self::Genomes,
        Self::Bwa,
        Self::SoyKb,
    ];

    /// How its graphs are drawn; layers are as wide as the root of the number of tasks.
    pub fn shape(self, tasks: usize) -> Shape {
        match self {
            Self::Layers => Shape::Layers { width: ((tasks as f64).sqrt() * 2.0).ceil() as usize, density: 0.2 },
            Self::SeriesParallel => Shape::SeriesParallel,
            Self::Stages => Shape::Stages,
            Self::Cholesky => Shape::Cholesky,
            Self::Lu => Shape::Lu,
            Self::Montage => Shape::Montage,
            Self::Epigenomics => Shape::Epigenomics,
            Self::Genomes => Shape::Genomes,
            Self::Bwa => Shape::Bwa,
            Self::SoyKb => Shape::SoyKb,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.shape(1).name())
    }
}

impl FromStr for Family {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        Self::ALL.into_iter().find(|family| family.to_string() == text).ok_or_else(|| LabError::Option {
            name: "family",
            value: text.to_owned(),
            expected: "write layers, series-parallel, stages, cholesky, lu, montage, epigenomics, 1000genome, bwa or soykb",
        })
    }
}
