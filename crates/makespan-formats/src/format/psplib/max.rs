//! Reads projects with minimal and maximal time lags (RCPSP/max) in the format of the generator `ProGen/max`.
//!
//! C. Schwindt, "Generation of resource-constrained project scheduling problems subject to temporal constraints", report
//! WIOR-543, University of Karlsruhe, 1998. The first line states the numbers of activities (without source and sink),
//! of renewable resources, and of two other kinds of resources, which must be 0. The next lines state for each activity:
//! its number from 0, the number of its modes (1), the number of arcs, the activities at which they end, and for each arc
//! in brackets the least time from start to start. The next lines state for each activity: its number, its mode, its
//! duration and its needs. The last line states the amounts of the resources.

use makespan_core::Time;

use super::project::{Activity, Mode, Project, ResourceAmount};
use super::{FileProblem, number, numbers};

/// Maximum number of activities, and of resources.
const MOST: u64 = 100_000;

/// An arc between the starts of two activities, which are numbered from 0, with the least difference in periods.
type Arc = (usize, usize, i64);

/// Returns whether a text begins like a project of `ProGen/max`: a line of four whole numbers, and a line with an arc.
pub(super) fn begins(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let words = |line: &[u8]| line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else { return false };
    let is_number = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_whitespace();
    first.iter().all(is_number) && words(first) == 4 && second.contains(&b'[')
}

pub(super) fn read(text: &str) -> Result<Project, FileProblem> {
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line)).filter(|line| !line.1.trim().is_empty());
    let mut last = 1;
    let mut next = |what: &str| {
        let line = lines.next().ok_or_else(|| FileProblem::at(last, format!("expected {what}, but the text ends")))?;
        last = line.0;
        Ok::<_, FileProblem>(line)
    };
    let (line, head) = next("the numbers of activities and resources")?;
    let [activities, resources, used_up, both] = numbers(line, head)?[..] else {
        return Err(FileProblem::at(line, "expected four numbers: of activities and of three kinds of resources"));
    };
    if used_up > 0 || both > 0 {
        let problem = "only renewable resources are supported; the third and fourth number must be 0";
        return Err(FileProblem::at(line, problem));
    }
    if activities > MOST || resources > MOST {
        return Err(FileProblem::at(line, format!("at most {MOST} activities and resources are supported")));
    }
    let (count, resources) = (activities as usize + 2, resources as usize);
    let mut arcs: Vec<Arc> = Vec::new();
    for from in 0..count {
        let (line, text) = next(&format!("the arcs of activity {from}"))?;
        add_arcs(line, text, from, count, &mut arcs)?;
    }
    let mut rows = Vec::new();
    for at in 0..count {
        let (line, text) = next(&format!("the duration of activity {at}"))?;
        let row = numbers(line, text)?;
        if row.len() != resources + 3 || row[0] != at as u64 || row[1] > 1 {
            let problem = format!("expected activity {at}, its mode 1, its duration and {resources} needs");
            return Err(FileProblem::at(line, problem));
        }
        rows.push((line, row));
    }
    let (line, text) = next("the amounts of the resources")?;
    let amounts = numbers(line, text)?;
    if amounts.len() != resources {
        return Err(FileProblem::at(line, format!("expected {resources} amounts of resources")));
    }
    if let Some((line, _)) = lines.next() {
        return Err(FileProblem::at(line, "unexpected text after the amounts of the resources; remove it"));
    }
    let named = amounts.into_iter().zip(1..);
    let stocks = named.map(|(amount, at)| ResourceAmount { name: format!("R{at}"), amount, renewable: true }).collect();
    planned(rows, arcs, stocks)
}

