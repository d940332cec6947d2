//! Generates graphs with the shapes of scientific workflows.

use super::drawn::DrawnGraph;

pub(super) fn montage(tasks: usize) -> DrawnGraph {
    // For w images, w tasks project one image each, w - 1 tasks compare neighbouring images, about w / 2 tasks compare
    // other pairs of images, and w tasks correct one image each. There are six further tasks.
    let width = (tasks.saturating_sub(5) * 2 / 7).max(2);
    let mut drawn = DrawnGraph::new();
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

pub(super) fn epigenomics(tasks: usize) -> DrawnGraph {
    let width = (tasks.saturating_sub(4) / 4).max(1);
    let mut drawn = DrawnGraph::new();
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

pub(super) fn cyber_shake(tasks: usize) -> DrawnGraph {
    let width = (tasks.saturating_sub(4) / 2).max(2);
    let mut drawn = DrawnGraph::new();
    let fields = [drawn.add("extract", 1.0, &[]), drawn.add("extract", 1.0, &[])];
    let made: Vec<u32> = (0..width).map(|at| drawn.add("synthesis", 0.5, &[fields[at % 2]])).collect();
    let peaks: Vec<u32> = made.iter().map(|&made| drawn.add("peak", 0.05, &[made])).collect();
    drawn.add("zip-seismograms", 0.3, &made);
    drawn.add("zip-peaks", 0.3, &peaks);
    drawn
}

/// Generates the analysis of chromosomes. Each chromosome has about 20 parts. For each chromosome, tasks process the
/// parts, one task merges them, and one task selects mutations. For each of seven populations, two tasks compare the
/// merged parts with the selected mutations.
pub(super) fn genomes(tasks: usize) -> DrawnGraph {
    const POPULATIONS: usize = 7;
    let (parts, others) = (20, 2 + 2 * POPULATIONS);
    let chromosomes = (tasks / (parts + others)).max(1);
    let parts = (tasks / chromosomes).saturating_sub(others).max(1);
    let mut drawn = DrawnGraph::new();
    for _ in 0..chromosomes {
        let read: Vec<u32> = (0..parts).map(|_| drawn.add("individuals", 1.0, &[])).collect();
        let merged = drawn.add("merge", 0.5, &read);
        let sifted = drawn.add("sift", 0.2, &[]);
        for kind in ["overlap", "frequency"] {
            (0..POPULATIONS).for_each(|_| {
                drawn.add(kind, 0.4, &[merged, sifted]);
            });
        }
    }
    drawn
}

/// Generates a task that splits a file, one parallel database search for each part, and two tasks that join the results
/// and the errors.
pub(super) fn blast(tasks: usize) -> DrawnGraph {
    let mut drawn = DrawnGraph::new();
    let split = drawn.add("split", 0.1, &[]);
    let found: Vec<u32> = (0..tasks.saturating_sub(3).max(1)).map(|_| drawn.add("search", 1.0, &[split])).collect();
    drawn.add("join-results", 0.1, &found);
    drawn.add("join-errors", 0.05, &found);
    drawn
}

/// Generates the alignment of DNA sequences to an index. One task builds the index, and another task splits the
/// sequences. Parallel tasks align the parts. Two tasks join the results and the errors.
pub(super) fn bwa(tasks: usize) -> DrawnGraph {
    let mut drawn = DrawnGraph::new();
    let before = [drawn.add("split", 0.3, &[]), drawn.add("index", 1.0, &[])];
    let aligned: Vec<u32> = (0..tasks.saturating_sub(4).max(1)).map(|_| drawn.add("align", 0.7, &before)).collect();
    drawn.add("join-results", 0.4, &aligned);
    drawn.add("join-errors", 0.1, &aligned);
    drawn
}

/// Generates one task for the signal of each station, and a task that combines the results.
pub(super) fn seismology(tasks: usize) -> DrawnGraph {
    let mut drawn = DrawnGraph::new();
    let signals: Vec<u32> = (0..tasks.saturating_sub(1).max(1)).map(|_| drawn.add("deconvolve", 1.0, &[])).collect();
    drawn.add("fit", 0.3, &signals);
    drawn
}

/// Generates the analysis of samples of soy beans. Each sample is processed in six steps, and then two parallel tasks
/// detect its genetic variants. The variants of all samples are combined, and then two kinds of variants are selected
/// and filtered.
pub(super) fn soy_kb(tasks: usize) -> DrawnGraph {
    const STEPS: [(&str, f64); 6] =
        [("align", 1.0), ("sort", 0.3), ("mark", 0.3), ("regroup", 0.2), ("targets", 0.5), ("realign", 0.5)];
    let calls = 2;
    let samples = (tasks.saturating_sub(6) / (STEPS.len() + calls)).max(1);
    let mut drawn = DrawnGraph::new();
    let mut called = Vec::with_capacity(samples * calls);
    for _ in 0..samples {
        let mut last: Option<u32> = None;
        for (kind, share) in STEPS {
            last = Some(drawn.add(kind, share, last.as_slice()));
        }
        called.extend((0..calls).map(|_| drawn.add("call", 1.0, last.as_slice())));
    }
    let merged = drawn.add("merge", 0.5, &called);
    let genotypes = drawn.add("genotype", 0.8, &[merged]);
    for (select, filter) in [("select-indels", "filter-indels"), ("select-snps", "filter-snps")] {
        let selected = drawn.add(select, 0.2, &[genotypes]);
        drawn.add(filter, 0.2, &[selected]);
    }
    drawn
}

/// Generates a search in archived DNA sequences. One task builds an index. Three tasks fetch, unpack and align each
/// sequence. A last task merges the results.
pub(super) fn sra_search(tasks: usize) -> DrawnGraph {
    let samples = (tasks.saturating_sub(2) / 3).max(1);
    let mut drawn = DrawnGraph::new();
    let index = drawn.add("index", 0.3, &[]);
    let mut aligned = Vec::with_capacity(samples);
    for _ in 0..samples {
        let fetched = drawn.add("fetch", 0.3, &[]);
        let unpacked = drawn.add("unpack", 0.5, &[fetched]);
        aligned.push(drawn.add("align", 1.0, &[unpacked, index]));
    }
    drawn.add("merge", 0.2, &aligned);
    drawn
}
