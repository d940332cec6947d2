//! How the tasks of a graph wait for each other.

use std::fmt;
use std::str::FromStr;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::LabError;

/// The form of a graph.
///
/// The workflows are those of S. Bharathi et al., "Characterization of scientific workflows", WORKS 2008, DOI
/// 10.1109/WORKS.2008.4723958, figures 1, 2 and 4: their structure, with the kinds of tasks in rough proportion.
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
    /// Mosaics of the sky: images projected, compared in pairs, corrected together and added up.
    Montage,
    /// Genomes: parts that go through four steps each, side by side, then three steps together.
    Epigenomics,
    /// Earthquakes: two wave fields, from which many seismograms are made, each with its peak.
    CyberShake,
}

/// Kinds of tasks with their share of the volume, and edges.
pub(super) struct Drawn {
    pub(super) shares: Vec<(&'static str, f64)>,
    pub(super) edges: Vec<(u32, u32)>,
}

impl Shape {
    /// Every shape; layers as they are drawn by default.
    pub const ALL: [Self; 6] = [
        Self::Layers { width: 8, density: 0.3 },
        Self::Chain,
        Self::ForkJoin,
        Self::Montage,
        Self::Epigenomics,
        Self::CyberShake,
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
        }
    }
}

impl Drawn {
    fn new() -> Self {
        Self { shares: Vec::new(), edges: Vec::new() }
    }

    /// Adds a task that waits for others.
    fn add(&mut self, kind: &'static str, share: f64, after: &[u32]) -> u32 {
        let task = self.shares.len() as u32;
        self.shares.push((kind, share));
        self.edges.extend(after.iter().map(|&from| (from, task)));
        task
    }
}

fn layers(tasks: usize, width: usize, density: f64, random: &mut ChaCha8Rng) -> Drawn {
    let mut drawn = Drawn::new();
    let mut before: Vec<u32> = Vec::new();
    while drawn.shares.len() < tasks {
        let count = random.random_range(1..=width).min(tasks - drawn.shares.len());
        let mut layer = Vec::with_capacity(count);
        for _ in 0..count {
            let certain = if before.is_empty() { 0 } else { random.random_range(0..before.len()) };
            let mut after = Vec::new();
            for (at, &task) in before.iter().enumerate() {
                if at == certain || random.random::<f64>() < density {
                    after.push(task);
                }
            }
            layer.push(drawn.add("t", 1.0, &after));
        }
        before = layer;
    }
    drawn
}

fn chain(tasks: usize) -> Drawn {
    let mut drawn = Drawn::new();
    let mut last = Vec::new();
    for _ in 0..tasks {
        last = vec![drawn.add("t", 1.0, &last)];
    }
    drawn
}

fn fork_join(tasks: usize) -> Drawn {
    let mut drawn = Drawn::new();
    let fork = drawn.add("fork", 1.0, &[]);
    let branches: Vec<u32> = (0..tasks.saturating_sub(2)).map(|_| drawn.add("branch", 1.0, &[fork])).collect();
    drawn.add("join", 1.0, if branches.is_empty() { &[0] } else { &branches });
    drawn
}

fn montage(tasks: usize) -> Drawn {
    // w images, w - 1 neighbours and w / 2 further pairs, w corrections, six steps of all.
    let width = (tasks.saturating_sub(5) * 2 / 7).max(2);
    let mut drawn = Drawn::new();
    let images: Vec<u32> = (0..width).map(|_| drawn.add("project", 1.0, &[])).collect();
    let neighbours = images.windows(2).map(|pair| (pair[0], pair[1]));
    let further = images.iter().zip(images.iter().skip(2)).step_by(2).map(|(&a, &b)| (a, b));
    let pairs: Vec<(u32, u32)> = neighbours.chain(further).collect();
    let compared: Vec<u32> = pairs.into_iter().map(|(a, b)| drawn.add("compare", 0.8, &[a, b])).collect();
    let fit = drawn.add("fit", 0.2, &compared);
    let model = drawn.add("model", 0.3, &[fit]);
    let corrected: Vec<u32> = images.iter().map(|&image| drawn.add("correct", 0.8, &[image, model])).collect();
    let table = drawn.add("table", 0.2, &corrected);
    let added = drawn.add("add", 0.5, &[table]);
    let small = drawn.add("shrink", 0.2, &[added]);
    drawn.add("picture", 0.1, &[small]);
    drawn
}

fn epigenomics(tasks: usize) -> Drawn {
    let width = (tasks.saturating_sub(4) / 4).max(1);
    let mut drawn = Drawn::new();
    let split = drawn.add("split", 0.2, &[]);
    let mut mapped = Vec::with_capacity(width);
    for _ in 0..width {
        let mut last = split;
        for (kind, share) in [("filter", 0.3), ("convert", 0.1), ("pack", 0.1), ("map", 1.0)] {
            last = drawn.add(kind, share, &[last]);
        }
        mapped.push(last);
    }
    let merged = drawn.add("merge", 0.3, &mapped);
    let index = drawn.add("index", 0.3, &[merged]);
    drawn.add("pileup", 0.4, &[index]);
    drawn
}

fn cyber_shake(tasks: usize) -> Drawn {
    let width = (tasks.saturating_sub(4) / 2).max(2);
    let mut drawn = Drawn::new();
    let fields = [drawn.add("extract", 1.0, &[]), drawn.add("extract", 1.0, &[])];
    let made: Vec<u32> = (0..width).map(|at| drawn.add("synthesis", 0.5, &[fields[at % 2]])).collect();
    let peaks: Vec<u32> = made.iter().map(|&made| drawn.add("peak", 0.05, &[made])).collect();
    drawn.add("zip-seismograms", 0.3, &made);
    drawn.add("zip-peaks", 0.3, &peaks);
    drawn
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Shape {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        Self::ALL.into_iter().find(|shape| shape.name() == text).ok_or_else(|| LabError::Option {
            name: "shape",
            value: text.to_owned(),
            expected: "write layers, chain, fork-join, montage, epigenomics or cybershake",
        })
    }
}
