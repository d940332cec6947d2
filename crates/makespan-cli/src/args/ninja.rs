//! The options of the job of an edge of ninja.

use std::path::PathBuf;

use clap::Args;

/// Options of `ninja-job`. The bindings of the edge have the names that they have in ninja.
#[derive(Args)]
pub struct NinjaJobOptions {
    /// Absolute path of the manifest; the command runs in its folder
    #[arg(long)]
    pub manifest: PathBuf,
    /// Folder that contains the logs of ninja
    #[arg(long)]
    pub logs: PathBuf,
    /// Version of the log of finished commands
    #[arg(long)]
    pub log_version: u32,
    #[arg(long, required = true, allow_hyphen_values = true)]
    pub output: Vec<String>,
    #[arg(long, allow_hyphen_values = true)]
    pub depfile: Option<String>,
    /// Store the dependencies that the depfile lists in the log of dependencies
    #[arg(long)]
    pub deps: bool,
    #[arg(long)]
    pub restat: bool,
    #[arg(long)]
    pub generator: bool,
    #[arg(long, allow_hyphen_values = true)]
    pub rspfile: Option<String>,
    /// Part of the content of the response file
    #[arg(long, allow_hyphen_values = true)]
    pub rspfile_content: Vec<String>,
    /// Shell command of the edge
    #[arg(last = true, required = true)]
    pub command: String,
}
