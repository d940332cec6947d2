//! Projects with scarce resources. Plans of PSPLIB's projects are compared with the best known values. Plans of random
//! projects are compared with their verified bounds.
//!
//! Source: R. Kolisch, A. Sprecher, "PSPLIB - A project scheduling problem library", EJOR 96, 1997, DOI
//! 10.1016/S0377-2217(96)00170-1. The files of PSPLIB are not part of this program. `--instances` names the folder of
//! the files, and `--best` names a table of the best known makespans. Without files, the campaign generates random
//! projects with combinations of PSPLIB's parameters. The reference measurement uses all files of j30, j60 and j120,
//! and of the multi-mode sets j20 and j30. `optimise` has two searches, and time limits of 1 s and 10 s. One project is
//! planned at a time.

mod claims;
mod files;
mod known;
mod page;
mod report;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::Args;
use makespan_core::Objective;
use makespan_verify::proof::Paths;
use makespan_verify::{Bound, Proof};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::{
    self, Campaign, CampaignReport, MeasuredPlan, SearchOptions, failed, plans, positive, refuse, verified,
};
pub use page::{BoundsOptions, CheckedPage};

use files::{File, Source};
use known::KnownValues;

/// The algorithms compared with `optimise`, by their names in the catalogue.
const ALGORITHMS: [&str; 9] = [
    "priority[rule=lft]",
    "priority[rule=lft,scheme=parallel]",
    "priority[rule=mts]",
    "priority[rule=mts,scheme=parallel]",
    "priority[rule=grpw]",
    "priority[rule=grpw,scheme=parallel]",
    "priority[rule=wcs,scheme=parallel]",
    "list[order=shelf]",
    "sweep[steps=0]",
];

/// The options of the campaign.
#[derive(Args, Clone, Debug)]
pub struct RcpspOptions {
    /// Folder of PSPLIB's files (.sm, .mm, .rcp), which may be in subfolders; without this option projects are drawn
    #[arg(long, value_name = "DIR")]
    pub instances: Option<PathBuf>,
    /// CSV file of the best known values, with the columns `instance` and `best_known_makespan`
    #[arg(long, value_name = "FILE")]
    pub best: Option<PathBuf>,
    /// Number of projects drawn for each set without --instances
    #[arg(long, default_value_t = 48, value_name = "N")]
    pub projects: u32,
    /// Only these sets, such as `j120` or `j20 mm` [default: all available sets]
    #[arg(long, value_delimiter = ',', value_name = "SET,..")]
    pub sets: Option<Vec<String>>,
    /// The limits of the optimiser.
    #[command(flatten)]
    pub search: SearchOptions,
    /// The same seed gives the same projects
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The projects: the files in the folder, or random projects.
    #[arg(skip)]
    found: OnceLock<Vec<File>>,
}

impl RcpspOptions {
    fn algorithms(&self) -> Vec<String> {
        ALGORITHMS.into_iter().map(str::to_owned).chain(self.search.specs()).collect()
    }

    /// Returns the projects, set by set.
    fn files(&self) -> &[File] {
        self.found.get_or_init(|| {
            let mut files = match &self.instances {
                Some(folder) => File::all(folder),
                None => File::drawn(self.projects, self.seed),
            };
            if let Some(sets) = &self.sets {
                files.retain(|file| sets.contains(&file.set));
            }
            files
        })
    }

    /// Returns the best known values of the projects.
    fn known(&self) -> Result<KnownValues, LabError> {
        self.best.as_deref().map_or_else(|| Ok(KnownValues::default()), KnownValues::read)
    }
}

/// Facts about a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Project {
    pub set: String,
    pub name: String,
    /// The length of the longest path of activities in ticks, with the shortest mode of each activity.
    pub critical_path: i128,
}

/// A run. Its key is the position of the project in [`RcpspOptions::files`].
type Run = campaign::GridRun<u32, Project, MeasuredPlan>;

/// Writes `results.csv`, `summary.csv` and a figure for each set.
impl Campaign for RcpspOptions {
    const NAME: &'static str = "rcpsp";
    const PAPER: &'static str = "Kolisch, Sprecher: PSPLIB (EJOR 1997), projects with scarce resources in one mode and in several, \
                                 compared with the best known makespans";
    const UNIT: &'static str = "projects";
    const MEASURES_TIME: bool = true;
    type Run = Run;

    fn check(&self) -> Result<(), LabError> {
        if let Some(folder) = self.instances.as_ref().filter(|folder| !folder.is_dir()) {
            refuse("instances", folder.display().to_string(), "name a folder with files of PSPLIB: .sm, .mm or .rcp")?;
        }
        if self.best.is_some() && self.instances.is_none() {
            refuse("best", "without --instances", "name the folder of the projects in the table")?;
        }
        self.search.check()?;
        positive(&[("projects", self.projects as usize)])?;
        self.known()?;
        if let Some(sets) = self.sets.as_ref().filter(|_| self.files().is_empty()) {
            let all = Self { sets: None, found: OnceLock::new(), ..self.clone() };
            let mut there: Vec<&str> = all.files().iter().map(|file| file.set.as_str()).collect();
            there.dedup();
            if !there.is_empty() {
                return Err(LabError::NoSuchSet { sets: sets.join(","), there: there.join(", ") });
            }
        }
        if self.files().is_empty() {
            refuse(
                "instances",
                "a folder without projects",
                "name a folder that contains files .sm, .mm or .rcp, possibly in subfolders",
            )?;
        }
        // Read all files first. So if a file is broken, the campaign reports it now, and not after hours of planning
        // other projects.
        let mut read = self.files().iter().filter(|file| matches!(file.source, Source::File(_)));
        read.try_for_each(|file| file.instance().map(drop))
    }

    fn version(&self) -> String {
        let mut names = DefaultHasher::new();
        self.files().iter().for_each(|file| file.to_string().hash(&mut names));
        let (count, names) = (self.files().len(), names.finish());
        format!("seed {}; {}; {}; {count} projects {names:016x}", self.seed, self.search, self.projects)
    }

    fn search(&self) -> Option<&SearchOptions> {
        Some(&self.search)
    }

    fn keys(&self) -> Vec<u32> {
        (0..self.files().len() as u32).collect()
    }

    fn measure(&self, at: u32) -> Result<Run, LabError> {
        let file = &self.files()[at as usize];
        let instance = file.instance()?;
        let outcomes = plans(&instance, self.algorithms(), self.seed, file)?;
        let path = Bound::proved_by(Objective::Makespan, Proof::Paths(Paths::default()), &instance);
        let path = path.map_err(|error| failed("the longest path", file, error.to_string()))?;
        let critical_path = verified(&path, &instance, file)?;
        let facts = Project { set: file.set.clone(), name: file.name.clone(), critical_path };
        Ok(Run { key: at, seed: self.seed, facts, outcomes })
    }

    fn report(&self, runs: &[Run]) -> Result<CampaignReport, LabError> {
        let (known, refuted) = self.known()?.checked(runs);
        let points = report::points(runs, &known);
        let mut files = report::figures(self, runs, &known)?;
        files.extend([report::results(runs, &known), report::summary(&points)]);
        Ok(CampaignReport {
            text: report::text(self, runs, &points, &refuted),
            claims: claims::all(self, &points),
            files,
        })
    }
}

#[cfg(test)]
mod tests;
