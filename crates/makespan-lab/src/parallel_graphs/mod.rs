//! Graphs of moldable tasks: compares `optimise` with algorithms from the literature. Every makespan is divided by a
//! verified bound.
//!
//! The random graphs are layers, series-parallel graphs, fork-joins, factorisations and workflows. Their tasks follow
//! Amdahl's or Downey's law. The platforms have 16, 64 or 256 equal processors, and transfers take no time. The
//! reference measurement has one graph for each combination of family, law, size and platform. `optimise` has two
//! searches, and time limits of 1 s and 10 s. One graph is planned at a time.

mod claims;
mod family;

use std::fmt::{self, Display};

use clap::Args;
use makespan::spec_title;
use makespan_core::{Instance, Objective};
use makespan_formats::plot::Figure;
use makespan_generate::{GraphOptions, Law, generate_graphs};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::{
    self, AnyRun, Campaign, CampaignReport, File, GridRow, MeasuredPlan, SearchOptions, cells, cores, distribution,
    figure, find, plans, plot, positive, record, refuse, rows, series, shown, stirred, table, text_table,
};
use crate::statistics::geometric;
use family::Family;

/// The algorithms compared with `optimise`, by their names in the catalogue.
const ALGORITHMS: [&str; 12] = [
    "sequential",
    "gang",
    "cpa",
    "cpa[placing=list]",
    "mcpa",
    "mcpa[placing=list]",
    "hcpa",
    "mheft",
    "mheft[share=50]",
    "lp-rounding",
    "list[order=shelf]",
    "sweep[steps=0]",
];

/// The algorithms from the literature for the main comparison: on each graph, `optimise` is compared with the shortest
/// of their makespans. CPA and MCPA appear twice: with the placement of their papers and with list placement.
const BASELINES: [&str; 5] = ["cpa", "cpa[placing=list]", "mcpa", "mcpa[placing=list]", "lp-rounding"];

/// The algorithms from the literature that the figures show, in addition to `optimise`. M-HEFT is left out, because its
/// makespans are two to three times the bound. With M-HEFT, all other curves would look flat.
const SHOWN: [&str; 3] = ["cpa", "mcpa", "lp-rounding"];

/// The options of the campaign.
#[derive(Args, Clone, Debug)]
pub struct ParallelGraphsOptions {
    /// Families of graphs
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "layers,series-parallel,stages,cholesky,lu,montage,epigenomics,1000genome,bwa,soykb",
        value_name = "FAMILY,.."
    )]
    pub families: Vec<Family>,
    /// Speed-up laws of the tasks: amdahl, downey
    #[arg(long, value_delimiter = ',', default_value = "amdahl,downey", value_name = "LAW,..")]
    pub laws: Vec<Law>,
    /// Approximate numbers of tasks of a graph
    #[arg(long, value_delimiter = ',', default_value = "60,250,1200", value_name = "N,..")]
    pub tasks: Vec<usize>,
    /// Numbers of processors
    #[arg(long, value_delimiter = ',', default_value = "16,64,256", value_name = "N,..")]
    pub processors: Vec<u32>,
    /// Number of graphs for each combination of family, law, size and number of processors
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub runs: u32,
    /// The limits of the optimiser.
    #[command(flatten)]
    pub search: SearchOptions,
    /// The same seed gives the same graphs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl ParallelGraphsOptions {
    fn algorithms(&self) -> Vec<String> {
        ALGORITHMS.into_iter().map(str::to_owned).chain(self.search.specs()).collect()
    }

    /// Returns the seed of a graph. The seed does not depend on the number of processors, so that all platforms have
    /// equal graphs.
    fn seed_of(&self, key: ParallelGraphsKey) -> u64 {
        stirred(self.seed, [key.family.0 as u64, key.law as u64, key.tasks as u64, u64::from(key.run)])
    }

    /// Returns an instance with one compound job and one node, so that transfers take no time.
    fn instance(&self, key: ParallelGraphsKey) -> Result<Instance, LabError> {
        Ok(generate_graphs(&GraphOptions {
            shape: key.family.shape(key.tasks),
            tasks: key.tasks,
            jobs: 1,
            data: (0, 0),
            parallel: key.processors,
            law: key.law,
            processors: 1,
            cores: key.processors,
            fastest: 1.0,
            seed: self.seed_of(key),
            ..GraphOptions::default()
        })?)
    }
}

/// The parameters of an instance: a graph and a number of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ParallelGraphsKey {
    pub processors: u32,
    pub family: Family,
    pub law: Law,
    /// The requested number of tasks. The graph may have a slightly different number.
    pub tasks: usize,
    /// The number of the repetition, from 0.
    pub run: u32,
}

