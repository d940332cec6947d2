//! What each target does with its bytes: it reads them, and does with what was read what a command would do first. A reader may
//! refuse anything, in one line; it may not panic, and not take more than 256 MB for less than 1 MB.

use makespan_core::{Instance, Job, Platform, ProcSet, Profile, Time};
pub use makespan_formats::Format;
use makespan_formats::list::{
    Arguments, BuildFiles, DepsLog, MakeOutput, NinjaOutput, Template, depfile_inputs, read_make, read_ninja,
    read_snakemake,
};
use makespan_formats::simgrid::read_simgrid;
use makespan_formats::{
    FormatOption, Language, PlanFile, ReadOptions, ReplayOptions, SpeedupSpec, parse_bandwidth, parse_failures,
    parse_instance, parse_job_log, parse_replay, parse_sacct_memory, write_instance,
};
use makespan_verify::check::{problems, verdict};

fn assert_one_line(error: &dyn std::fmt::Display) {
    let text = error.to_string();
    let clear = !text.is_empty() && text.chars().count() < 1500 && !text.chars().any(char::is_control);
    assert!(clear, "{text:?}");
}

fn read(name: &str, bytes: &[u8], processors: Option<u32>) {
    let options = ReadOptions { processors, ..ReadOptions::default() };
    match parse_instance(bytes, name, &options) {
        Ok(read) => write_instance(&read.instance, Language::Json, &mut std::io::sink()).expect("a sink takes all"),
        Err(error) => assert_one_line(&error),
    }
}

/// Any instance: by its content, and by the ending of each format, without machines and with three.
pub fn instance(bytes: &[u8]) {
    Format::all().for_each(|format| of(format, bytes));
}

/// A file of a format, by its content and by each ending of the format.
pub fn of(format: Format, bytes: &[u8]) {
    for name in format.extensions().iter().map(|ending| format!("x.{ending}")).chain(["x".into()]) {
        read(&name, bytes, None);
        if format.takes(FormatOption::Processors) {
            read(&name, bytes, Some(3));
        }
    }
    if format.is_log() {
        replay(bytes);
    }
}

/// A log or an instance for simulation, and a log for statistics.
pub fn replay(bytes: &[u8]) {
    match parse_job_log(bytes, "x", false) {
        Ok(log) => assert!(log.jobs.iter().all(|job| job.started.is_none_or(|started| started >= job.submitted))),
        Err(error) => assert_one_line(&error),
    }
    for processors in [None, Some(8)] {
        let options = ReplayOptions { processors, ..ReplayOptions::default() };
        match parse_replay(bytes, "x", &options) {
            Ok(replay) => assert_eq!(replay.report.jobs, replay.instance.jobs().len()),
            Err(error) => assert_one_line(&error),
        }
    }
}

/// Lists of commands, templates with an argument after a NUL byte, and what make and Snakemake print of a dry run.
pub fn list(bytes: &[u8]) {
    of(Format::List, bytes);
    let text = String::from_utf8_lossy(bytes);
    let platform = Platform::flat(3).expect("three processors are a platform");
    let outcome = |read: Result<Option<Instance>, makespan_formats::FormatError>| {
        if let Err(error) = read {
            assert_one_line(&error);
        }
    };
    let (known, printed) = text.split_once('\0').unwrap_or((&text, &text));
    let line = |line: usize| text.lines().nth(line.checked_sub(1)?).map(str::to_owned);
    for goal in [None, Some("a")] {
        outcome(read_make(MakeOutput { file: "x", goal, known, printed }, &platform, |_, number| line(number)));
    }
    outcome(read_snakemake("x", bytes, &text, &platform, |name| Some(name.to_owned())));
    let deps = DepsLog::read(bytes).unwrap_or_default();
    let _ = depfile_inputs(bytes);
    let ninja = NinjaOutput {
        file: "x",
        dry: known,
        graph: printed,
        pools: &[("a".into(), 1)].into_iter().collect(),
        log: &text,
        deps: &deps,
        words: &[],
    };
    outcome(read_ninja(ninja, &platform, &OneFile(bytes)));
    let (template, argument) = text.split_once('\0').unwrap_or((&text, "a"));
    let lines = Template::parse(template)
        .and_then(|template| template.lines(&Arguments::product(vec![vec![argument.to_owned()], vec!["b".into()]])));
    if let Ok(lines) = lines {
        assert_eq!(lines.len(), 1);
    }
}

/// A build of ninja in which each depfile has this content.
struct OneFile<'a>(&'a [u8]);

impl BuildFiles for OneFile<'_> {
    fn read(&self, _file: &str) -> Option<Vec<u8>> {
        Some(self.0.to_vec())
    }

    fn mtime(&self, _file: &str) -> i64 {
        0
    }
}

/// WfFormat.
pub fn workflow_json(bytes: &[u8]) {
    let options = ReadOptions { processors: Some(3), storage: Some("n1".into()), ..ReadOptions::default() };
    if let Err(error) = parse_instance(bytes, "x.json", &options) {
        assert_one_line(&error);
    }
    of(Format::WfFormat, bytes);
}

/// Platforms of SimGrid.
pub fn simgrid(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(error) = read_simgrid("x", text) {
        assert_one_line(&error);
    }
}

