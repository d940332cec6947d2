//! Detects texts that are not lists of commands, such as prose or the output of a program.

use std::collections::HashSet;
use std::path::Path;

use makespan_core::{Instance, counted, shell_line};
use makespan_exec::program;
use makespan_history::programs;

use crate::output::shown;

/// Maximum number of commands that are checked for an unknown program.
const LOOKED: usize = 100;

/// Words that a POSIX shell interprets without starting a program.
const SHELL: [&str; 56] = [
    "!", "{", "}", "[[", "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "in", "function", "time", "select", ".", ":", "[", "alias", "bg", "break", "cd", "command", "continue", "echo",
    "eval", "exec", "exit", "export", "false", "fg", "getopts", "hash", "jobs", "kill", "local", "printf", "pwd",
    "read", "readonly", "return", "set", "shift", "source", "test", "trap", "true", "ulimit", "umask", "unset", "wait",
];

/// Returns a reason why a text may not be a list of commands: more than half of its first commands name no program of
/// this machine, and they name different words. Returns `None` if there is no such reason. If all commands name the
/// same missing program, they run and fail with status 127.
pub fn doubt(instance: &Instance) -> Option<String> {
    let lines: Vec<&str> = instance
        .different_task_ids()
        .take(LOOKED)
        .filter_map(|task| shell_line(&instance.task(task).command))
        .collect();
    doubt_of(&lines)
}

fn doubt_of(lines: &[&str]) -> Option<String> {
    let mut known: HashSet<&str> = HashSet::new();
    let mut unknown: Vec<&str> = Vec::new();
    let mut strange = 0;
    for line in lines {
        let before = unknown.len();
        for word in programs(line).into_iter().filter(|word| is_plain(word)) {
            if known.contains(word) || is_known(word) {
                known.insert(word);
            } else {
                unknown.push(word);
            }
        }
        strange += usize::from(unknown.len() > before);
    }
    if 2 * strange <= lines.len() || unknown.iter().all(|word| *word == unknown[0]) {
        return None;
    }
    let mut named: Vec<String> = Vec::new();
    for word in unknown {
        let word = format!("`{}`", shown(word));
        if named.len() < 3 && !named.contains(&word) {
            named.push(word);
        }
    }
    let commands = if lines.len() == 1 {
        "the command of this line does not name".to_owned()
    } else {
        format!("{strange} of its first {} do not name", counted(lines.len(), "command"))
    };
    Some(format!("{commands} a program of this machine ({})", named.join(", ")))
}

/// Returns true if a word contains no quotation or expansion, so that it can be the name of a program.
fn is_plain(word: &str) -> bool {
    !word.contains(|c: char| "\"'$`\\*?~[]{}#".contains(c)) || SHELL.contains(&word)
}

/// Returns true if a shell on this machine would find the program `word`. Also returns true for the path of a missing
/// file, because an earlier job may create the file.
pub fn is_known(word: &str) -> bool {
    if SHELL.contains(&word) {
        return true;
    }
    let is_path = word.contains('/') && !word.contains(':');
    program(word).is_ok() || is_path && !Path::new(word).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_of_programs_are_no_lists() {
        for text in [
            "NAME|USER|STATE\ntouch OWNED|ann|PENDING\n",
            "touch OWNED|12|ann|COMPLETED\n",
            "Sat Nov 28 10:14:42 UTC 2026\n             JOBID PARTITION\n",
            "Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/vda 2 1 1 50% /\ntmpfs 1 0 1 0% /tmp\n",
            "total 8\n-rw-r--r-- 1 root root 5 Nov 28 a\ndrwxr-xr-x 2 root root 6 Nov 28 b\n",
            "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/bin/sh\n",
            "commit 134f65d3\nAuthor: A B <a@b>\nDate:   Sat Nov 28\n    state the rule\n",
            "On branch main\nChanges not staged for commit:\n  modified:   a.rs\n",
            "Makespan plans jobs.\nIt proves how far a plan is from the best.\n    makespan plan jobs.toml\n",
            "def main():\n    return 3\nprint(main())\n",
            "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----\n",
        ] {
            let lines: Vec<&str> = text.lines().collect();
            let doubt = doubt_of(&lines);
            assert!(
                doubt.as_ref().is_some_and(|doubt| doubt.contains("a program of this machine")),
                "{text}: {doubt:?}"
            );
        }
    }

    #[test]
    fn lists_are_lists() {
        for text in [
            "echo a\nsleep 1\n",
            "sort <a >b 2>&1 | head -3 && ls\n",
            "LC_ALL=C sort a &>b\n",
            "if true; then ls; fi\n",
            "for i in 1 2; do echo $i; done\n",
            "./made/by/an/earlier/job --x\n",
            "\"$TOOL\" a\n$TOOL b\n(cd a && ls)\n",
            "echo 'a | nothing; b'\n",
            "ls\nls\nls\nno-such-program\n",
            "no-such-program x\n",
            "no-such-program x\nno-such-program y && echo done\n",
            "test -f a || touch a\n[ -f a ] && cat a\n! ls\n",
        ] {
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(doubt_of(&lines), None, "{text}");
        }
    }
}
