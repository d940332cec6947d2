//! The runs on a tree as a table and as JSON.

use makespan::{NetworkOptions, TreeRun, TreeScene};
use makespan_core::{Instance, Time, counted};
use serde_json::{Value, json};

use crate::output::{shown, table};
use crate::summary::figure;

/// Maximum number of nodes for which the text has a row for each node.
const MAX_NODES: usize = 30;

/// The runs to report, with the instance and the rules.
pub struct TreeReportPage<'a> {
    pub instance: &'a Instance,
    pub scene: &'a TreeScene,
    pub rules: &'a NetworkOptions,
    pub runs: &'a [TreeRun],
}

impl TreeReportPage<'_> {
    fn name(&self, node: usize) -> &str {
        &self.instance.platform().nodes()[self.scene.network.origin(node)].name
    }

    fn application(&self, application: usize) -> &str {
        &self.instance.jobs()[application].name
    }

    /// Describes the simulation in one line.
    pub fn headline(&self) -> String {
        format!(
            "{} of {} on a tree of {}, buffers of {}",
            counted(self.instance.jobs().len(), "application"),
            counted(self.instance.tasks(), "task"),
            counted(self.scene.network.nodes().len(), "node"),
            counted(self.rules.buffer, "task")
        )
    }

    pub fn text(&self) -> String {
        let nodes = self.scene.network.nodes().len();
        let mut text = format!(
            "{}\nno schedule has a larger fair throughput in the long run than {} weighted tasks a second (proved{}{})\n\n",
            self.headline(),
            figure(self.scene.bound),
            if self.rules.changes.is_empty() { "" } else { ", if the machines stay as they are at the beginning" },
            self.instance.condition()
        );
        let (columns, rows) = self.comparison();
        text += &table(&columns.iter().map(String::as_str).collect::<Vec<_>>(), 1, rows);
        for remark in self.runs.iter().flat_map(|run| self.remarks(run)) {
            text += &format!("\n{remark}\n");
        }
        if let Some(first) = self.runs.first() {
            text += &format!("\n{}: fractions of the time until the last task ends\n", first.heuristic);
            text += &if nodes <= MAX_NODES { self.nodes(first) } else { self.busiest(first) };
        }
        text
    }

    /// Returns the headings and rows of a table with one column for each policy.
    pub fn comparison(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut add = |label: String, of: &dyn Fn(&TreeRun) -> String| {
            rows.push(std::iter::once(label).chain(self.runs.iter().map(of)).collect());
        };
        let measured = |run: &TreeRun, of: &dyn Fn(&[f64]) -> f64| {
            run.measured.as_ref().map_or("-".into(), |measured| figure(of(&measured.throughput)))
        };
        add("fair throughput".into(), &|run| {
            run.measured.as_ref().map_or("-".into(), |measured| figure(measured.fair))
        });
        add("of the bound".into(), &|run| share(self.of_bound(run)));
        for application in 0..self.instance.jobs().len() {
            let name = self.application(application);
            add(format!("{name}, tasks a second"), &|run| measured(run, &|all| all[application]));
        }
        for application in 0..self.instance.jobs().len() {
            let name = self.application(application);
            add(format!("{name}, done at"), &|run| run.run.done(application).map_or("-".into(), seconds));
        }
        add("all done at".into(), &|run| if run.run.unfinished() == 0 { seconds(run.run.end) } else { "-".into() });
        add("hops".into(), &|run| run.run.hops.to_string());
        add("tasks sent again".into(), &|run| run.run.resent.to_string());
        add("nodes without a task".into(), &|run| run.run.unreached(&run.network).len().to_string());
        let names = self.runs.iter().map(|run| run.heuristic.to_string());
        (std::iter::once("policy".to_owned()).chain(names).collect(), rows)
    }

    fn of_bound(&self, run: &TreeRun) -> Option<f64> {
        run.measured.as_ref().filter(|_| self.scene.bound > 0.0).map(|measured| measured.fair / self.scene.bound)
    }

    /// Returns notes about problems of a run.
    pub fn remarks(&self, run: &TreeRun) -> Vec<String> {
        let mut remarks = Vec::new();
        if run.run.stalled {
            let left = run.run.unfinished();
            remarks.push(format!(
                "{}: {} did not finish, because their tasks wait for each other forever",
                run.heuristic,
                counted(left, "task")
            ));
        }
        let unreached = run.run.unreached(&run.network);
        if let Some(&first) = unreached.first() {
            let others = match unreached.len() - 1 {
                0 => String::new(),
                1 => " and 1 other".into(),
                count => format!(" and {count} others"),
            };
            let name = self.name(first);
            remarks.push(format!("{}: no task reached `{name}`{others} before the end", run.heuristic));
        }
        remarks
    }

    fn nodes(&self, run: &TreeRun) -> String {
        let rows = (0..run.network.nodes().len()).map(|node| {
            let of = |busy: &[Time]| share(load(run, busy[node], 1));
            let processors = run.network.nodes()[node].processors;
            vec![
                self.name(node).to_owned(),
                run.computed(node).iter().sum::<u64>().to_string(),
                share(load(run, run.run.processor_busy[node], processors)),
                if run.network.children(node).is_empty() { "-".into() } else { of(&run.run.port_busy) },
                if node == 0 { "-".into() } else { of(&run.run.link_busy) },
            ]
        });
        table(&["node", "tasks", "processors", "port", "its link"], 1, rows)
    }

    fn busiest(&self, run: &TreeRun) -> String {
        let nodes = || 0..run.network.nodes().len();
        let processors = |node: usize| run.network.nodes()[node].processors;
        let of_processors = nodes().map(|node| load(run, run.run.processor_busy[node], processors(node)));
        let of_port = nodes().map(|node| load(run, run.run.port_busy[node], 1));
        self.extremes("processors", of_processors) + &self.extremes("ports", of_port)
    }

    /// Describes the mean load and the largest load of a kind of part.
    fn extremes(&self, what: &str, loads: impl Iterator<Item = Option<f64>>) -> String {
        let all: Vec<(f64, usize)> = loads.enumerate().filter_map(|(node, load)| Some((load?, node))).collect();
        let mean = all.iter().map(|(load, _)| load).sum::<f64>() / all.len().max(1) as f64;
        let Some(&(most, node)) = all.iter().max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))) else {
            return String::new();
        };
        let (mean, most, name) = (share(Some(mean)), share(Some(most)), shown(self.name(node)));
        format!("{what}: {mean} on average, {most} at most (`{name}`)\n")
    }

    pub fn json(&self) -> Value {
        json!({
            "applications": self.instance.jobs().len(),
            "tasks": self.instance.tasks(),
            "nodes": self.scene.network.nodes().len(),
            "buffer": self.rules.buffer,
            "bound": self.scene.bound,
            "rests_on_guesses": self.instance.has_guesses(),
            "policies": self.runs.iter().map(|run| self.policy(run)).collect::<Vec<_>>(),
        })
    }

    fn policy(&self, run: &TreeRun) -> Value {
        let applications = (0..self.instance.jobs().len()).map(|application| {
            let throughput = run.measured.as_ref().map(|measured| measured.throughput[application]);
            json!({
                "name": self.application(application),
                "throughput": throughput,
                "done": run.run.done(application).map(Time::seconds),
                "completed": run.run.completions[application].len(),
            })
        });
        let nodes = (0..run.network.nodes().len()).map(|node| {
            json!({
                "name": self.name(node),
                "computed": run.computed(node),
                "processors_busy": run.run.processor_busy[node].seconds(),
                "port_busy": run.run.port_busy[node].seconds(),
                "link_busy": run.run.link_busy[node].seconds(),
                "peak": run.run.peak[node],
                "removed": run.run.removed[node],
            })
        });
        json!({
            "policy": run.heuristic.to_string(),
            "fair_throughput": run.measured.as_ref().map(|measured| measured.fair),
            "of_bound": self.of_bound(run),
            "first_done": run.measured.as_ref().map(|measured| measured.first_done.seconds()),
            "end": run.run.end.seconds(),
            "unfinished": run.run.unfinished(),
            "stalled": run.run.stalled,
            "hops": run.run.hops,
            "resent": run.run.resent,
            "unreached": run.run.unreached(&run.network).iter().map(|&node| self.name(node)).collect::<Vec<_>>(),
            "applications": applications.collect::<Vec<_>>(),
            "nodes": nodes.collect::<Vec<_>>(),
        })
    }
}

/// Returns the share of the run in which a unit was busy, averaged over `units` units.
fn load(run: &TreeRun, busy: Time, units: u32) -> Option<f64> {
    let all = run.run.end.seconds() * f64::from(units);
    (all > 0.0).then(|| busy.seconds() / all)
}

fn share(of: Option<f64>) -> String {
    of.map_or("-".into(), |of| format!("{:.1} %", 100.0 * of))
}

fn seconds(time: Time) -> String {
    figure(time.seconds())
}
