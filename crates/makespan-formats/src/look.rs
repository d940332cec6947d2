//! Guesses the kind of a text that no format recognises: a list of commands, TOML, or an unsupported kind.

use crate::format::Format;
use crate::list::shell_of;
use crate::wanted::Lists;

/// File extensions of texts that are never lists of commands, with the kind of the text.
const OTHERS: [(&str, &str); 6] = [
    ("yaml", "YAML"),
    ("yml", "YAML"),
    ("csv", CSV),
    ("tsv", "a table with tabs"),
    ("md", "Markdown"),
    ("html", "HTML"),
];

/// Name of the kind "CSV". A text of this kind is read as a list of commands only if the user states that it is a
/// list.
const CSV: &str = "CSV";
const SCRIPT: &str = "a script (it begins with `#!`; `makespan run -- ./FILE` runs it as one job)";

/// Error message for a file that is the output of a Slurm command.
pub(crate) const SLURM: &str = "this is output of Slurm, not a list of commands; use the output of `sacct -a -X \
                                --parsable2` with its header, or a folder with saved outputs of the cluster \
                                (`makespan queue --from FOLDER`)";

/// Maximum number of bytes that are examined at the beginning of each line.
const LOOKED: usize = 4096;

/// Returns the format of a text that `Format::of` does not recognise: a list of commands or TOML. The first lines and
/// the file extension decide.
///
/// # Errors
/// An error message if the text is neither. The message states the probable kind of the text and the remedy.
pub(crate) fn list_or_toml(text: &[u8], ending: Option<&str>, lists: Lists) -> Result<Format, String> {
    let lines = first_lines(text);
    let first = lines.first().map_or("", String::as_str);
    if text.iter().take(LOOKED).any(|&byte| byte == 0 || (byte < 0x20 && !byte.is_ascii_whitespace() && byte != 0x1b)) {
        return Err(format!("the file is binary data, not text; use {}", lists.readable()));
    }
    if let Some((_, what)) = OTHERS.iter().find(|(other, _)| Some(*other) == ending) {
        return Err(not_read(what, lists));
    }
    if is_toml(first) {
        return Ok(Format::Toml);
    }
    if first.split('\t').any(|name| name == "realtime") {
        return Err("this is a trace of Nextflow, which needs its graph in DOT; write: makespan plan FILE.dot \
                    --nextflow-trace TRACE"
            .into());
    }
    if is_slurm(first) {
        return Err(SLURM.into());
    }
    if let Some(what) = other(text, &lines, ending) {
        let is_likely = lists == Lists::Detected && (what == CSV || what == SCRIPT);
        // If the file is a script, a list of all formats does not help the user.
        let refused =
            if what == SCRIPT { format!("this is {what}, which is not supported") } else { not_read(what, lists) };
        let remedy =
            if is_likely { "; if it is a list of commands, write: makespan run --format list FILE" } else { "" };
        return Err(refused + remedy);
    }
    if lists == Lists::OnlyLogs {
        return Err(format!("the format is unknown; use {}", lists.readable()));
    }
    if lists == Lists::Refused {
        return Err(format!(
            "the format is unknown. `plan` and `run` read lists of commands directly; to make an instance from a list, write: makespan convert \
             --format list FILE list.toml. Other formats: {}",
            lists.readable()
        ));
    }
    if let Some(doubt) = doubt(&lines) {
        return Err(format!(
            "{doubt}, so the file may not be a list of commands, and no command is started; if it is a list, write: \
             makespan run --format list FILE, or makespan convert --format list FILE list.toml"
        ));
    }
    if ending.is_none_or(|ending| Format::List.extensions().contains(&ending)) {
        return Ok(Format::List);
    }
    Err(format!(
        "the format is unknown; use {}. A list of commands has the ending .txt, .list, .sh, .cmds or .jobs, or none; \
         for a list with another ending, add --format list to `run` or `convert`",
        lists.readable()
    ))
}

/// Returns whether a text is the output of Slurm's sdiag. This output begins with a line of `*`.
pub(crate) fn is_statistics_of_slurm(text: &[u8]) -> bool {
    first_lines(text).iter().find(|line| line.bytes().any(|byte| byte != b'*')).is_some_and(|line| is_slurm(line))
}

