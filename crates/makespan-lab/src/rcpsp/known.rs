//! The best known values of PSPLIB's projects, read from a table that the user provides.

use std::collections::BTreeMap;
use std::path::Path;

use makespan_core::Time;

use super::Run;
use crate::LabError;

/// The best known values of a project, in the time unit of the project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BestKnown {
    /// The best known lower bound, or `None` if no bound is known.
    pub bound: Option<i64>,
    /// The best known makespan.
    pub makespan: i64,
}

impl BestKnown {
    /// Returns the best known makespan in ticks. The time unit of a project is a second.
    pub fn ticks(self) -> i128 {
        ticks(self.makespan)
    }
}

/// The best known values by project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownValues(BTreeMap<Id, BestKnown>);

/// The identity of a project of PSPLIB, independent of the spelling of its name. `j30_1_2`, `j301_2` and `J301_2` are
/// one project (with one mode). `mm_j30_1_2` and the file `j301_2.mm` are another project (with several modes).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Id {
    multi: bool,
    name: String,
}

/// The sets of PSPLIB with one mode, and their numbers of projects.
const SINGLE: [(&str, usize); 4] = [("j30", 480), ("j60", 480), ("j90", 480), ("j120", 600)];
/// The sets of PSPLIB with several modes, and their numbers of projects.
const MULTI: [(&str, usize); 7] =
    [("j10", 536), ("j12", 547), ("j14", 551), ("j16", 550), ("j18", 552), ("j20", 554), ("j30", 640)];

/// Returns the set to which a project with this name belongs, such as `j30`, or `j30 mm` for several modes.
pub(super) fn set_of(stem: &str, multi: bool) -> Option<String> {
    let Id { multi, name } = Id::of(stem, multi);
    let sets = if multi { &MULTI[..] } else { &SINGLE[..] };
    // In a name, the set is followed by a group number and a project number: `j3048_10` is in the set `j30`, and has
    // the group number 48.
    let begins = |set: &&(&str, usize)| name.strip_prefix(set.0).is_some_and(is_number);
    let set = sets.iter().find(begins)?.0;
    Some(if multi { format!("{set} mm") } else { set.to_owned() })
}

fn ticks(makespan: i64) -> i128 {
    i128::from(makespan) * i128::from(Time::TICKS_PER_SECOND)
}

fn is_number(rest: &str) -> bool {
    let mut parts = rest.split('_');
    let number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
    number(parts.next()) && number(parts.next()) && parts.next().is_none()
}

/// Returns the number of projects that PSPLIB has in a set.
pub(super) fn size(set: &str) -> Option<usize> {
    let (sets, name) = match set.strip_suffix(" mm") {
        Some(name) => (&MULTI[..], name),
        None => (&SINGLE[..], set),
    };
    sets.iter().find(|(known, _)| *known == name).map(|&(_, size)| size)
}

impl Id {
    fn of(name: &str, multi: bool) -> Self {
        let lower = name.trim().to_ascii_lowercase();
        let plain = lower.strip_prefix("mm_");
        let multi = multi || plain.is_some();
        let plain = plain.unwrap_or(&lower);
        // The last underscore is before the project number. File names have no other underscores.
        let name = match plain.rsplit_once('_') {
            Some((group, number)) => format!("{}_{number}", group.replace('_', "")),
            None => plain.to_owned(),
        };
        Self { multi, name }
    }
}

impl KnownValues {
    /// Reads a table. The header must contain the columns `instance` and `best_known_makespan`. The column
    /// `best_known_lower_bound` is optional. An empty cell or a negative number means that the value is unknown.
    pub fn read(path: &Path) -> Result<Self, LabError> {
        let wrong = |reason: String| LabError::Option {
            name: "best",
            value: format!("{}: {reason}", path.display()),
            expected: "give a CSV file with the columns instance and best_known_makespan",
        };
        let mut reader = csv::Reader::from_path(path).map_err(|error| wrong(error.to_string()))?;
        let header = reader.headers().map_err(|error| wrong(error.to_string()))?.clone();
        let column = |name: &str| header.iter().position(|column| column.trim() == name);
        let missing = |name: &str| wrong(format!("it has no column `{name}`"));
        let instance = column("instance").ok_or_else(|| missing("instance"))?;
        let makespan = column("best_known_makespan").ok_or_else(|| missing("best_known_makespan"))?;
        let bound = column("best_known_lower_bound");
        let mut values = BTreeMap::new();
        for record in reader.records() {
            let record = record.map_err(|error| wrong(error.to_string()))?;
            let text = |at: usize| record.get(at).unwrap_or_default().trim();
            let number = |at: usize| match text(at) {
                "" => Ok(None),
                text => text.parse::<i64>().map(|value| (value >= 0).then_some(value)),
            };
            let read = |at: usize| {
                number(at).map_err(|_| wrong(format!("`{}` of {} is not a whole number", text(at), text(instance))))
            };
            let bound = bound.map_or(Ok(None), read)?;
            if let Some(makespan) = read(makespan)? {
                values.insert(Id::of(text(instance), false), BestKnown { bound, makespan });
            }
        }
        Ok(Self(values))
    }

