//! What to run.

use std::path::PathBuf;
use std::sync::OnceLock;

use clap::Args;

use super::{File, KnownValues};
use crate::LabError;
use crate::campaign::Search;

/// The algorithms beside `optimise`, each as the catalogue names it.
pub const ALGORITHMS: [&str; 9] = [
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

/// A campaign.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Folder of PSPLIB's files (.sm, .mm, .rcp), itself or in folders; without it projects are drawn
    #[arg(long, value_name = "DIR")]
    pub instances: Option<PathBuf>,
    /// CSV file of the best known values, with the columns `instance` and `best_known_makespan`
    #[arg(long, value_name = "FILE")]
    pub best: Option<PathBuf>,
    /// Projects of each set that are drawn without --instances
    #[arg(long, default_value_t = 48, value_name = "N")]
    pub projects: u32,
    /// Only these sets, such as `j120` or `j20 mm` [default: all that are there]
    #[arg(long, value_delimiter = ',', value_name = "SET,..")]
    pub sets: Option<Vec<String>>,
    /// How long the optimiser searches.
    #[command(flatten)]
    pub search: Search,
    /// The same seed gives the same projects
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// What was found in the folder.
    #[arg(skip)]
    pub(super) found: OnceLock<Vec<File>>,
}

impl Options {
    /// Every algorithm: those of the literature, then `optimise` with each limit.
    pub fn algorithms(&self) -> Vec<String> {
        ALGORITHMS.into_iter().map(str::to_owned).chain(self.search.specs()).collect()
    }

    /// The projects, set by set.
    pub fn files(&self) -> &[File] {
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

    /// What is known of them.
    pub(super) fn known(&self) -> Result<KnownValues, LabError> {
        self.best.as_deref().map_or_else(|| Ok(KnownValues::default()), KnownValues::read)
    }
}
