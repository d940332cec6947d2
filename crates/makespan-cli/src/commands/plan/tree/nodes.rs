//! Tables of the rates and loads of nodes. A small tree has a row for each node. A large tree has rows for the busiest
//! nodes, one row for all others, and a table of its levels.

use makespan_core::tree::{float_of, link_load, port_load};
use makespan_core::{Instance, counted};
use makespan_formats::report::Section;

use super::{TreePlan, float};

/// Maximum number of nodes for which the text lists every node.
const LISTED: usize = 40;
/// Number of nodes that the text lists if there are more than [`LISTED`] nodes. These nodes are the busiest ones.
const BUSIEST: usize = 20;
/// Number of levels that are listed one by one. Deeper levels share one row.
const LEVELS: usize = 12;
/// Load from which a port is reported as never idle. The value is slightly below 1 because of rounding errors.
const FULL: f64 = 1.0 - 1e-9;

/// The figures of all nodes, computed once.
pub struct TreeNodes<'a> {
    instance: &'a Instance,
    found: &'a TreePlan,
    each: Vec<Figures>,
}

/// The rates and loads of a node. A load is the share of time in which a part is busy.
#[derive(Clone, Default)]
struct Figures {
    /// Rate of each application, in tasks per second.
    rates: Vec<f64>,
    /// Work that the node does in the steady state, in units per second.
    work: f64,
    /// Maximum work that the node can do, in units per second.
    capacity: f64,
    link: f64,
    sends: f64,
    takes_part: bool,
}

impl<'a> TreeNodes<'a> {
    /// Computes the figures of all nodes in O(nodes * applications).
    pub fn new(instance: &'a Instance, found: &'a TreePlan) -> Self {
        let (problem, rates) = (&found.problem, &found.state.rates);
        let flows = rates.flows(problem);
        let apps = instance.jobs().len();
        let figures = |node: usize| {
            let capacity = float_of(&problem.capacity(node));
            let link = problem.nodes()[node].parent.map_or(0.0, |_| float_of(&link_load(problem, &flows, node)));
            Figures {
                rates: (0..apps).map(|app| float_of(rates.of(node, app))).collect(),
                work: float_of(&rates.processor_load(problem, node)) * capacity,
                capacity,
                link,
                sends: float_of(&port_load(problem, &flows, node)),
                takes_part: flows[node * apps..][..apps].iter().any(|flow| !flow.is_zero()),
            }
        };
        let each = (0..problem.nodes().len()).map(figures).collect();
        Self { instance, found, each }
    }

    /// Returns a table of all nodes that compute or send data, in platform order.
    pub fn all(&self) -> Section {
        let all: Vec<usize> = (0..self.each.len()).filter(|&node| self.each[node].takes_part).collect();
        let names = all.iter().map(|&node| self.instance.platform().nodes()[node].name.clone());
        let figures: Vec<&Figures> = all.iter().map(|&node| &self.each[node]).collect();
        self.section(self.idle(all.len()), rows(names, &figures))
    }

    /// Returns tables that are short enough to read. A small tree gets one table of all nodes. A larger tree gets a
    /// table of the busiest nodes, with the sum of all other nodes, and a table of the levels.
    pub fn for_reading(&self) -> Vec<Section> {
        let mut all: Vec<usize> = (0..self.each.len()).filter(|&node| self.each[node].takes_part).collect();
        if all.len() <= LISTED {
            return vec![self.all()];
        }
        all.sort_by(|&a, &b| self.each[b].work.total_cmp(&self.each[a].work).then(a.cmp(&b)));
        let (busiest, others) = all.split_at(BUSIEST);
        let names = busiest.iter().map(|&node| self.instance.platform().nodes()[node].name.clone());
        let names = names.chain([format!("{} others", others.len())]);
        let others_figures = Figures { link: 0.0, sends: 0.0, ..self.sum(others.iter().copied()) };
        let figures: Vec<&Figures> = busiest.iter().map(|&node| &self.each[node]).chain([&others_figures]).collect();
        let rows = rows(names, &figures);
        let text = format!("The {BUSIEST} nodes with the most work. {}", self.idle(all.len())).trim_end().to_owned();
        vec![self.section(text, rows), self.levels()]
    }

