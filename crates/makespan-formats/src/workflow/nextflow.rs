//! Runs of Nextflow: the graph of processes that `-with-dag FILE.dot` draws, with the tasks and times of `-with-trace`.
//!
//! The graph has processes, channels and operators, the trace has tasks. Which task fed which is in neither: tasks of two processes
//! that follow each other are paired by their tags where both have them, else each waits for all.

use makespan_core::{Edge, Estimate, Graph, Job, NamedTask, Payload, Profile, Task, Time};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Read, Wrong, dot};
use crate::error::Place;
use crate::odd::Odd;

/// Most pairs of tasks of processes that follow each other.
const MAX_EDGES: usize = 1 << 22;

/// A task of the trace.
struct Row<'a> {
    name: &'a str,
    process: &'a str,
    tag: Option<&'a str>,
    cores: u32,
    time: Time,
    estimate: Estimate,
}

/// The tasks of a trace, and the values in it that cannot be.
pub(super) struct Tasks<'a> {
    rows: Vec<Row<'a>>,
    odd: Odd,
}

/// Reads the tasks of a trace that were completed; `strict` refuses values that cannot be.
pub(super) fn tasks(trace: &str, strict: bool) -> Result<Tasks<'_>, Wrong> {
    let mut odd = Odd::default();
    let rows = rows(trace, &mut odd)?;
    odd.refuse(strict)?;
    Ok(Tasks { rows, odd })
}

