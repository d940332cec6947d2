//! Reads runs of Nextflow. `-with-dag FILE.dot` writes the graph of processes, and `-with-trace` writes the tasks with
//! their run times. Neither file states the dependencies between tasks.
//!
//! If one process follows another, a task of the later process waits for the tasks of the earlier process that have
//! the same tag. If no task of the earlier process has this tag, the task waits for all tasks of the earlier process.

use makespan_core::{
    Edge, Estimate, Graph, Job, NamedTask, Need, Needs, Payload, Profile, Resource, Task, Time, counted,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::dot::{self, DotGraph};
use super::{FileProblem, ReadJobs, remarked};
use crate::error::FilePlace;
use crate::needs::{Pool, memory};
use crate::odd::{ImpossibleValues, ValueProblem};

/// Maximum number of dependencies between tasks.
const MAX_EDGES: usize = 1 << 22;

/// A task of the trace.
struct Row<'a> {
    name: &'a str,
    process: &'a str,
    tag: Option<&'a str>,
    cores: u32,
    needs: Needs,
    time: Time,
    estimate: Estimate,
}

/// Content of a trace: the completed tasks, the impossible values, and the tasks that did not complete.
#[derive(Default)]
pub(super) struct TraceTasks<'a> {
    rows: Vec<Row<'a>>,
    odd: ImpossibleValues,
    /// Name and status of each task that did not complete.
    unfinished: Vec<[&'a str; 2]>,
    needs: Pool,
}

/// Reads the completed tasks of a trace. With `strict`, impossible values and tasks that did not complete are errors.
pub(super) fn tasks(trace: &str, strict: bool) -> Result<TraceTasks<'_>, FileProblem> {
    let mut tasks = TraceTasks::default();
    tasks.read(trace)?;
    tasks.odd.refuse(strict)?;
    remarked(tasks.unfinished(), strict)?;
    Ok(tasks)
}

/// Reads the graph of processes. Returns a task graph, with each process replaced by its tasks in the trace. `name` is
/// the name of the job. With `strict`, ignored attributes and tasks without a process in the graph are errors.
pub(super) fn read(graph: &str, found: &TraceTasks<'_>, name: &str, strict: bool) -> Result<ReadJobs, FileProblem> {
    let rows = &found.rows;
    let DotGraph { labels, edges, unread } = dot::labels(graph)?;
    let mut of_label: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    for (number, row) in (0..).zip(rows) {
        of_label.entry(row.process).or_default().push(number);
    }
    // The name of a process in the trace contains the names of the enclosing workflows. The graph may omit these
    // names.
    let tasks_of = |label: &str| -> Vec<u32> {
        let inner = |process: &str| process == label || process.rsplit(':').next() == Some(label);
        match of_label.get(label) {
            Some(tasks) => tasks.clone(),
            None => (0..).zip(rows).filter(|(_, row)| inner(row.process)).map(|(number, _)| number).collect(),
        }
    };
    let tasks: Vec<Vec<u32>> = labels.iter().map(|label| tasks_of(label)).collect();
    if tasks.iter().all(Vec::is_empty) {
        return Err("no node of the graph is a process of the trace; use two files of the same run".to_owned().into());
    }
    let mut remarks: Vec<String> = found.odd.remarks().chain(found.unfinished()).collect();
    for remark in [unread, apart(rows, &tasks)] {
        remarks.extend(remarked(remark, strict)?);
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
                return Err(format!("the tasks have more than {MAX_EDGES} dependencies in all").into());
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let task = |row: &Row<'_>| {
        let profile = Profile::rigid(row.cores, row.time).map_err(|error| format!("task `{}`: {error}", row.name))?;
        let task = Task { estimate: row.estimate, needs: row.needs.clone(), ..Task::new(profile) };
        Ok(NamedTask { name: row.name.into(), task })
    };
    let named = rows.iter().map(task).collect::<Result<Vec<_>, String>>()?;
    let edges = pairs.into_iter().map(|(from, to)| Edge { from, to, payload: Payload::Bytes(0) }).collect();
    let graph = Graph::new(named, edges).map_err(|error| error.to_string())?;
    let paired = "Nextflow's files state dependencies between processes, not between tasks: tasks of consecutive processes are paired by \
                  their tags if both have tags; otherwise each task waits for all tasks of the previous process";
    remarks.push(paired.to_owned());
    Ok(ReadJobs::of(vec![Job::compound(name, graph)], remarks))
}

