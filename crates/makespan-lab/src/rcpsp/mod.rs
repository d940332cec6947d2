//! Projects: the instances of PSPLIB beside what is known of them, or drawn ones beside their own bounds.
//!
//! Source: R. Kolisch, A. Sprecher, "PSPLIB - A project scheduling problem library", EJOR 96, 1997,
//! DOI 10.1016/S0377-2217(96)00170-1. Its files are not part of this program: `--instances` names their folder, and `--best` a table of
//! the best known makespans. Without files, projects are drawn over the grid of its parameters. The measurement of record has all
//! files of j30, j60, j120 and of the multi-mode sets j20 and j30, 1 s and 10 s, two searches, one project at a time.

mod claims;
mod figures;
mod files;
mod known;
mod options;
mod outcome;
mod points;
mod report;
mod run;
mod tables;

pub use files::{File, Source};
pub use known::{Known, KnownValues};
pub use options::{ALGORITHMS, Options};
pub use outcome::{Outcome, Run};
pub use points::Point;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use crate::LabError;
use crate::campaign::{Campaign, Report, positive, refuse};

/// Writes `results.csv`, `summary.csv` and a figure for each set.
impl Campaign for Options {
    const NAME: &'static str = "rcpsp";
    const PAPER: &'static str = "Kolisch, Sprecher: PSPLIB (EJOR 1997), projects with scarce resources in one mode and in several, beside \
                                 the best known makespans";
    const UNIT: &'static str = "projects";
    const MEASURES_TIME: bool = true;
    type Key = u32;
    type Run = Run;
    type Points = Vec<Point>;

    fn check(&self) -> Result<(), LabError> {
        if let Some(folder) = self.instances.as_ref().filter(|folder| !folder.is_dir()) {
            refuse("instances", folder.display().to_string(), "name a folder with files of PSPLIB: .sm, .mm or .rcp")?;
        }
        if self.best.is_some() && self.instances.is_none() {
            refuse("best", "without --instances", "name the folder of the projects that the table speaks of")?;
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
            refuse("instances", "no project", "name a folder that has files .sm, .mm or .rcp, itself or in folders")?;
        }
        // A broken file is told before hours are spent on the others.
        let mut read = self.files().iter().filter(|file| matches!(file.source, Source::File(_)));
        read.try_for_each(|file| file.instance().map(drop))
    }

    fn version(&self) -> String {
        let mut names = DefaultHasher::new();
        self.files().iter().for_each(|file| file.to_string().hash(&mut names));
        let (count, names) = (self.files().len(), names.finish());
        format!("seed {}; {}; {}; {count} projects {names:016x}", self.seed, self.search, self.projects)
    }

    fn threads(&self) -> Option<usize> {
        Some(self.search.at_once)
    }

    fn processors(&self) -> usize {
        self.search.searches
    }

    fn keys(&self) -> Vec<u32> {
        (0..self.files().len() as u32).collect()
    }

    fn key(run: &Run) -> u32 {
        run.at
    }

    fn measure(&self, at: u32) -> Result<Run, LabError> {
        run::measure(self, at)
    }

    fn report(&self, runs: &[Run]) -> Result<Report<Vec<Point>>, LabError> {
        let (known, refuted) = self.known()?.checked(runs);
        let points = points::points(&self.algorithms(), runs, &known);
        let claims = claims::all(self, &points);
        let mut files = figures::all(self, runs, &known)?;
        files.extend([tables::results(runs, &known), tables::summary(&points)]);
        Ok(Report { text: report::text(self, runs, &points, &refuted), claims, points, files })
    }
}

#[cfg(test)]
mod tests;
