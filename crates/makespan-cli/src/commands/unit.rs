//! `makespan serve --unit`

use std::path::Path;
use std::process::ExitCode;

use miette::{Result, miette};
use nix::unistd::{User, getuid};

use crate::output::emit;

/// Prints a unit for systemd that starts this program with the same options, in this folder and as this user.
pub fn print(store: &Path) -> Result<ExitCode> {
    let program =
        std::env::current_exe().map_err(|error| miette!("cannot find the path of the program makespan: {error}"))?;
    let folder = std::env::current_dir().map_err(|error| miette!("cannot find this folder: {error}"))?;
    let store = std::path::absolute(store).map_err(|error| miette!("{}: {error}", store.display()))?;
    let user = User::from_uid(getuid()).ok().flatten().map_or_else(|| getuid().to_string(), |user| user.name);
    let mut words: Vec<String> = vec![program.display().to_string()];
    words.extend(std::env::args().skip(1).filter(|word| word != "--unit"));
    // The environment of the service may select another store.
    if !words.iter().any(|word| word == "--store" || word.starts_with("--store=")) {
        words.extend(["--store".to_owned(), store.display().to_string()]);
    }
    emit(&unit(&words, &folder.display().to_string(), &user))?;
    Ok(ExitCode::SUCCESS)
}

fn unit(words: &[String], folder: &str, user: &str) -> String {
    let command: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!(
        "[Unit]
Description=Makespan, a service that runs jobs
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
User={user}
WorkingDirectory={}
ExecStart={}
# Running jobs continue when the service stops, and the next service takes them over.
KillMode=process
OOMPolicy=continue
Restart=on-failure
RestartSec=5

[Install]
WantedBy=multi-user.target
",
        folder.replace('%', "%%"),
        command.join(" ")
    )
}

/// Quotes a word for the command line of a unit. In quotes, systemd replaces backslashes, and in the whole line, it
/// replaces `$` and `%`.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let mut text = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '$' | '%' => text.extend([c, c]),
            '\n' => text.push_str("\\n"),
            c => text.push(c),
        }
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_systemd_reads_them() {
        for (word, text) in [
            ("serve", "serve"),
            ("a b", "\"a b\""),
            ("100%$HOME", "\"100%%$$HOME\""),
            ("say \"\\\"", "\"say \\\"\\\\\\\"\""),
            ("", "\"\""),
        ] {
            assert_eq!(quoted(word), text);
        }
        let unit = unit(&["/bin/makespan".into(), "serve".into()], "/data/50%", "ann");
        assert!(unit.contains("\nUser=ann\nWorkingDirectory=/data/50%%\nExecStart=/bin/makespan serve\n"), "{unit}");
    }
}