    /// Returns a table with the sums over all nodes at each distance from the root.
    fn levels(&self) -> Section {
        let problem = &self.found.problem;
        let mut depth = vec![0_usize; self.each.len()];
        for &node in problem.order() {
            depth[node] = problem.nodes()[node].parent.map_or(0, |parent| depth[parent] + 1);
        }
        let deepest = depth.iter().copied().max().unwrap_or(0);
        let mut members = vec![Vec::new(); deepest.min(LEVELS) + 1];
        let level = |node: usize| depth[node].min(LEVELS);
        (0..self.each.len()).for_each(|node| members[level(node)].push(node));
        let sums: Vec<Figures> = members.iter().map(|members| self.sum(members.iter().copied())).collect();
        let all_rates = rate_columns(&sums.iter().collect::<Vec<_>>());
        let rows = members.iter().enumerate().map(|(at, members)| {
            let sum = &sums[at];
            let count =
                |such: &dyn Fn(&Figures) -> bool| members.iter().filter(|&&node| such(&self.each[node])).count();
            let name = if at == LEVELS && deepest > LEVELS { format!("{at} to {deepest}") } else { at.to_string() };
            let counts = [members.len(), count(&|one| one.takes_part), count(&|one| one.sends >= FULL)];
            let rates = all_rates.iter().map(|column| column[at].clone());
            let load = percent(sum.work / sum.capacity.max(f64::MIN_POSITIVE));
            std::iter::once(name).chain(counts.map(|count| count.to_string())).chain(rates).chain([load]).collect()
        });
        let head = ["links from the root", "nodes", "take part", "ports never idle"].map(String::from);
        let mut columns: Vec<String> = head.into_iter().chain(self.applications()).collect();
        columns.push("computes %".into());
        Section { title: "Levels".into(), columns, rows: rows.collect(), ..Section::default() }
    }

    fn sum(&self, nodes: impl Iterator<Item = usize>) -> Figures {
        let mut sum = Figures { rates: vec![0.0; self.instance.jobs().len()], ..Figures::default() };
        for node in nodes {
            let one = &self.each[node];
            sum.rates.iter_mut().zip(&one.rates).for_each(|(sum, rate)| *sum += rate);
            sum.work += one.work;
            sum.capacity += one.capacity;
        }
        sum
    }

    fn idle(&self, taking_part: usize) -> String {
        match self.each.len() - taking_part {
            0 => String::new(),
            idle => format!("Idle: {}.", counted(idle, "node")),
        }
    }

    fn applications(&self) -> impl Iterator<Item = String> {
        self.instance.jobs().iter().map(|job| format!("{} (tasks/s)", job.name))
    }

    fn section(&self, text: String, rows: Vec<Vec<String>>) -> Section {
        let mut columns: Vec<String> = std::iter::once("node".to_owned()).chain(self.applications()).collect();
        columns.extend(["computes %", "link %", "sends %"].map(String::from));
        Section { title: "Rates and loads of nodes".into(), text, columns, rows, ..Section::default() }
    }
}

/// Returns a row for each name. In each column of rates, the decimal points are aligned.
fn rows(names: impl Iterator<Item = String>, all: &[&Figures]) -> Vec<Vec<String>> {
    let rates = rate_columns(all);
    let row = |(at, name): (usize, String)| {
        let of = all[at];
        let load = of.work / of.capacity.max(f64::MIN_POSITIVE);
        let loads = [load, of.link, of.sends].map(percent);
        std::iter::once(name).chain(rates.iter().map(|column| column[at].clone())).chain(loads).collect()
    };
    names.enumerate().map(row).collect()
}

/// Returns one column of rates for each application.
fn rate_columns(all: &[&Figures]) -> Vec<Vec<String>> {
    let apps = all.first().map_or(0, |first| first.rates.len());
    (0..apps).map(|app| rate_column(&all.iter().map(|of| of.rates[app]).collect::<Vec<f64>>())).collect()
}

/// Formats the rates of one column with the same number of decimals. The largest rate has four significant digits.
fn rate_column(rates: &[f64]) -> Vec<String> {
    let largest = rates.iter().copied().fold(0.0_f64, f64::max);
    let text = float(largest);
    let places = text.split_once('.').map(|(_, digits)| digits.len()).filter(|_| !text.contains('e'));
    let one = |&rate: &f64| match places {
        _ if rate == 0.0 => "-".into(),
        Some(places) => format!("{rate:.places$}"),
        None => float(rate),
    };
    rates.iter().map(one).collect()
}

fn percent(part: f64) -> String {
    if part == 0.0 { "-".into() } else { format!("{:.1}", 100.0 * part) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_rates_stand_below_each_other() {
        assert_eq!(rate_column(&[0.1281, 0.090_89, 0.0, 0.000_32]), ["0.1281", "0.0909", "-", "0.0003"]);
        assert_eq!(rate_column(&[234.5, 0.5]), ["234.5", "0.5"]);
        assert_eq!(rate_column(&[12.34, 0.5]), ["12.34", "0.50"]);
        assert_eq!(rate_column(&[2e-9, 1e-10]), ["2.000e-9", "1.000e-10"]);
        assert!(rate_column(&[]).is_empty());
    }
}
