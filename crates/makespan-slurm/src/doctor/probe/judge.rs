//! Derives findings from the answers of the nodes.

use std::collections::BTreeSet;
use std::path::Path;

use super::{FILES, Finding, NodeAnswers, Nodes, sum};

/// Maximum difference between clocks that is ignored, in seconds. The transmission of a line alone causes a small
/// difference.
const CLOSE: f64 = 1.0;
/// If the difference between two clocks is larger than this, Munge rejects credentials. In seconds.
const REFUSED: f64 = 300.0;

/// Judges the clocks. The transmission time of a line makes the node's clock seem slow. So the largest measured value
/// is the most exact.
pub(super) fn clocks(nodes: &Nodes) -> Finding {
    const TOPIC: &str = "clocks";
    let ahead = |said: &NodeAnswers| said.ahead.iter().copied().reduce(f64::max);
    let known: Vec<(&str, f64)> = nodes.iter().filter_map(|(name, said)| Some((name.as_str(), ahead(said)?))).collect();
    let Some(&(name, most)) = known.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())) else {
        return Finding::unknown(
            TOPIC,
            "the nodes did not report their time",
            "check that `date +%s%N` works on the nodes",
        );
    };
    let direction = if most > 0.0 { "ahead of" } else { "behind" };
    let found = format!("{name} is {:.1} s {direction} this machine", most.abs());
    let remedy = "ask the administrators to synchronise the clocks (chrony); otherwise, the times of files are wrong \
                  by this difference on other nodes";
    match most.abs() {
        close if close <= CLOSE => {
            Finding::good(TOPIC, format!("nodes and this machine differ by at most {:.1} s", close.max(0.1)))
        }
        apart if apart < REFUSED => Finding::doubtful(TOPIC, found, remedy),
        _ => Finding::bad(TOPIC, found, format!("{remedy}; munge refuses credentials that are older than 5 min")),
    }
}

pub(super) fn program(nodes: &Nodes, path: &Path) -> Finding {
    const TOPIC: &str = "program";
    const REMEDY: &str = "install makespan in a folder that all nodes share, and start it from this folder";
    let names = |is_it: &dyn Fn(&NodeAnswers) -> bool| -> String {
        let found = nodes.iter().filter(|(_, said)| is_it(said)).map(|(name, _)| name.as_str());
        found.collect::<Vec<_>>().join(", ")
    };
    let without = names(&|said| said.has_program == Some(false));
    if !without.is_empty() {
        return Finding::bad(TOPIC, format!("{} is not on {without}", path.display()), REMEDY);
    }
    let here = sum(path);
    let other = names(&|said| here.is_some() && said.sum.is_some() && said.sum != here);
    if !other.is_empty() {
        let found =
            format!("{} on {other} differs from the file on this machine, perhaps in its version", path.display());
        return Finding::bad(TOPIC, found, format!("{REMEDY}, or copy the file of this machine to these nodes"));
    }
    let same = here.is_some() && nodes.values().all(|said| said.sum.is_some());
    let found = if same { "is on the nodes, and is the same file as on this machine" } else { "is on the nodes" };
    Finding::good(TOPIC, format!("{} {found}", path.display()))
}

pub(super) fn shared(nodes: &Nodes, asked: u32) -> Finding {
    const TOPIC: &str = "shared folder";
    let with = |answer: &str| -> Vec<&str> {
        nodes.iter().filter(|(_, said)| said.shared.as_deref() == Some(answer)).map(|(name, _)| name.as_str()).collect()
    };
    let remedy = "choose a folder on a file system that all nodes share, such as your home or scratch folder: --folder";
    let (unseen, closed) = (with("no"), with("readonly"));
    if !unseen.is_empty() {
        return Finding::bad(TOPIC, format!("{} does not see this folder", unseen.join(", ")), remedy);
    }
    if !closed.is_empty() {
        return Finding::bad(TOPIC, format!("{} cannot write to this folder", closed.join(", ")), remedy);
    }
    if nodes.len() < asked as usize {
        return Finding::unknown(
            TOPIC,
            format!("{} of {asked} nodes answered", nodes.len()),
            "see the finding `test job` above",
        );
    }
    let rounds: Vec<Option<u32>> =
        nodes.values().map(|said| said.met.as_deref().and_then(|met| met.parse().ok())).collect();
    if rounds.iter().any(Option::is_none) {
        return Finding::bad(TOPIC, "nodes do not see each other's files within 30 s", remedy);
    }
    let most = rounds.into_iter().flatten().max().unwrap_or(0);
    if asked == 1 {
        return Finding::good(
            TOPIC,
            "a node sees what this machine writes; a test between nodes needs at least 2 nodes",
        );
    }
    // The measured time includes the time until all nodes had begun.
    Finding::good(TOPIC, format!("all nodes see each other's files within {:.1} s", f64::from(most + 1) / 10.0))
}