/// Formats a key such as `layers, amdahl, 60 tasks, 16 processors, run 0`.
impl fmt::Display for ParallelGraphsKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { processors, family, law, tasks, run } = self;
        f.pad(&format!("{family}, {law}, {tasks} tasks, {processors} processors, run {run}"))
    }
}

/// A run. Its `facts` field is the number of tasks of the graph.
type Run = campaign::GridRun<ParallelGraphsKey, u64, MeasuredPlan>;
type Cell<'a> = campaign::GridCell<'a, GraphGroup, Run>;

/// A group of graphs. Results are averaged over each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphGroup {
    All,
    Processors(u32),
    Family(Family),
    Law(Law),
    /// The graphs for which this number of tasks was requested.
    Tasks(usize),
}

impl fmt::Display for GraphGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.pad("all"),
            Self::Processors(processors) => f.pad(&format!("P = {processors}")),
            Self::Family(family) => family.fmt(f),
            Self::Law(law) => law.fmt(f),
            Self::Tasks(tasks) => f.pad(&format!("{tasks} tasks")),
        }
    }
}

fn groups(run: &Run) -> Vec<GraphGroup> {
    let ParallelGraphsKey { processors, family, law, tasks, .. } = run.key;
    vec![
        GraphGroup::All,
        GraphGroup::Processors(processors),
        GraphGroup::Family(family),
        GraphGroup::Law(law),
        GraphGroup::Tasks(tasks),
    ]
}

/// Returns the makespan divided by the verified bound.
fn ratio(&(run, algorithm, _): &GridRow<'_, Run>) -> f64 {
    run.ratio(algorithm).unwrap_or(f64::NAN)
}

/// Returns the makespan divided by the shortest makespan of the algorithms in [`BASELINES`].
fn over_baselines(&(run, _, plan): &GridRow<'_, Run>) -> f64 {
    let best = BASELINES.into_iter().filter_map(|baseline| run.of(baseline)?.value).min();
    best.zip(plan.value).map_or(f64::NAN, |(best, makespan)| makespan as f64 / best as f64)
}

/// Returns the geometric mean of the ratios.
fn geometric_ratio(cell: &Cell<'_>) -> f64 {
    geometric(&cell.sample(|row| Some(ratio(row)))).unwrap_or(f64::NAN)
}

/// Returns the numbers in one row of a table.
fn measures(cell: &Cell<'_>) -> [f64; 6] {
    let ((least, largest), seconds) = (cell.range(ratio), cell.mean(|(.., plan)| plan.seconds));
    [geometric_ratio(cell), cell.mean(ratio), least, largest, cell.mean(over_baselines), seconds]
}

/// Writes `results.csv`, `summary.csv` and two figures.
impl Campaign for ParallelGraphsOptions {
    const NAME: &'static str = "parallel-graphs";
    const PAPER: &'static str = "Graphs of moldable tasks: `optimise` compared with CPA, MCPA, HCPA, M-HEFT and rounding \
                                 of the linear programme, relative to proven bounds";
    const UNIT: &'static str = "graphs";
    const MEASURES_TIME: bool = true;
    type Run = Run;

    fn check(&self) -> Result<(), LabError> {
        for (name, is_empty) in [
            ("families", self.families.is_empty()),
            ("laws", self.laws.is_empty()),
            ("tasks", self.tasks.is_empty() || self.tasks.contains(&0)),
            ("processors", self.processors.is_empty() || self.processors.contains(&0)),
        ] {
            if is_empty {
                refuse(name, "empty or 0", "give at least one value; each number must be positive")?;
            }
        }
        self.search.check()?;
        positive(&[("runs", self.runs as usize)])
    }

    fn version(&self) -> String {
        format!("seed {}; {}", self.seed, self.search)
    }

    fn search(&self) -> Option<&SearchOptions> {
        Some(&self.search)
    }

    fn keys(&self) -> Vec<ParallelGraphsKey> {
        let mut keys = Vec::new();
        for &processors in &self.processors {
            for &family in &self.families {
                for &law in &self.laws {
                    let of = |tasks| {
                        (0..self.runs).map(move |run| ParallelGraphsKey { processors, family, law, tasks, run })
                    };
                    keys.extend(self.tasks.iter().flat_map(|&tasks| of(tasks)));
                }
            }
        }
        keys
    }

    fn measure(&self, key: ParallelGraphsKey) -> Result<Run, LabError> {
        let (instance, seed) = (self.instance(key)?, self.seed_of(key));
        Ok(Run { key, seed, facts: instance.tasks(), outcomes: plans(&instance, self.algorithms(), seed, key)? })
    }

