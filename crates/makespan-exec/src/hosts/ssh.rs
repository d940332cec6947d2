//! The program `ssh`: its options, the scripts for the shells of hosts, and the meaning of its errors.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use super::program::OwnProgram;

/// First word of the line that describes a host.
pub(super) const HOST: &str = "makespan-host";

/// Line that reports that the host has no copy of the program.
pub(super) const MISSING: &str = "makespan-missing";

/// Line that reports that the host can receive the program.
pub(super) const READY: &str = "makespan-ready";

/// Line that reports that the host has received the program.
pub(super) const COPIED: &str = "makespan-copied";

/// Returns the command that starts a shell on a host. The command line contains no command of a job, because other
/// users can see command lines. All other settings come from the user's configuration of OpenSSH.
pub(super) fn command(host: &str) -> Command {
    let mut command = Command::new("ssh");
    command.args(["-T", "-o", "BatchMode=yes", "-o", "ForwardAgent=no", "-o", "ForwardX11=no"]);
    command.args(["-o", "ClearAllForwardings=yes", "--", host, "exec /bin/sh"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ctrl-C ends the jobs through their agents, so the connections must outlast the signal.
    command.process_group(0);
    command
}

/// Returns the script that describes the host and then becomes the program.
pub(super) fn start_script(program: &OwnProgram) -> String {
    format!(
        "echo \"{HOST} $(uname -m) $(getconf GNU_LIBC_VERSION 2>/dev/null)\"\n\
         p=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/makespan/{}\"\n\
         if [ -x \"$p\" ]; then exec \"$p\" agent --connect; fi\n\
         echo {MISSING}\nexit 0\n",
        program.name
    )
}

/// Returns the script that receives the program. The program appears under its name only when it is complete. `mark`
/// distinguishes copies that several planners send at the same time.
pub(super) fn copy_script(program: &OwnProgram, mark: &str) -> String {
    let OwnProgram { name, size, .. } = program;
    format!(
        "umask 077; d=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/makespan\"; t=\"$d/{name}.{mark}.$$\"; \
         if mkdir -p \"$d\" && : > \"$t\" && echo {READY} && cat > \"$t\" && [ $(wc -c < \"$t\") -eq {size} ] && \
         chmod 700 \"$t\" && mv \"$t\" \"$d/{name}\"; then echo {COPIED}; else rm -f \"$t\"; exit 1; fi\n"
    )
}

/// The reason why a connection failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkFailure {
    /// The reason, with the remedy.
    pub reason: String,
    /// True if the host may be reachable later without a change by the user.
    pub passing: bool,
}

/// Parts of messages of OpenSSH, the remedy, and whether the host may be reachable later.
const MEANINGS: [(&str, &str, bool); 7] = [
    ("could not resolve", "check the name, or add the host to ~/.ssh/config", true),
    (
        "host key verification failed",
        "connect once with `ssh HOST` and compare its key; if the key has changed, ask the administrator of the host",
        false,
    ),
    (
        "permission denied (",
        "the host accepts none of your keys, and no password is asked for; run `ssh-copy-id HOST`, or load your key with ssh-add",
        false,
    ),
    (
        "too many authentication failures",
        "name the right key for the host in ~/.ssh/config (IdentityFile, IdentitiesOnly)",
        false,
    ),
    ("bad configuration option", "correct ~/.ssh/config", false),
    ("no space left on device", "free space on the host, or set XDG_CACHE_HOME there to another folder", false),
    ("quota exceeded", "free space on the host, or set XDG_CACHE_HOME there to another folder", false),
];

/// Returns the failure that the standard error of `ssh` describes. `otherwise` is the reason if `ssh` printed nothing
/// to its standard error.
pub(super) fn failure(host: &str, errors: &[String], otherwise: &str) -> LinkFailure {
    let known = errors.iter().find_map(|line| {
        let lower = line.to_ascii_lowercase();
        let meaning = MEANINGS.iter().find(|(part, ..)| lower.contains(part))?;
        Some((line, meaning.1.replace("HOST", host), meaning.2))
    });
    if let Some((line, remedy, passing)) = known {
        return LinkFailure { reason: format!("{}; {remedy}", line.trim()), passing };
    }
    let is_said = |line: &&String| !line.trim().is_empty();
    let last = errors.iter().rev().find(is_said).map_or(otherwise, |line| line.trim());
    let lower = last.to_ascii_lowercase();
    if lower.contains("permission denied") || lower.contains("read-only") || lower.contains("cannot create") {
        let remedy = "make the folder writable, or set XDG_CACHE_HOME on the host to another folder";
        return LinkFailure { reason: format!("{last}; {remedy}"), passing: false };
    }
    let unreachable = ["connection", "timed out", "no route", "unreachable"].iter().any(|part| lower.contains(part));
    let remedy = if unreachable { "; check that the host is on and that sshd runs there" } else { "" };
    LinkFailure { reason: format!("{last}{remedy}"), passing: unreachable }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_ssh_have_remedies() {
        let of = |text: &str| failure("h1", &[text.to_owned()], "it closed the connection");
        for (text, part, passing) in [
            ("ssh: Could not resolve hostname h1: Name or service not known", "~/.ssh/config", true),
            ("ssh: connect to host h1 port 22: Connection refused", "sshd runs", true),
            ("u@h1: Permission denied (publickey).", "ssh-copy-id h1", false),
            ("Host key verification failed.", "`ssh h1`", false),
            ("cat: write error: No space left on device", "free space", false),
            ("mkdir: cannot create directory '/x': Permission denied", "writable", false),
        ] {
            let failure = of(text);
            assert!(failure.reason.starts_with(text) && failure.reason.contains(part), "{failure:?}");
            assert_eq!(failure.passing, passing, "{text}");
        }
        assert_eq!(
            failure("h1", &[], "it closed the connection").reason,
            "it closed the connection; check that the host is on and that sshd runs there"
        );
    }
}
