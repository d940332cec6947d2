//! The file that states how work is split into shards. Every shard reads the file.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use miette::{Result, miette};
use serde_json::{Value, json};

use super::{SHARDS, ShardWork};
use crate::output::{shown, write_file};

/// Name of the file, in the folder of the shards.
const FILE: &str = "plan.json";

/// Version of the file format.
const VERSION: u64 = 1;

/// Description of work that is split into shards.
pub struct ShardPlan {
    /// Number of shards.
    pub shards: usize,
    /// All inputs that determine the results, as a text.
    identity: String,
    /// Folder in which the user started the command.
    pub directory: PathBuf,
    /// Command line of the user, without the program.
    pub words: Vec<String>,
}

impl ShardPlan {
    /// Creates the plan from the command line of this process.
    pub fn new(work: &ShardWork<'_>, shards: usize) -> Result<Self> {
        let directory = std::env::current_dir().map_err(|error| miette!("cannot find the current folder: {error}"))?;
        let words = std::env::args_os().skip(1).map(|word| word.into_string().map_err(drop)).collect();
        let words: Result<Vec<String>, ()> = words;
        let words = words.map_err(|()| miette!("an argument is not UTF-8; rename the file"))?;
        Ok(Self { shards, identity: work.identity.clone(), directory, words })
    }

    /// Writes the file completely or not at all.
    pub fn write(self, folder: &Path) -> Result<Self> {
        let directory = self.directory.to_str().ok_or_else(|| {
            miette!("{}: the name of the current folder is not UTF-8; rename it", self.directory.display())
        })?;
        let file = json!({
            "version": VERSION,
            "shards": self.shards,
            "directory": directory,
            "words": self.words,
            "identity": self.identity,
        });
        write_file(&folder.join(SHARDS).join(FILE), |out| writeln!(out, "{file:#}"))?;
        Ok(self)
    }

    /// Reads the plan in a folder, if there is one.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(SHARDS).join(FILE);
        let name = path.display().to_string();
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| miette!("{}: {error}", shown(&name)))?,
        };
        let known = || {
            let file: Value = serde_json::from_slice(&bytes).ok()?;
            let text = |name: &str| file[name].as_str().map(str::to_owned);
            let words = file["words"].as_array()?.iter().map(|word| word.as_str().map(str::to_owned));
            let shards = usize::try_from(file["shards"].as_u64()?).ok().filter(|&shards| shards > 0)?;
            (file["version"].as_u64()? == VERSION).then_some(())?;
            let (identity, directory) = (text("identity")?, text("directory")?.into());
            Some(Self { shards, identity, directory, words: words.collect::<Option<_>>()? })
        };
        let unknown =
            || miette!("{}: this file is not a shard plan of this version of makespan; remove it", shown(&name));
        known().ok_or_else(unknown).map(Some)
    }

    /// Returns this plan if it describes `work`. Returns an error for other work, another build of the program, or
    /// another number of shards.
    pub fn checked(self, work: &ShardWork<'_>, shards: Option<u32>) -> Result<Self> {
        let folder = shown(&work.folder.display().to_string()).into_owned();
        if self.identity != work.identity {
            return Err(miette!(
                "{folder} contains shards of another command or another build of the program: `{}`; choose another \
                 folder with {}",
                shown(&self.words.join(" ")),
                work.option
            ));
        }
        match shards.filter(|&shards| shards as usize != self.shards && work.parts >= shards as usize) {
            Some(_) => Err(miette!(
                "{folder} already contains {} shards; remove --shards, or choose another folder with {}",
                self.shards,
                work.option
            )),
            None => Ok(self),
        }
    }

    /// Returns an error if the program or the input files on this node are not those with which the work began.
    pub fn is_of(&self, identity: &str, folder: &Path) -> Result<()> {
        if self.identity == identity {
            return Ok(());
        }
        Err(miette!(
            "{}: the program or the files on this node differ from those at the start of the work; all nodes must have the same program and files",
            shown(&folder.display().to_string())
        ))
    }
}