    fn report(&self, runs: &[Run]) -> Result<CampaignReport, LabError> {
        let cells = cells(runs, groups);
        let header = "family,law,tasks,processors,run,seed,algorithm,makespan,bound,ratio,over_baselines,seconds";
        let results = rows(runs).map(|row| {
            let (run, algorithm, plan) = row;
            let (ParallelGraphsKey { family, law, processors, run: number, .. }, bound) = (run.key, run.bound());
            let (makespan, bound) = (plan.decimal(), Objective::Makespan.decimal(bound));
            let graph: [&dyn Display; 6] = [&family, &law, &run.facts, &processors, &number, &run.seed];
            let cells = [&graph[..], &[&algorithm, &makespan, &bound]].concat();
            record(&cells, [ratio(&row), over_baselines(&row), plan.seconds])
        });
        let summary =
            cells.iter().map(|cell| record(&[&cell.group, &cell.algorithm, &cell.rows.len()], measures(cell)));
        let columns =
            "group,algorithm,graphs,ratio_geometric,ratio_mean,ratio_min,ratio_max,over_baselines_mean,seconds_mean";
        let mut files = self.figures(runs, &cells)?;
        files.extend([table("results.csv", header, results), table("summary.csv", columns, summary)]);
        Ok(CampaignReport { text: self.text(runs, &cells), claims: claims::all(self, &cells), files })
    }
}

impl ParallelGraphsOptions {
    /// Formats the report: a description of the measurement, and tables of ratios.
    fn text(&self, runs: &[Run], cells: &[Cell<'_>]) -> String {
        let counts = || runs.iter().map(|run| run.facts);
        let mut text = format!(
            "Graphs of moldable tasks on equal processors: {} of {} to {} tasks, seed {}.\n\
             Searches of optimise: {}; {}.\n",
            runs.len(),
            counts().min().unwrap_or(0),
            counts().max().unwrap_or(0),
            self.seed,
            self.search.searches,
            cores(self.search.at_once),
        );
        text += "\nmeans over all graphs: makespan / verified bound, and makespan / best makespan of CPA, MCPA and LP rounding\n";
        let all = cells.iter().filter(|cell| cell.group == GraphGroup::All);
        let row = |name: String, figures: Vec<Option<f64>>| -> Vec<String> {
            std::iter::once(name).chain(figures.into_iter().map(|figure| shown(figure, 3))).collect()
        };
        let header = ["algorithm", "geometric", "mean", "least", "largest", "over best", "seconds"];
        text += &text_table(&header, all.map(|cell| row(cell.algorithm.to_owned(), measures(cell).map(Some).to_vec())));
        text += "\n\nfor each group of graphs, the geometric mean of makespan / verified bound\n";
        // There is a column for each algorithm in `SHOWN`, and for each of the first two limits of `optimise`.
        let mut columns = SHOWN.map(str::to_owned).into_iter().chain(self.search.specs()).take(5).collect::<Vec<_>>();
        columns.resize(5, "-".to_owned());
        let of_group = |group: &[Cell<'_>]| {
            let figure = |algorithm: &String| find(group, &group[0].group, algorithm).map(geometric_ratio);
            row(group[0].group.to_string(), columns.iter().map(figure).collect())
        };
        let header: Vec<&str> = ["group"].into_iter().chain(columns.iter().map(String::as_str)).collect();
        text += &text_table(&header, cells.chunk_by(|a, b| a.group == b.group).map(of_group));
        text + "\n"
    }

    /// Returns two figures. The first figure shows ratios as functions of the number of processors. The second figure
    /// shows the distribution of the ratios over all graphs.
    fn figures(&self, runs: &[Run], cells: &[Cell<'_>]) -> Result<Vec<File>, LabError> {
        let shown: Vec<String> = SHOWN.iter().map(ToString::to_string).chain(self.search.specs()).collect();
        let by_processors = |algorithm: &String| {
            let point = |cell: &Cell<'_>| match cell.group {
                GraphGroup::Processors(processors) if cell.algorithm == algorithm => {
                    Some((f64::from(processors), [geometric_ratio(cell); 3]))
                }
                _ => None,
            };
            series(spec_title(algorithm), cells.iter().filter_map(point))
        };
        let over_graphs = |algorithm: &String| {
            let ratios: Vec<f64> = runs.iter().filter_map(|run| run.ratio(algorithm)).collect();
            distribution(spec_title(algorithm), &ratios, 20)
        };
        let title = "Graphs of moldable tasks (M-HEFT is only in the tables)";
        let mean = "makespan / verified bound: geometric mean";
        let ratios = plot(title, "processors", mean, shown.iter().map(by_processors).collect());
        let lines = shown.iter().map(over_graphs).collect();
        let shares = plot(title, "share of the graphs, %", "makespan / verified bound, maximum", lines);
        Ok(vec![figure("ratios", &Figure { log_x: true, ..ratios })?, figure("distribution", &shares)?])
    }
}

#[cfg(test)]
mod tests;