/// Returns a warning about tasks that have no process in the graph. The dependencies of these tasks are unknown.
fn apart(rows: &[Row<'_>], tasks: &[Vec<u32>]) -> Option<String> {
    let drawn: FxHashSet<u32> = tasks.iter().flatten().copied().collect();
    let mut apart = (0..).zip(rows).filter(|(number, _)| !drawn.contains(number)).map(|(_, row)| row.name);
    let first = apart.next()?;
    let count = 1 + apart.count();
    Some(format!(
        "the graph does not contain the processes of {} (such as `{first}`); dependencies of these tasks are unknown \
         and ignored",
        counted(count, "task")
    ))
}

/// Returns the nearest successors of a node that have tasks. The search continues through successors without tasks.
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

/// Adds the dependencies between the tasks of two consecutive processes.
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

impl<'a> TraceTasks<'a> {
    /// Reads the completed tasks, including the tasks that took their results from the cache of an earlier run.
    fn read(&mut self, trace: &'a str) -> Result<(), FileProblem> {
        let mut lines = (1..).zip(trace.lines());
        let heading: Vec<&str> = lines.next().map_or_else(Vec::new, |(_, line)| line.split('\t').collect());
        let column = |name: &str| heading.iter().position(|one| *one == name);
        let wrong = |line: usize, problem: String| FileProblem::at(FilePlace::line(line), problem);
        let needed = |name: &str| {
            column(name).ok_or_else(|| {
                wrong(1, format!("there is no column `{name}`; run Nextflow with -with-trace and this field"))
            })
        };
        let (name, status, time) = (needed("name")?, needed("status")?, needed("realtime")?);
        let [cores, memory] = ["cpus", "memory"].map(column);
        let mut seen = FxHashSet::default();
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let cells: Vec<&str> = line.split('\t').collect();
            let cell = |at: usize| cells.get(at).copied().unwrap_or("-").trim();
            // `-` marks a value that was not measured, for example for a task without a script.
            let stated = |at: Option<usize>| at.map(cell).filter(|text| *text != "-");
            let name = cell(name);
            if !matches!(cell(status), "COMPLETED" | "CACHED") {
                self.unfinished.push([name, cell(status)]);
                continue;
            }
            if !seen.insert(name) {
                return Err(wrong(number, format!("two tasks are named `{name}`")));
            }
            let owner = || format!("task `{name}` on line {number}");
            let time = stated(Some(time)).map(duration);
            let (time, estimate) = self.odd.run_time(time.as_deref(), owner);
            let cores = self.odd.read(ValueProblem::BrokenCores, stated(cores), |text| text.parse().ok(), owner);
            let cores = cores.unwrap_or(1).max(1);
            let memory =
                self.odd.read(ValueProblem::BrokenAmount, stated(memory), requested, owner).filter(|&bytes| bytes > 0);
            let needs = self.needs.of(memory.map(|bytes| (Resource::MEMORY, Need::whole(bytes))));
            let (process, tag) = match name.split_once(" (") {
                Some((process, tag)) => (process, tag.strip_suffix(')')),
                None => (name, None),
            };
            self.rows.push(Row { name, process, tag, cores, needs, time, estimate });
        }
        if self.rows.is_empty() {
            return Err(wrong(1, "the trace has no completed task".into()));
        }
        Ok(())
    }

    /// Returns a warning about the tasks that did not complete, or `None` if all tasks completed.
    fn unfinished(&self) -> Option<String> {
        let [name, status] = self.unfinished.first()?;
        let (count, is) =
            (counted(self.unfinished.len(), "task"), if self.unfinished.len() == 1 { "is" } else { "are" });
        Some(format!("{count} of the trace {is} ignored: not completed (such as `{name}`, {status})"))
    }
}

/// Converts a memory request such as `2 GB` to bytes. Units are powers of 1024, and a number without a unit is in
/// bytes.
fn requested(text: &str) -> Option<u64> {
    let text = text.strip_suffix('B').unwrap_or(text).replace(' ', "");
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().filter(|&bytes| i64::try_from(bytes).is_ok());
    }
    memory(&text)
}