fn not_read(what: &str, lists: Lists) -> String {
    format!("this is {what}, which is not supported; use {}", lists.readable())
}

/// Returns the first three lines that are neither blank nor comments, or fewer if there are fewer.
fn first_lines(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(&text[..text.len().min(16 * LOOKED)]);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.take(3).map(|line| line.chars().take(LOOKED).collect()).collect()
}

/// Returns whether a line is a table header or a key-value pair of TOML. Shell code differs: assignments have no
/// blanks around `=`, and tests begin with `[ `.
fn is_toml(line: &str) -> bool {
    let name = |text: &str| {
        let text = text.trim().trim_matches(['"', '\'']);
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-. \"'".contains(c))
    };
    if let Some(header) = line.strip_prefix('[') {
        let header = header.strip_prefix('[').unwrap_or(header).split('#').next().unwrap_or_default().trim_end();
        let inner = header.trim_end_matches(']');
        let is_date = inner.starts_with(|c: char| c.is_ascii_digit());
        return inner.len() < header.len() && name(inner) && !inner.starts_with([' ', '-']) && !is_date;
    }
    match line.split_once('=') {
        Some((key, value)) if !key.trim().contains(' ') && name(key) => {
            let apart = key.ends_with(' ') && !key.trim().is_empty();
            let top =
                ["version", "platform", "jobs", "unavailable"].contains(&key.trim()) || key.starts_with("platform.");
            // A line such as `version=2` can be TOML or shell. If a command follows the assignment, the line is read
            // as shell.
            apart || top && !value.trim().contains(' ') || top && value.trim_start().starts_with(['{', '['])
        }
        _ => false,
    }
}

/// Returns whether a line can be the first line that a Slurm command prints. Such a line is a table header with any
/// delimiter, or the first line of a record of scontrol.
fn is_slurm(line: &str) -> bool {
    const RECORDS: [&str; 9] = [
        "JobId=",
        "NodeName=",
        "PartitionName=",
        "ReservationName=",
        "StepId=",
        "LicenseName=",
        "FrontendName=",
        "Configuration data as of",
        "sdiag output at",
    ];
    /// Pairs of column names. The header of each Slurm table contains both names of at least one pair. The first pairs
    /// are from squeue, sprio and sacct, the last pairs from sinfo, sinfo -N, sshare and sreport.
    const HEADERS: [[&str; 2]; 8] = [
        ["jobid", "partition"],
        ["jobid", "state"],
        ["jobid", "user"],
        ["jobid", "jobname"],
        ["jobid", "name"],
        ["partition", "avail"],
        ["nodelist", "state"],
        ["account", "rawshares"],
    ];
    let cells: Vec<String> =
        line.split(|c: char| c.is_whitespace() || "|,;^~%:".contains(c)).map(str::to_lowercase).collect();
    let has = |name: &&str| cells.iter().any(|cell| cell == name);
    RECORDS.iter().any(|start| line.starts_with(start)) || HEADERS.iter().any(|names| names.iter().all(has))
}

/// Returns the probable kind of the text, or `None` if the text may be a list of commands.
fn other(text: &[u8], lines: &[String], ending: Option<&str>) -> Option<&'static str> {
    let first = lines.first().map_or("", String::as_str);
    if text.starts_with(b"#!") && !(states_shell(text) && is_of_list(ending)) {
        return Some(SCRIPT);
    }
    if is_json(text, first) {
        return Some("JSON that is not an instance");
    }
    // `<` alone proves nothing: the command `<a sort` sorts the file `a`.
    if first.starts_with("<?") || first.starts_with("<!") || first.starts_with('<') && first.ends_with('>') {
        return Some("XML or HTML of an unknown kind");
    }
    if is_yaml(first) {
        return Some("YAML");
    }
    if is_csv(lines) {
        return Some(CSV);
    }
    None
}

/// Returns whether the first line of a text names a shell, such as `#!/bin/bash`.
pub fn states_shell(text: &[u8]) -> bool {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    std::str::from_utf8(line).is_ok_and(|line| shell_of(line).is_some())
}