/// Reads the arcs of an activity.
fn add_arcs(line: usize, text: &str, from: usize, count: usize, arcs: &mut Vec<Arc>) -> Result<(), FileProblem> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let wrong = |problem: String| FileProblem::at(line, problem);
    let short =
        || wrong(format!("expected activity {from}, 1 mode, the number of its arcs, their ends, and their lengths"));
    let [id, modes, arcs_of, rest @ ..] = &words[..] else { return Err(short()) };
    if number(line, id)? != from as u64 {
        return Err(short());
    }
    if number(line, modes)? != 1 {
        return Err(wrong(format!(
            "activity {from} has {modes} modes, but time lags are supported only with one mode"
        )));
    }
    let arcs_of = number(line, arcs_of)?;
    if rest.len() as u64 != arcs_of.saturating_mul(2) {
        return Err(short());
    }
    let (ends, lengths) = rest.split_at(rest.len() / 2);
    for (end, length) in ends.iter().zip(lengths) {
        let to = number(line, end)? as usize;
        if to >= count || to == from {
            return Err(wrong(format!(
                "activity {from} has an arc to {end}, but activities are numbered from 0 to {}",
                count - 1
            )));
        }
        let inner = length.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let length: Option<i64> =
            inner.and_then(|text| text.parse().ok()).filter(|length: &i64| length.abs() < 1 << 31);
        let Some(length) = length else {
            return Err(wrong(format!("expected the length of the arc from {from} to {to} in brackets, such as [-3]")));
        };
        arcs.push((from, to, length));
    }
    Ok(())
}

/// Returns the project of the activities with a duration. An activity without duration holds no resources, so the pairs of
/// an arc to it and an arc from it replace it.
fn planned(
    rows: Vec<(usize, Vec<u64>)>,
    mut arcs: Vec<Arc>,
    stocks: Vec<ResourceAmount>,
) -> Result<Project, FileProblem> {
    // All activities start at 0 or later, like the source.
    if let Some((from, to, length)) = arcs.iter().find(|(from, to, length)| *to == 0 || *from == 0 && *length > 0) {
        let problem = format!(
            "the arc from activity {from} to {to} of length {length} limits a start relative to the start of the project, \
             which is not supported; remove the arc"
        );
        return Err(FileProblem::from(problem));
    }
    arcs.retain(|arc| arc.0 != 0);
    let timeless: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].1[2] == 0).collect();
    let remarks = arcs_to_sink(&rows, &arcs);
    for &at in &timeless {
        let (own, mut kept): (Vec<Arc>, Vec<Arc>) = arcs.into_iter().partition(|arc| arc.0 == at || arc.1 == at);
        for (from, _, first) in own.iter().filter(|arc| arc.1 == at) {
            for (_, to, second) in own.iter().filter(|arc| arc.0 == at) {
                let length = first + second;
                if to != from {
                    kept.push((*from, *to, length));
                } else if length > 0 {
                    let problem = format!(
                        "the arcs from activity {from} to activity {at} and back have the sum {length}, so no plan is \
                         possible; lower one of these arcs"
                    );
                    return Err(FileProblem::from(problem));
                }
            }
        }
        // Only the longest arc from one activity to another matters.
        kept.sort_unstable_by_key(|&(from, to, length)| (from, to, std::cmp::Reverse(length)));
        kept.dedup_by_key(|arc| (arc.0, arc.1));
        if kept.len() > 1 << 24 {
            return Err(FileProblem::from("the activities without duration have too many arcs".to_owned()));
        }
        arcs = kept;
    }
    let mut positions = vec![usize::MAX; rows.len()];
    let mut activities = Vec::new();
    for (at, (line, row)) in rows.into_iter().enumerate().filter(|(_, row)| row.1[2] > 0) {
        positions[at] = activities.len();
        let mode = Mode { line, duration: row[2], needs: row[3..].to_vec() };
        activities.push(Activity { name: at.to_string(), line, modes: vec![mode], successors: Vec::new() });
    }
    let lag = |(from, to, length): Arc| (positions[from] as u32, positions[to], Time::from_seconds(length));
    let lags = arcs.into_iter().map(lag).collect();
    Ok(Project { stocks, activities, lags, remarks, ..Project::default() })
}

/// Returns a remark if an arc to the sink differs from the duration of its activity. The sink is not planned, so such an
/// arc does not affect the makespan.
fn arcs_to_sink(rows: &[(usize, Vec<u64>)], arcs: &[Arc]) -> Vec<String> {
    let sink = rows.len() - 1;
    let differs = |arc: &&Arc| arc.1 == sink && arc.2 != rows[arc.0].1[2] as i64;
    let others: Vec<&Arc> = arcs.iter().filter(differs).collect();
    let remark = others.first().map(|(from, _, length)| {
        format!(
            "arcs to the end of the project that differ from the duration of their activity are not planned: {} (such as \
             {length} from activity `{from}`); the makespan is the last end of an activity",
            others.len()
        )
    });
    remark.into_iter().collect()
}