/// Adds the unit to a number of milliseconds. Any other text is returned unchanged.
fn duration(text: &str) -> String {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("{text}ms");
    }
    text.to_owned()
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
            .and_then(|tasks| read(graph, &tasks, "flow", false))
            .map_or_else(|wrong| wrong.problem, |_| "read".into())
    }

    #[test]
    fn processes_are_expanded_into_the_tasks_of_the_trace() {
        let read = read(DAG, &tasks(TRACE, false).ok().unwrap(), "flow", false).ok().unwrap();
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
        for (time, expect) in [("-", "missing"), ("soon", "negative or invalid"), ("0", "0 s"), ("", "missing")] {
            let trace = format!("name\tstatus\trealtime\nsplit\tCOMPLETED\t{time}\nalign\tCOMPLETED\t1s\n");
            let found = read(DAG, &tasks(&trace, false).ok().unwrap(), "flow", false).ok().unwrap();
            assert!(
                found.remarks[0].starts_with(&format!("1 run time is {expect} (task `split` on line 2")),
                "{:?}",
                found.remarks
            );
            assert!(tasks(&trace, true).err().unwrap().problem.contains("--strict does not allow"), "{time}");
        }
    }

    #[test]
    fn what_is_left_out_is_counted_and_refused_by_a_strict_reading() {
        let found = tasks(TRACE, false).ok().unwrap();
        let read_of = |graph: &str, strict| read(graph, &found, "flow", strict);
        let remarks = read_of(DAG, false).ok().unwrap().remarks.join("; ");
        assert!(
            remarks.contains("1 task of the trace is ignored: not completed (such as `sort (c)`, FAILED)"),
            "{remarks}"
        );
        let problem = tasks(&TRACE.replace("0ms", "5ms"), true).err().unwrap().problem;
        assert!(
            problem.contains("`sort (c)`, FAILED") && problem.ends_with("--strict does not allow this"),
            "{problem}"
        );
        for (graph, part) in [
            (
                DAG.replace("label=\"merge\"", "label=\"join\""),
                "the graph does not contain the processes of 1 task (such as `merge (all)`)",
            ),
            (DAG.replace("label=\"merge\"", "label=\"merge\",time=3"), "`time` of nodes (1)"),
        ] {
            let remarks = read_of(&graph, false).ok().unwrap().remarks.join("; ");
            assert!(remarks.contains(part), "{remarks}");
            assert!(read_of(&graph, true).err().unwrap().problem.contains(part));
        }
    }

    #[test]
    fn memory_is_read_in_powers_of_1024() {
        for (text, expect) in [
            ("2 GB", Some(2 << 30)),
            ("1.5 MB", Some(3 << 19)),
            ("512 B", Some(512)),
            ("4096", Some(4096)),
            ("0", Some(0)),
            ("much", None),
            ("-1 GB", None),
        ] {
            assert_eq!(requested(text), expect, "{text}");
        }
        let trace =
            "name\tstatus\trealtime\tcpus\tmemory\nsplit\tCOMPLETED\t1s\t2\t2 GB\nalign\tCOMPLETED\t1s\tx\tmuch\n";
        let found = read(DAG, &tasks(trace, false).ok().unwrap(), "flow", false).ok().unwrap();
        let needs = found.jobs[0].work.graph().unwrap().tasks()[0].task.needs.clone();
        assert_eq!(needs.of("memory"), Some(&Need::whole(2 << 30)));
        for named in [
            "1 number of cores is not a number (task `align` on line 3: `x`)",
            "1 amount is not a number (task `align` on line 3: `much`)",
        ] {
            assert!(found.remarks.iter().any(|remark| remark.starts_with(named)), "{:?}", found.remarks);
        }
        assert!(tasks(trace, true).is_err());
    }

    #[test]
    fn files_that_do_not_fit_are_refused() {
        assert!(failed(DAG, "name\tstatus\n").contains("no column `realtime`"));
        assert!(failed(DAG, "name\tstatus\trealtime\n").contains("no completed task"));
        assert!(failed(DAG, "name\tstatus\trealtime\na\tCOMPLETED\t1s\na\tCOMPLETED\t1s\n").contains("two tasks"));
        assert!(failed(DAG, "name\tstatus\trealtime\na\tCOMPLETED\t1s\n").contains("files of the same run"));
        assert!(failed("digraph {", TRACE).contains("expected"));
    }
}