    /// Removes false values: makespans that are below the bound in the same row of the table, or below a bound that a
    /// run has proved. Returns the remaining values, and a sentence about each removed makespan.
    pub fn checked(mut self, runs: &[Run]) -> (Self, Vec<String>) {
        let mut refuted = Vec::new();
        for run in runs {
            let name = &run.facts.name;
            let id = Id::of(name, run.facts.set.ends_with(" mm"));
            let Some(&BestKnown { bound, makespan }) = self.0.get(&id) else { continue };
            let proved = run.bound();
            let why = match bound {
                Some(bound) if bound > makespan => format!("the bound in its row is {bound}"),
                _ if proved > ticks(makespan) => {
                    format!("{} is proved", (proved as f64 / Time::TICKS_PER_SECOND as f64).ceil())
                }
                _ => continue,
            };
            refuted.push(format!("{name} cannot end by {makespan}: {why}"));
            self.0.remove(&id);
        }
        (self, refuted)
    }

    /// Returns the best known values of a project. `set` and `name` identify the project.
    pub fn of(&self, set: &str, name: &str) -> Option<BestKnown> {
        self.0.get(&Id::of(name, set.ends_with(" mm"))).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Project;
    use super::*;
    use crate::campaign::MeasuredPlan;

    #[test]
    fn one_project_has_many_spellings() {
        for (name, multi, set) in [
            ("j30_1_2", false, Some("j30")),
            ("j301_2", false, Some("j30")),
            ("J12060_10", false, Some("j120")),
            ("j120_60_10", false, Some("j120")),
            ("mm_j20_7_3", false, Some("j20 mm")),
            ("j207_3", true, Some("j20 mm")),
            ("j3010_1", true, Some("j30 mm")),
            ("j3010_1", false, Some("j30")),
            ("patterson7", false, None),
            ("j30", false, None),
        ] {
            assert_eq!(set_of(name, multi).as_deref(), set, "{name}");
        }
        assert_eq!(Id::of("mm_j20_7_3", false), Id::of("j207_3", true));
        assert_ne!(Id::of("j3010_1", true), Id::of("j30_10_1", false));
        assert_eq!((size("j120"), size("j20 mm"), size("mine")), (Some(600), Some(554), None));
    }

    #[test]
    fn makespans_that_are_refuted_are_not_known() {
        let known = |bound, makespan| BestKnown { bound, makespan };
        let table = [("j30_1_1", known(Some(40), 43)), ("j30_1_2", known(Some(48), 47)), ("j30_1_3", known(None, 45))];
        let table = KnownValues(table.into_iter().map(|(name, known)| (Id::of(name, false), known)).collect());
        let run = |name: &str, proved: i64| {
            let plan = MeasuredPlan { value: Some(ticks(99)), bound: ticks(proved), seconds: 1.0 };
            let facts = Project { set: "j30".into(), name: name.into(), critical_path: ticks(10) };
            Run { key: 0, seed: 1, facts, outcomes: vec![("optimise".into(), plan)] }
        };
        let runs = [run("j301_1", 43), run("j301_2", 40), run("j301_3", 46)];
        let (checked, refuted) = table.checked(&runs);
        assert_eq!(checked.of("j30", "j301_1"), Some(known(Some(40), 43)));
        assert_eq!((checked.of("j30", "j301_2"), checked.of("j30", "j301_3")), (None, None));
        assert_eq!(
            refuted,
            ["j301_2 cannot end by 47: the bound in its row is 48", "j301_3 cannot end by 45: 46 is proved"]
        );
    }

    #[test]
    fn tables_are_read_and_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("best.csv");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            KnownValues::read(&path)
        };
        let header = "instance,critical_path,best_known_lower_bound,best_known_makespan\n";
        let values = read(&format!("{header}j30_1_2,42,47,47\nmm_j30_1_2,,,31\nj30_1_3,40,-1,-1\n")).unwrap();
        assert_eq!(values.of("j30", "j301_2"), Some(BestKnown { bound: Some(47), makespan: 47 }));
        assert_eq!(values.of("j30 mm", "j301_2"), Some(BestKnown { bound: None, makespan: 31 }));
        assert_eq!(values.of("j30", "j301_3"), None);
        for (text, part) in [("a,b\n1,2\n", "instance"), (&format!("{header}j30_1_1,,,many\n"), "`many` of j30_1_1")] {
            assert!(read(text).unwrap_err().to_string().contains(part));
        }
    }
}
