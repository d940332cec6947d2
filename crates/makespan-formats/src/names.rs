//! Names in cells of CSV tables.
//!
//! A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, and a job's name may be anybody's text. Such a
//! name is written behind an apostrophe, and so is one that begins with an apostrophe, so that what was written can be told.

use std::borrow::Cow;

/// How names stand in CSV tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CsvNames {
    /// A name that a spreadsheet would take for a formula stands behind an apostrophe.
    #[default]
    Guarded,
    /// As they are.
    Raw,
}

/// Marks a name that is no formula.
const GUARD: char = '\'';

fn needs_guard(name: &str) -> bool {
    name.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', GUARD])
}

impl CsvNames {
    /// The name as it is written.
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

    /// Returns the original name that a cell of a CSV file stands for, by the rule in docs/formats.md.
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