/// What the schedules of the corpus are of.
fn flat() -> Instance {
    let job = Job::new("a", Profile::rigid(5, Time::from_ticks(2_500_000_000)).expect("it takes time"));
    let task = Profile::rigid(1, Time::from_seconds(2)).expect("it takes time");
    let bag = Job::new("b", task).with_count(2.try_into().expect("2 are some"));
    Instance::new(Platform::flat(8).expect("8 are enough"), vec![job, bag], Vec::new()).expect("the jobs fit")
}

/// Checks a plan file, if the bytes are one.
fn plan(instance: &Instance, bytes: &[u8]) {
    match PlanFile::read("x", bytes, instance) {
        Ok(file) => {
            let problems = problems(instance, &file);
            assert!(problems.iter().all(|problem| !problem.is_empty()));
            assert!(!verdict("x", instance, &file, &problems).is_empty());
        }
        Err(error) => assert_one_line(&error),
    }
}

/// Plan files of an instance with a job and a bag.
pub fn schedule(bytes: &[u8]) {
    plan(&flat(), bytes);
}

/// Plan files of bags on a tree.
pub fn tree_plan(bytes: &[u8]) {
    const TREE: &str = r#"{"version": 1, "platform": {"nodes": [{"name": "r", "processors": 1, "speed": 3},
      {"name": "a", "processors": 2, "parent": "r", "bandwidth": 4}]},
      "jobs": [{"name": "x", "count": 200, "work": 3, "data": 2}]}"#;
    let tree = parse_instance(TREE.as_bytes(), "x", &ReadOptions::default()).expect("the tree is one");
    plan(&tree.instance, bytes);
}

/// Tables of failures.
pub fn failures(bytes: &[u8]) {
    let platform = Platform::cluster(2, 4).expect("8 are enough");
    if let Err(error) = parse_failures("x", bytes, &platform) {
        assert_one_line(&error);
    }
}

/// The stated and the used memory in a dump of sacct.
pub fn sacct_memory(bytes: &[u8]) {
    match parse_sacct_memory("x", &mut &*bytes) {
        Ok(table) => assert!(table.jobs.iter().all(|job| job.peak > 0)),
        Err(error) => assert_one_line(&error),
    }
}

/// What Slurm prints: records, JSON, lists of hosts, settings and values. The first byte says which.
pub fn slurm(bytes: &[u8]) {
    use makespan_slurm::{Config, Gres, Kind, Node, Partition, expand, jobs_of_json, records};
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    let said = |problem: Option<String>| assert!(problem.is_none_or(|problem| !problem.is_empty()));
    match kind % 8 {
        0 => records(Kind::Node, &text).0.into_iter().for_each(|record| said(Node::of(record).err())),
        1 => records(Kind::Partition, &text).0.into_iter().for_each(|record| said(Partition::of(record).err())),
        2 => records(Kind::Job, &text).0.into_iter().for_each(|record| said(makespan_slurm::Job::of(record).err())),
        3 => match jobs_of_json(&text) {
            Ok(records) => records.into_iter().for_each(|record| said(makespan_slurm::Job::of(record).err())),
            Err(problem) => said(Some(problem)),
        },
        4 => said(expand(&text).err().map(|error| error.to_string())),
        5 => drop(Gres::list(&text)),
        6 => drop(Config::parse(&text).number("MaxStepCount")),
        _ => {
            let _ = (makespan_slurm::duration(&text), makespan_slurm::moment(&text), makespan_slurm::bytes(&text));
            let _ = (makespan_slurm::range(&text), makespan_slurm::count(&text));
        }
    }
}

/// The queue of a cluster: parts that are separated by a zero byte, the first byte of each of which says which it is. What can be read is
/// played, too.
pub fn queue(bytes: &[u8]) {
    use makespan_slurm::forecast::{ForecastOptions, forecast};
    use makespan_slurm::queue::{ClusterOutput, Texts};
    const PARTS: [ClusterOutput; 10] = [
        ClusterOutput::Config,
        ClusterOutput::Nodes,
        ClusterOutput::NodesJson,
        ClusterOutput::Partitions,
        ClusterOutput::Jobs,
        ClusterOutput::JobsJson,
        ClusterOutput::Reservations,
        ClusterOutput::Licences,
        ClusterOutput::Limits,
        ClusterOutput::Past,
    ];
    let mut texts = Texts::default();
    for part in bytes.split(|&byte| byte == 0) {
        let Some((kind, text)) = part.split_first() else { continue };
        texts = texts.with(PARTS[usize::from(*kind) % PARTS.len()], String::from_utf8_lossy(text));
    }
    match texts.queue(None) {
        Err((_, problem)) => assert!(!problem.is_empty()),
        Ok(queue) if queue.jobs.len() < 100 => {
            drop(forecast(&queue, &ForecastOptions { draws: 1, ..ForecastOptions::default() }))
        }
        Ok(_) => {}
    }
}

/// Words of the command line.
pub fn options(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = text.parse::<SpeedupSpec>();
    let _ = parse_bandwidth(text);
    let _ = Time::parse(text);
    let _ = text.parse::<ProcSet>();
}
