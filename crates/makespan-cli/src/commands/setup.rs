//! The commands `setup` and `completions` of the programs `makespan` and `makespan-lab`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use makespan_history::data_folder;
use miette::{Result, miette};

use crate::args::SetupOptions;
use crate::output::{emit, table, write_file};

/// Shells that load completions from a folder below the user's data folder. Each entry contains the shell, the folder,
/// and the prefix and suffix of the file name. The program name stands between the prefix and the suffix.
const SHELLS: [(Shell, &str, &str, &str); 3] = [
    (Shell::Bash, "bash-completion/completions", "", ""),
    (Shell::Fish, "fish/vendor_completions.d", "", ".fish"),
    (Shell::Zsh, "zsh/site-functions", "_", ""),
];

const MANUAL: &str = "man/man1";

/// The files of one kind to install, such as manual pages.
struct Part {
    what: &'static str,
    folder: PathBuf,
    /// Names and contents of the files.
    files: Vec<(String, Vec<u8>)>,
}

/// Prints the completions of a program for a shell.
pub fn completions(program: &Command, shell: Shell) -> Result<ExitCode> {
    emit(&String::from_utf8_lossy(&completion(program, shell)))?;
    Ok(ExitCode::SUCCESS)
}

/// Installs or removes the manual pages and completions of a program.
pub fn setup(program: &Command, options: &SetupOptions) -> Result<ExitCode> {
    let share = match &options.prefix {
        Some(prefix) => {
            std::path::absolute(prefix).map_err(|error| miette!("{}: {error}", prefix.display()))?.join("share")
        }
        None => data_folder().ok_or_else(|| miette!("this user has no home folder; name a folder: --prefix FOLDER"))?,
    };
    let mut rows = Vec::new();
    let name = program.get_name().to_owned();
    for Part { what, folder, files } in parts(program, &share)? {
        let mut count = 0;
        for (name, content) in files {
            let path = folder.join(name);
            count += u32::from(if options.remove { remove(&path) } else { write(&path, &content) }?);
        }
        rows.push(vec![what.to_owned(), count.to_string(), folder.display().to_string()]);
    }
    let done = if options.remove { "removed" } else { "written" };
    let rows = table(&[done, "files", ""], 1, rows);
    let advice = if options.remove { String::new() } else { advice(&name, &share) };
    emit(&(rows + &advice))?;
    Ok(ExitCode::SUCCESS)
}

fn parts(program: &Command, share: &Path) -> Result<Vec<Part>> {
    let pages = manual(program)?;
    let mut parts = vec![Part { what: "manual pages", folder: share.join(MANUAL), files: pages }];
    for (shell, folder, begin, end) in SHELLS {
        let what = match shell {
            Shell::Bash => "bash completions",
            Shell::Fish => "fish completions",
            _ => "zsh completions",
        };
        let name = format!("{begin}{}{end}", program.get_name());
        parts.push(Part { what, folder: share.join(folder), files: vec![(name, completion(program, shell))] });
    }
    Ok(parts)
}

/// Returns advice on the settings with which the shells and `man` find the installed files.
fn advice(program: &str, share: &Path) -> String {
    let zsh = share.join(SHELLS[2].1);
    format!(
        "\nbash and fish find their completions; zsh needs this line in ~/.zshrc, before `compinit`:\n    fpath+=({})\n\
         `man {program}` finds the pages if {} is on the PATH; otherwise:\n    man -M {} {program}\n",
        zsh.display(),
        share.with_file_name("bin").display(),
        share.join("man").display()
    )
}

fn completion(program: &Command, shell: Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut program.clone(), program.get_name(), &mut text);
    text
}

/// Returns the names and contents of manual pages: one page for the program, and one for each command that is not
/// hidden.
fn manual(program: &Command) -> Result<Vec<(String, Vec<u8>)>> {
    let mut program = program.clone().disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    let mut open = vec![program];
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().filter(|command| !command.is_hide_set()).cloned());
        let source = format!("makespan {}", env!("CARGO_PKG_VERSION"));
        let page = Man::new(command).source(source).manual("Makespan");
        let mut text = Vec::new();
        page.render(&mut text).map_err(|error| miette!("cannot write a manual page: {error}"))?;
        pages.push((page.get_filename(), text));
    }
    pages.sort();
    Ok(pages)
}

/// Writes a file. Returns true.
fn write(path: &Path, content: &[u8]) -> Result<bool> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| {
            miette!(
                "{}: cannot make the folder: {error}; name a folder that you may write: --prefix FOLDER",
                folder.display()
            )
        })?;
    }
    write_file(path, |out| out.write_all(content)).map(|()| true)
}

/// Removes a file. Returns false if the file did not exist.
fn remove(path: &Path) -> Result<bool> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true).map_err(|error| miette!("{}: cannot remove: {error}", path.display())),
    }
}
