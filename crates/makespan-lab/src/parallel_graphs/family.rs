//! The families of graphs.

use std::fmt;
use std::str::FromStr;

use makespan_generate::Shape;
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::parsed;

/// A family of graphs: the index of its shape in [`SHAPES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Family(pub usize);

const SHAPES: [Shape; 10] = [
    Shape::Layers { width: 1, density: 0.2 },
    Shape::SeriesParallel,
    Shape::Stages,
    Shape::Cholesky,
    Shape::Lu,
    Shape::Montage,
    Shape::Epigenomics,
    Shape::Genomes,
    Shape::Bwa,
    Shape::SoyKb,
];

impl Family {
    /// Returns the shape of the family's graphs. In graphs of layers, the number of tasks in a layer is at most twice
    /// the square root of the number of all tasks.
    pub fn shape(self, tasks: usize) -> Shape {
        match SHAPES[self.0] {
            Shape::Layers { density, .. } => {
                Shape::Layers { width: ((tasks as f64).sqrt() * 2.0).ceil() as usize, density }
            }
            shape => shape,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(SHAPES[self.0].name())
    }
}

impl FromStr for Family {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        let expected =
            "write layers, series-parallel, stages, cholesky, lu, montage, epigenomics, 1000genome, bwa or soykb";
        parsed((0..SHAPES.len()).map(Self), text, "family", expected)
    }
}
