//! The variable `MAKEFLAGS`, which names the jobserver.

/// Returns the value of `MAKEFLAGS` that adds a jobserver to the options in `existing`. The number of jobs and the
/// jobserver in `existing` are left out, because they belong to a make that started this run.
pub(super) fn with_jobserver(existing: &str, cores: u32, auth: &str) -> String {
    // After the word `--`, make writes the definitions of variables.
    let (options, definitions) = match existing.split_once("-- ") {
        Some((options, definitions)) if options.is_empty() || options.ends_with(' ') => (options, Some(definitions)),
        _ => (existing, None),
    };
    let is_of_jobs =
        |word: &&str| word.starts_with("-j") || ["--jobs", "--jobserver-"].iter().any(|start| word.starts_with(start));
    // In `MAKEFLAGS`, the first word contains the short options without a dash. If the value begins with a blank, there
    // are none.
    let starts_with_options = options.starts_with(|c: char| !c.is_whitespace());
    let mut words: Vec<&str> = options.split_whitespace().filter(|word| !is_of_jobs(word)).collect();
    if !starts_with_options {
        words.insert(0, "");
    }
    let definitions = definitions.map(|definitions| format!(" -- {definitions}")).unwrap_or_default();
    format!("{} -j{cores} {auth}{definitions}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_options_are_kept() {
        for (existing, expected) in [
            ("", " -j4 A"),
            ("k", "k -j4 A"),
            ("ks -j8 --jobserver-auth=3,4", "ks -j4 A"),
            (" -j8 --jobserver-auth=fifo:/tmp/x --no-print-directory", " --no-print-directory -j4 A"),
            (" --jobserver-fds=3,4 -j -- X=a\\ b Y=-j3", " -j4 A -- X=a\\ b Y=-j3"),
            ("-- X=1", " -j4 A -- X=1"),
        ] {
            assert_eq!(with_jobserver(existing, 4, "A"), expected, "{existing}");
        }
    }
}
