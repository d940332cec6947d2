//! Projects, which come from files or from the generator.

use std::fmt;
use std::path::{Path, PathBuf};

use makespan_core::Instance;
use makespan_formats::{ReadOptions, read_instance};
use makespan_generate::{ProjectOptions, project};

use super::known;
use crate::LabError;

/// A project of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// The set of PSPLIB to which the project belongs, as its name shows. If the name is not a name of PSPLIB, the name
    /// of the folder.
    pub set: String,
    /// The name of the project.
    pub name: String,
    /// The source of the project.
    pub source: Source,
}

/// The source of a project.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A file in a format of PSPLIB.
    File(PathBuf),
    /// The options for the generator.
    Drawn(ProjectOptions),
}

impl File {
    /// Returns all files of a folder and its subfolders, sorted by set and name.
    pub(super) fn all(folder: &Path) -> Vec<Self> {
        let mut found = Vec::new();
        collect(folder, &mut found);
        let number = |name: &str| -> Vec<u64> {
            name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
        };
        found.sort_by_cached_key(|file| (number(&file.set), file.set.clone(), number(&file.name), file.name.clone()));
        found
    }

    /// Generates `projects` random projects for each set, with combinations of PSPLIB's parameters.
    pub(super) fn drawn(projects: u32, seed: u64) -> Vec<Self> {
        const SETS: [(&str, usize, usize); 5] = [
            ("drawn 30", 30, 1),
            ("drawn 60", 60, 1),
            ("drawn 120", 120, 1),
            ("drawn 20 mm", 20, 3),
            ("drawn 30 mm", 30, 3),
        ];
        let complexities = [1.5, 1.8, 2.1];
        let factors = [0.25, 0.5, 0.75, 1.0];
        let mut drawn = Vec::new();
        for (set, activities, modes) in SETS {
            // Use scarcer resources for larger projects, as PSPLIB does.
            let strengths = if activities > 60 { [0.1, 0.2, 0.3, 0.4] } else { [0.2, 0.5, 0.7, 1.0] };
            for number in 0..projects as usize {
                // For each project, use the next value of both lists. The lengths of the lists (3 and 4) have no common
                // divisor, so the first 12 projects have different combinations.
                let options = ProjectOptions {
                    activities,
                    modes,
                    renewable: if modes == 1 { 4 } else { 2 },
                    nonrenewable: if modes == 1 { 0 } else { 2 },
                    complexity: complexities[number % 3],
                    factor: factors[number % 4],
                    strength: strengths[number / 12 % 4],
                    seed: crate::campaign::stirred(seed, [activities as u64, modes as u64, number as u64]),
                };
                let name = format!("{set} {}", number + 1).replace(' ', "-");
                drawn.push(Self { set: set.to_owned(), name, source: Source::Drawn(options) });
            }
        }
        drawn
    }

    /// Reads the file, or generates the random project.
    pub(super) fn instance(&self) -> Result<Instance, LabError> {
        match &self.source {
            Source::File(path) => Ok(read_instance(path, &ReadOptions::default())?.instance),
            Source::Drawn(options) => Ok(project(options)?),
        }
    }
}

fn collect(folder: &Path, found: &mut Vec<File>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, found);
            continue;
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if ["sm", "mm", "rcp"].contains(&ending.as_str()) {
            let own = folder.file_name().map_or_else(|| "projects".into(), |name| name.to_string_lossy().into_owned());
            let set = known::set_of(&stem, ending == "mm").unwrap_or(own);
            found.push(File { set, name: stem, source: Source::File(path) });
        }
    }
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.set, self.name))
    }
}