/// Reads the graph of processes with the tasks of a trace; `name` is the name of the job.
pub(super) fn read(graph: &str, tasks: &Tasks<'_>, name: &str) -> Result<Read, Wrong> {
    let Tasks { rows, odd } = tasks;
    let (labels, edges) = dot::labels(graph)?;
    let mut of_label: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    for (number, row) in (0..).zip(rows) {
        of_label.entry(row.process).or_default().push(number);
    }
    // A workflow within a workflow is a part of the name in the trace, and not always in the graph.
    let tasks_of = |label: &str| -> Vec<u32> {
        let inner = |process: &str| process == label || process.rsplit(':').next() == Some(label);
        match of_label.get(label) {
            Some(tasks) => tasks.clone(),
            None => (0..).zip(rows).filter(|(_, row)| inner(row.process)).map(|(number, _)| number).collect(),
        }
    };
    let tasks: Vec<Vec<u32>> = labels.iter().map(|label| tasks_of(label)).collect();
    if tasks.iter().all(Vec::is_empty) {
        return Err("no node of the graph is a process of the trace; give the files of one run".to_owned().into());
    }
    let mut outgoing: Vec<Vec<u32>> = vec![Vec::new(); labels.len()];
    for &(from, to) in &edges {
        outgoing[from as usize].push(to);
    }
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for (node, own) in tasks.iter().enumerate().filter(|(_, own)| !own.is_empty()) {
        for next in following(node, &outgoing, &tasks) {
            join(rows, own, &tasks[next], &mut pairs);
            if pairs.len() > MAX_EDGES {
                return Err(format!("tasks wait for more than {MAX_EDGES} others in all").into());
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let task = |row: &Row<'_>| {
        let profile = Profile::rigid(row.cores, row.time).map_err(|error| format!("task `{}`: {error}", row.name))?;
        Ok(NamedTask { name: row.name.into(), task: Task { estimate: row.estimate, ..Task::new(profile) } })
    };
    let named = rows.iter().map(task).collect::<Result<Vec<_>, String>>()?;
    let edges = pairs.into_iter().map(|(from, to)| Edge { from, to, payload: Payload::Bytes(0) }).collect();
    let graph = Graph::new(named, edges).map_err(|error| error.to_string())?;
    let remark = "which task fed which is not in the files of Nextflow: tasks of processes that follow each other are paired by \
                  their tags where both have them, else each waits for all";
    Ok(Read::of(vec![Job::compound(name, graph)], odd.remarks().chain([remark.to_owned()]).collect()))
}

/// The nodes with tasks behind one, with none with tasks between.
fn following(node: usize, outgoing: &[Vec<u32>], tasks: &[Vec<u32>]) -> Vec<usize> {
    let (mut open, mut seen, mut found) = (outgoing[node].clone(), FxHashSet::default(), Vec::new());
    while let Some(next) = open.pop() {
        if next as usize == node || !seen.insert(next) {
            continue;
        }
        if tasks[next as usize].is_empty() {
            open.extend(&outgoing[next as usize]);
        } else {
            found.push(next as usize);
        }
    }
    found
}

/// Pairs the tasks of two processes that follow each other.
fn join(rows: &[Row<'_>], from: &[u32], to: &[u32], pairs: &mut Vec<(u32, u32)>) {
    let mut of_tag: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    for &task in from {
        if let Some(tag) = rows[task as usize].tag {
            of_tag.entry(tag).or_default().push(task);
        }
    }
    for &task in to {
        match rows[task as usize].tag.and_then(|tag| of_tag.get(tag)) {
            Some(same) => pairs.extend(same.iter().map(|&before| (before, task))),
            None if pairs.len() <= MAX_EDGES => pairs.extend(from.iter().map(|&before| (before, task))),
            None => return,
        }
    }
}

/// The tasks of a trace that were completed, those of an earlier run among them.
fn rows<'a>(trace: &'a str, odd: &mut Odd) -> Result<Vec<Row<'a>>, Wrong> {
    let mut lines = (1..).zip(trace.lines());
    let heading: Vec<&str> = lines.next().map_or_else(Vec::new, |(_, line)| line.split('\t').collect());
    let column = |name: &str| heading.iter().position(|one| *one == name);
    let wrong = |line: usize, problem: String| Wrong::at(Place::line(line), problem);
    let needed = |name: &str| {
        column(name).ok_or_else(|| wrong(1, format!("there is no column `{name}`; write it with -with-trace")))
    };
    let (name, status, time) = (needed("name")?, needed("status")?, needed("realtime")?);
    let cores = column("cpus");
    let (mut rows, mut seen) = (Vec::new(), FxHashSet::default());
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |at: usize| cells.get(at).copied().unwrap_or("-").trim();
        if !matches!(cell(status), "COMPLETED" | "CACHED") {
            continue;
        }
        let name = cell(name);
        if !seen.insert(name) {
            return Err(wrong(number, format!("two tasks are named `{name}`")));
        }
        // `-` stands for what was not measured, as of a task without a script of its own.
        let stated = Some(cell(time)).filter(|text| *text != "-").map(duration);
        let (time, estimate) = odd.run_time(stated.as_deref(), || format!("task `{name}` on line {number}"));
        let cores = cores.and_then(|at| cell(at).parse().ok()).filter(|&cores: &u32| cores > 0).unwrap_or(1);
        let (process, tag) = match name.split_once(" (") {
            Some((process, tag)) => (process, tag.strip_suffix(')')),
            None => (name, None),
        };
        rows.push(Row { name, process, tag, cores, time, estimate });
    }
    if rows.is_empty() {
        return Err(wrong(1, "it has no task that was completed".into()));
    }
    Ok(rows)
}