pub(super) fn renames(nodes: &Nodes) -> Finding {
    const TOPIC: &str = "rename";
    let counts: Vec<u32> = nodes.values().filter_map(|said| said.taken).collect();
    if counts.len() < nodes.len() {
        return Finding::unknown(TOPIC, "not every node moved files", "solve the problem of the shared folder first");
    }
    let taken: u32 = counts.iter().sum();
    let distinct: BTreeSet<u32> = counts.iter().copied().collect();
    let between = format!("{} nodes", nodes.len());
    if taken == FILES {
        let alone = if nodes.len() > 1 && distinct.contains(&FILES) { ", and one node moved all of them" } else { "" };
        return Finding::good(TOPIC, format!("atomic: {between} moved {FILES} files, each exactly once{alone}"));
    }
    let found = format!("not atomic: {between} moved {FILES} files {taken} times");
    Finding::bad(
        TOPIC,
        found,
        "runs in this folder could repeat or lose tasks; choose a folder on another file system: --folder",
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict;
    use super::super::listen::hear;
    use super::*;

    fn nodes(lines: &[&str]) -> Nodes {
        let mut nodes = Nodes::new();
        lines.iter().for_each(|line| hear(&mut nodes, line, 1000.0));
        nodes
    }

    #[test]
    fn a_program_that_is_another_file_on_a_node_is_noticed() {
        let (folder, own) = (tempfile::tempdir().unwrap(), "makespan-doctor n0 program yes");
        let path = folder.path().join("makespan");
        std::fs::write(&path, "this one").unwrap();
        let said = sum(&path).unwrap();
        let judged = |other: &str| {
            let lines = [own, "makespan-doctor n0 sum", "makespan-doctor n1 program yes", "makespan-doctor n1 sum"];
            let lines = [
                lines[0].to_owned(),
                format!("{} {said}", lines[1]),
                lines[2].to_owned(),
                format!("{} {other}", lines[3]),
            ];
            program(&nodes(&lines.each_ref().map(String::as_str)), &path)
        };
        assert!(judged(&said).found.ends_with("the same file as on this machine"));
        let finding = judged("1:2");
        assert_eq!(finding.verdict, Verdict::Bad);
        assert!(finding.found.contains("on n1 differs from the file on this machine"), "{finding:?}");
        assert!(finding.remedy.unwrap().contains("that all nodes share"));
    }

    #[test]
    fn the_shortest_way_of_a_line_says_how_clocks_differ() {
        let verdict = |time: &str| {
            clocks(&nodes(&[&format!("makespan-doctor n0 time {time}"), "makespan-doctor n0 time 990000000000"]))
                .verdict
        };
        assert_eq!(verdict("999800000000"), Verdict::Good);
        assert_eq!(verdict("1030000000000"), Verdict::Doubtful);
        assert_eq!(verdict("2000000000000"), Verdict::Bad);
        assert_eq!(verdict("x"), Verdict::Doubtful);
    }

    #[test]
    fn files_that_move_twice_are_noticed() {
        let lines = |a: u32, b: u32| {
            nodes(&[&format!("makespan-doctor n0 taken {a}"), &format!("makespan-doctor n1 taken {b}")])
        };
        assert_eq!(renames(&lines(15, 25)).verdict, Verdict::Good);
        assert_eq!(renames(&lines(25, 25)).verdict, Verdict::Bad);
        assert_eq!(renames(&lines(15, 15)).verdict, Verdict::Bad);
    }
}