/// Returns whether this file extension denotes a list of commands and not a script. Both can begin with `#!`.
fn is_of_list(ending: Option<&str>) -> bool {
    ending.is_some_and(|ending| ending != "sh" && Format::List.extensions().contains(&ending))
}

/// Returns whether a text is a JSON array, or begins with a key of a JSON object.
fn is_json(text: &[u8], first: &str) -> bool {
    if let Some(inner) = text.strip_prefix(b"[") {
        let inner = inner.trim_ascii_start();
        // `[[ a = b ]]` is a shell test.
        return matches!(inner.first(), None | Some(b'{' | b'"'))
            || inner.starts_with(b"[\"")
            || first.starts_with("[]");
    }
    let key = first.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    key.is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
}

/// Returns whether a line looks like YAML, such as `---`, `key:` or `key: value`. A line with `key:` is not a command,
/// because no name of a command ends with a colon.
fn is_yaml(line: &str) -> bool {
    if line == "---" || line.starts_with("--- ") || line.starts_with("%YAML") || line.starts_with("- ") {
        return true;
    }
    let key = line.split_once(':').filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '));
    // `: a` is a shell command that does nothing.
    key.is_some_and(|(key, _)| !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-\"'".contains(c)))
}

/// Returns whether the lines look like CSV. There must be at least two lines. Each must have the same number of
/// commas, semicolons or tabs. The cells of the first line must be quoted or contain no blanks.
fn is_csv(lines: &[String]) -> bool {
    let Some(first) = lines.first().filter(|_| lines.len() >= 2) else { return false };
    [',', ';', '\t'].iter().any(|&mark| {
        let plain = |cell: &str| !cell.trim().contains(char::is_whitespace) && cell.len() < 64;
        let quoted = |cell: &str| cell.len() > 1 && cell.starts_with('"') && cell.ends_with('"');
        let count = first.matches(mark).count();
        let cells = first.split(mark).all(|cell| plain(cell) || quoted(cell));
        count >= 1 && cells && lines.iter().all(|line| line.matches(mark).count() == count)
    })
}

/// Returns a reason to doubt that the text is a list of commands, or `None` if there is no doubt.
fn doubt(lines: &[String]) -> Option<&'static str> {
    let first = lines.first()?;
    let word = first.split_whitespace().next()?;
    let cell = word.split(['|', ',', ';', '^', '~']).next().unwrap_or_default();
    if cell.starts_with(|c: char| c.is_ascii_digit())
        && !cell.contains(|c: char| c.is_alphabetic() && c != 'T' && c != 'Z')
    {
        return Some("the first line begins with a number");
    }
    if word.starts_with('[') && word[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return Some("the first line begins with a number in brackets");
    }
    let is_title = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_uppercase())
            && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || "_()%/#-".contains(c))
    };
    if first.split_whitespace().count() > 1 && first.split_whitespace().all(is_title) {
        return Some("the first line looks like the header of a table");
    }
    if lines.iter().take(2).any(|line| is_rule(line)) {
        return Some("there is a line of dashes, as in a table");
    }
    let is_pair = |word: &str| {
        let key = word.split_once('=').map(|(key, _)| key);
        key.is_some_and(|key| !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_'))
    };
    if first.split_whitespace().count() > 1 && first.split_whitespace().all(is_pair) {
        return Some("the first line has pairs KEY=VALUE, but no command");
    }
    None
}

