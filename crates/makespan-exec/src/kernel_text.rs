//! The text of the kernel's files.

/// Returns the number behind a word that begins a line.
pub(crate) fn number_behind(word: &str, text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' ')?.trim().parse().ok())
}
