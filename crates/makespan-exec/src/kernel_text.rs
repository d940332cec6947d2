//! Parses text files of the kernel.

/// Returns the number after `word` at the beginning of a line.
pub(crate) fn number_behind(word: &str, text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' ')?.trim().parse().ok())
}
