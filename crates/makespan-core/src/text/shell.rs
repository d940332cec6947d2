//! Commands that a shell runs.

/// Programs that run a line of text after the option `-c`.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "mksh"];

/// Returns true if a program, with or without its folder, is a shell that runs a line of text after `-c`.
pub fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program.rsplit('/').next().unwrap_or(program))
}

/// Returns the line that a shell runs, if the command consists of a shell, its options, `-c` and the line.
///
/// ```
/// let words = ["/bin/bash", "-e", "-c", "make | tee log"].map(str::to_owned);
/// assert_eq!(makespan_core::shell_line(&words), Some("make | tee log"));
/// assert_eq!(makespan_core::shell_line(&words[..2]), None);
/// ```
pub fn shell_line(words: &[String]) -> Option<&str> {
    match words {
        [program, options @ .., option, line] if is_shell(program) && option == "-c" => {
            options.iter().all(|option| option.starts_with(['-', '+']) && option != "-c").then_some(line)
        }
        _ => None,
    }
}