/// Returns whether a line consists of dashes, stars or equals signs, like the rule below a table header.
fn is_rule(line: &str) -> bool {
    line.len() >= 3 && line.chars().all(|c| "-=*+_| ".contains(c)) && line.contains(['-', '=', '*', '_'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_what_is_not_read() {
        let look = |text: &str, ending: Option<&str>| list_or_toml(text.as_bytes(), ending, Lists::Detected);
        for list in [
            "echo a\n",
            "# comment\nsleep 1\n",
            "FOO=1 ./x\n",
            "X=2\n",
            "[ -f a ] && b\n",
            "[[ a = b ]] && c\n",
            "if true; then a; fi\n",
            ": nothing\n",
            "R CMD BATCH a.R\n",
            "<a sort\n",
            "a,b c\n",
            "./a;./b\n",
            "7z a b\n",
            "version=2 make\n",
            "#: cores=2\nx = y\n\t b\n",
            "cp a,b c,d\n",
        ] {
            let found = look(list, Some("txt"));
            let expected = if list.contains("x = y") { Format::Toml } else { Format::List };
            assert_eq!(found, Ok(expected), "{list}");
        }
        assert_eq!(look("echo a\n", None), Ok(Format::List));
        for toml in [
            "version = 1\n",
            "[platform]\nprocessors = 3",
            "[[jobs]]\n",
            "[ platform ]\n",
            "vesion = 3",
            "version=2\n",
            "platform.processors=3",
            "platform={processors = 3}",
        ] {
            let found = look(toml, None);
            let expected = if toml.starts_with("[ ") { Format::List } else { Format::Toml };
            assert_eq!(found, Ok(expected), "{toml}");
        }
        for (text, ending, what) in [
            ("jobs:\n - name: a\n", Some("txt"), "YAML"),
            ("---\na: b\n", None, "YAML"),
            ("a b\n", Some("yaml"), "YAML"),
            ("name,time\na,3\n", Some("txt"), "CSV"),
            ("name;time\na;3\n", None, "CSV"),
            ("a b\n", Some("csv"), "CSV"),
            ("#!/bin/sh\nfor i in a; do\n", Some("sh"), "a script"),
            ("words in a book\n", Some("md"), "Markdown"),
            ("words\n", Some("rs"), "the format is unknown"),
            ("a\0b", None, "binary data, not text"),
            ("\"name\",\"time of day\"\n\"a b\",\"3 h\"\n", Some("txt"), "CSV"),
            ("[{\"job_id\": 1}]\n", Some("txt"), "JSON"),
            ("[\n  {\n", None, "JSON"),
            ("  \"jobs\": [\n", None, "JSON"),
            ("<html>\n", Some("txt"), "XML or HTML"),
        ] {
            let error = look(text, ending).unwrap_err();
            assert!(error.contains(what) && error.contains("a list of"), "{text}: {error}");
        }
    }

    /// Checks that tables, such as saved outputs of Slurm commands in all formats, are not read as lists of commands.
    #[test]
    fn tables_are_not_taken_for_commands() {
        for (text, what) in [
            ("             JOBID PARTITION     NAME     USER ST\n", "output of Slurm"),
            ("JOBID|PARTITION|NAME\n", "output of Slurm"),
            ("JobID^JobName^State\n", "output of Slurm"),
            ("JobID,JobName,State\n", "output of Slurm"),
            ("       JobID    JobName  Partition\n------------ ---------- ----------\n", "output of Slurm"),
            ("JobId=7 JobName=a UserId=ann(1)\n   Priority=1\n", "output of Slurm"),
            ("NodeName=n1 Arch=x86_64\n", "output of Slurm"),
            ("PartitionName=batch\n", "output of Slurm"),
            ("PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n", "output of Slurm"),
            ("NODELIST   NODES PARTITION STATE\n", "output of Slurm"),
            ("Account                    User  RawShares\n", "output of Slurm"),
            ("          JOBID PARTITION   PRIORITY       SITE\n", "output of Slurm"),
            ("42|touch OWNED|ann|2024-03-01T10:00:00|COMPLETED\n", "begins with a number"),
            ("204_[1,3,5-9%5]|batch|sweep\n", "begins with a number"),
            (
                "              1001     batch    sweep      ann PD       0:00      1 (Priority)\n",
                "begins with a number",
            ),
            ("2024-03-01T10:00:00Z something happened\n", "begins with a number"),
            ("[2024-03-01 10:00:00] INFO started\n", "number in brackets"),
            ("NAME STATE\n", "header of a table"),
            ("Name State\n---- -----\n", "line of dashes"),
            ("*******************\n", "line of dashes"),
            ("Key=1 Other=2\n", "pairs KEY=VALUE"),
        ] {
            let error = list_or_toml(text.as_bytes(), Some("txt"), Lists::Detected).unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
