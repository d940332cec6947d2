//! Writes names into CSV tables. A spreadsheet reads a cell that begins with `=`, `+`, `-` or `@` as a formula, and
//! users can give a job any name. So such names get an apostrophe as a prefix. Names that begin with an apostrophe get
//! a second apostrophe, so that a reader can recover the original name.

use std::borrow::Cow;

/// Notation of names in CSV tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CsvNames {
    /// An apostrophe precedes each name that a spreadsheet would read as a formula.
    #[default]
    Guarded,
    /// All names are unchanged.
    Raw,
}

/// Prefix that marks a cell as text, not a formula.
const GUARD: char = '\'';

fn needs_guard(name: &str) -> bool {
    name.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', GUARD])
}

impl CsvNames {
    /// Returns the cell for a name.
    pub fn write(self, name: &str) -> Cow<'_, str> {
        match self {
            Self::Guarded if needs_guard(name) => Cow::Owned(format!("{GUARD}{name}")),
            _ => Cow::Borrowed(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recovers the original name from a cell of a CSV file by the rule in docs/formats.md.
    fn read(names: CsvNames, cell: String) -> String {
        match cell.strip_prefix(GUARD).filter(|name| names == CsvNames::Guarded && needs_guard(name)) {
            Some(name) => name.to_owned(),
            None => cell,
        }
    }

    #[test]
    fn a_name_is_no_formula_and_comes_back() {
        let starts = ["", "=", "+", "-", "@", "'", "''", "'=", "\t", "\r", "\n", "a", "1", " ="];
        for name in starts.iter().flat_map(|start| ["", "x", "=1", "'"].map(|end| format!("{start}{end}"))) {
            let cell = CsvNames::Guarded.write(&name).into_owned();
            assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']), "{cell:?}");
            assert_eq!(read(CsvNames::Guarded, cell), name);
            assert_eq!(read(CsvNames::Raw, CsvNames::Raw.write(&name).into_owned()), name);
        }
        assert_eq!(CsvNames::Guarded.write("job-1"), "job-1");
    }
}
