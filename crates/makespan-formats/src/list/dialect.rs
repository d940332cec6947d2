//! The shell that a list states in its first line.

use makespan_core::is_shell;

/// Returns the shell with its options from the first line of a text, such as `#!/bin/bash -e` or
/// `#!/usr/bin/env bash`. Returns `None` if the first line is different or names a program that is not a shell.
pub(crate) fn shell_of(text: &str) -> Option<Vec<String>> {
    let mut words = text.lines().next()?.strip_prefix("#!")?.split_whitespace().map(str::to_owned);
    let mut program = words.next()?;
    if program.rsplit('/').next() == Some("env") {
        program = words.next()?;
    }
    is_shell(&program).then(|| std::iter::once(program).chain(words).collect())
}

/// Returns whether a shell lacks the words of bash, such as `[[`.
pub fn is_plain_shell(shell: &str) -> bool {
    shell.rsplit('/').next().is_some_and(|name| name == "sh" || name == "dash")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_states_the_shell() {
        let words = |text: &str| shell_of(text).map(|words| words.join(" "));
        assert_eq!(words("#!/bin/bash\na\n").as_deref(), Some("/bin/bash"));
        assert_eq!(words("#! /bin/bash -eu\n").as_deref(), Some("/bin/bash -eu"));
        assert_eq!(words("#!/usr/bin/env bash\n").as_deref(), Some("bash"));
        for text in ["#!/usr/bin/python3\n", "#!\n", "# /bin/bash\n", "a\n#!/bin/bash\n", "", "#!/usr/bin/env\n"] {
            assert_eq!(words(text), None, "{text}");
        }
    }
}