/// The time of `1h 2m 3.5s`, or of milliseconds, in a form that [`Time::parse`] reads; any other text as it is.
fn duration(text: &str) -> String {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("{text}ms");
    }
    let parts = text.split_whitespace().map(|part| Time::parse(part).ok()).collect::<Option<Vec<Time>>>();
    let parts = parts.filter(|parts| !parts.is_empty());
    let ticks = parts.and_then(|parts| parts.iter().try_fold(0_i64, |sum, part| sum.checked_add(part.ticks())));
    ticks.map_or_else(|| text.to_owned(), |ticks| Time::from_ticks(ticks).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAG: &str = "digraph \"flow\" {\nrankdir=TB;\nv0 [shape=point,label=\"\",xlabel=\"Channel.of\"];\nv1 [label=\"split\"];\nv0 -> v1;\n\
                       v2 [shape=circle,label=\"\",xlabel=\"flatten\"];\nv1 -> v2;\nv3 [label=\"align\"];\nv2 -> v3 [label=\"parts\"];\n\
                       v4 [label=\"sort\"];\nv3 -> v4;\nv5 [label=\"merge\"];\nv4 -> v5;\nv6 [shape=point];\nv5 -> v6;\n}\n";
    const TRACE: &str = "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\tcpus\n\
                         1\ta/1\t10\tsplit\tCOMPLETED\t0\tx\t2s\t1.5s\t1\n2\ta/2\t11\tQC:align (a)\tCOMPLETED\t0\tx\t2s\t1m 2s\t2\n\
                         3\ta/3\t12\tQC:align (b)\tCACHED\t0\tx\t2s\t350ms\t2\n4\ta/4\t13\tsort (a)\tCOMPLETED\t0\tx\t2s\t1500\t-\n\
                         5\ta/5\t14\tsort (b)\tCOMPLETED\t0\tx\t2s\t0ms\t1\n6\ta/6\t15\tmerge (all)\tCOMPLETED\t0\tx\t2s\t3s\t1\n\
                         7\ta/7\t16\tsort (c)\tFAILED\t1\tx\t-\t-\t1\n";

    fn failed(graph: &str, trace: &str) -> String {
        tasks(trace, false)
            .and_then(|tasks| read(graph, &tasks, "flow"))
            .map_or_else(|wrong| wrong.problem, |_| "read".into())
    }

    #[test]
    fn processes_are_expanded_into_the_tasks_of_the_trace() {
        let read = read(DAG, &tasks(TRACE, false).ok().unwrap(), "flow").ok().unwrap();
        let graph = read.jobs[0].work.graph().unwrap();
        let edges: Vec<String> =
            graph.edges().iter().map(|edge| format!("{}>{}", graph.name(edge.from), graph.name(edge.to))).collect();
        let expected = [
            "split>QC:align (a)",
            "split>QC:align (b)",
            "QC:align (a)>sort (a)",
            "QC:align (b)>sort (b)",
            "sort (a)>merge (all)",
            "sort (b)>merge (all)",
        ];
        assert_eq!(edges, expected);
        let times: Vec<(u32, f64)> = graph
            .tasks()
            .iter()
            .map(|task| (task.task.profile.min_processors(), task.task.profile.shortest().seconds()))
            .collect();
        assert_eq!(times, [(1, 1.5), (2, 62.0), (2, 0.35), (1, 1.5), (1, 1e-9), (1, 3.0)]);
    }

    #[test]
    fn times_that_were_not_measured_are_guesses() {
        for (time, expect) in [("-", "missing"), ("soon", "negative or no time"), ("0", "0 s"), ("", "missing")] {
            let trace = format!("name\tstatus\trealtime\nsplit\tCOMPLETED\t{time}\nalign\tCOMPLETED\t1s\n");
            let found = read(DAG, &tasks(&trace, false).ok().unwrap(), "flow").ok().unwrap();
            assert!(
                found.remarks[0].starts_with(&format!("1 run time is {expect} (task `split` on line 2")),
                "{:?}",
                found.remarks
            );
            assert!(tasks(&trace, true).err().unwrap().problem.contains("--strict refuses"), "{time}");
        }
    }

    #[test]
    fn files_that_do_not_fit_are_refused() {
        assert!(failed(DAG, "name\tstatus\n").contains("no column `realtime`"));
        assert!(failed(DAG, "name\tstatus\trealtime\n").contains("no task that was completed"));
        assert!(failed(DAG, "name\tstatus\trealtime\na\tCOMPLETED\t1s\na\tCOMPLETED\t1s\n").contains("two tasks"));
        assert!(failed(DAG, "name\tstatus\trealtime\na\tCOMPLETED\t1s\n").contains("files of one run"));
        assert!(failed("digraph {", TRACE).contains("expected"));
    }
}
