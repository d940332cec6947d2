//! Impossible values in files of other programs. All readers of logs and workflows obey one rule (docs/formats.md,
//! "Impossible values").
//!
//! Each impossible value is replaced and counted, and there is one warning for each kind of value. If the file is read
//! strictly (`--strict`), it is refused with an error about its first impossible value.

use makespan_core::{Estimate, Time, TimeError};

use crate::guess::GUESS;
use crate::scalar::exact_decimal;

/// Maximum size of a file, in bytes.
const MAX_BYTES: i128 = 1_000_000_000_000_000_000;

/// Reasons to replace a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueProblem {
    /// Missing run time.
    NoTime,
    /// Negative or invalid run time.
    BrokenTime,
    /// Run time above 292 years.
    LongTime,
    /// Run time of 0.
    ZeroTime,
    /// Invalid time limit.
    BrokenLimit,
    /// Time limit above 292 years.
    LongLimit,
    /// Missing size.
    NoSize,
    /// Size that is negative, too large or not a whole number of bytes.
    BrokenSize,
    /// Transfer time that is negative, too long or invalid.
    BrokenTransfer,
    /// Unreadable amount of a resource.
    BrokenAmount,
    /// Unreadable number of cores.
    BrokenCores,
    /// Attribute of a DOT file that contradicts another attribute and is ignored.
    Contradiction,
}

impl ValueProblem {
    /// Returns three texts for a warning: the kind of value, the problem, and the replacement.
    const fn words(self) -> [&'static str; 3] {
        const GUESSED: &str = "a guess of 60 s is used instead";
        const UNLIMITED: &str = "the task has no limit";
        const EMPTY: &str = "0 bytes are used instead";
        const PRECEDENCE: &str = "`time` has precedence over `work`, `data` has precedence over `transfer`, and the \
                                  last value of a repeated attribute is used";
        match self {
            Self::NoTime => ["run time", "missing", GUESSED],
            Self::BrokenTime => ["run time", "negative or invalid", GUESSED],
            Self::LongTime => ["run time", "above 292 years", GUESSED],
            Self::ZeroTime => ["run time", "0 s", "one nanosecond is used instead"],
            Self::BrokenLimit => ["time limit", "not a time", UNLIMITED],
            Self::LongLimit => ["time limit", "above 292 years", UNLIMITED],
            Self::NoSize => ["size", "missing", EMPTY],
            Self::BrokenSize => ["size", "not a whole number of bytes from 0 to 10^18", EMPTY],
            Self::BrokenTransfer => {
                ["transfer time", "negative, above 292 years or not a time", "0 s are used instead"]
            }
            Self::BrokenAmount => ["amount", "not a number", "the task needs none of this resource"],
            Self::BrokenCores => ["number of cores", "not a number", "one core is used instead"],
            Self::Contradiction => ["attribute", "contradicted by another attribute", PRECEDENCE],
        }
    }

    /// Returns the warning for `count` values. `first` describes the first value.
    fn sentence(self, count: usize, first: &str) -> String {
        let [value, wrong, instead] = self.words();
        match count {
            1 => format!("1 {value} is {wrong} ({first}); {instead}"),
            _ => {
                let values = match value.split_once(" of ") {
                    Some((value, of)) => format!("{value}s of {of}"),
                    None => format!("{value}s"),
                };
                format!("{count} {values} are {wrong} (the first: {first}); {instead}")
            }
        }
    }
}

/// Reads a run time. A text that is `None` or empty is a missing run time.
pub(crate) fn run_time(text: Option<&str>) -> Result<Time, ValueProblem> {
    match text.map(str::trim).filter(|text| !text.is_empty()).map(Time::parse) {
        None => Err(ValueProblem::NoTime),
        Some(Ok(Time::ZERO)) => Err(ValueProblem::ZeroTime),
        Some(Ok(time)) => Ok(time),
        Some(Err(TimeError::Overflow(text))) if !text.trim_start().starts_with('-') => Err(ValueProblem::LongTime),
        Some(Err(_)) => Err(ValueProblem::BrokenTime),
    }
}

/// Reads a time limit. A missing, negative or zero limit means no limit and is not an error.
pub(crate) fn limit(text: Option<&str>) -> Result<Option<Time>, ValueProblem> {
    match text.map(str::trim).filter(|text| !text.is_empty()).map(Time::parse) {
        None | Some(Ok(Time::ZERO) | Err(TimeError::Negative(_))) => Ok(None),
        Some(Ok(time)) => Ok(Some(time)),
        Some(Err(TimeError::Overflow(text))) if text.trim_start().starts_with('-') => Ok(None),
        Some(Err(TimeError::Overflow(_))) => Err(ValueProblem::LongLimit),
        Some(Err(TimeError::Syntax(_))) => Err(ValueProblem::BrokenLimit),
    }
}

/// Reads a finite number.
pub(crate) fn finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Reads a number of bytes.
pub(crate) fn bytes(text: Option<&str>) -> Result<u64, ValueProblem> {
    let text = text.map(str::trim).filter(|text| !text.is_empty()).ok_or(ValueProblem::NoSize)?;
    let bytes = exact_decimal(text, 0).filter(|bytes| (0..=MAX_BYTES).contains(bytes));
    bytes.and_then(|bytes| u64::try_from(bytes).ok()).ok_or(ValueProblem::BrokenSize)
}

/// The number of impossible values of one kind, and the first of these values.
#[derive(Debug)]
struct ImpossibleKind {
    oddity: ValueProblem,
    count: usize,
    /// The item that states the first value, such as "task `a`".
    first: String,
    /// Text of the first value in the file, or `None` if the value is missing.
    value: Option<String>,
}

impl ImpossibleKind {
    fn first(&self) -> String {
        self.value.as_ref().map_or_else(|| self.first.clone(), |value| format!("{}: `{value}`", self.first))
    }
}

/// The impossible values in a file, grouped by kind. The kinds are in the order in which they first occurred.
#[derive(Debug, Default)]
pub(crate) struct ImpossibleValues {
    found: Vec<ImpossibleKind>,
}

impl ImpossibleValues {
    /// Counts an impossible value that the file states for `owner`, such as "task `a`".
    pub(crate) fn add(&mut self, oddity: ValueProblem, owner: impl FnOnce() -> String, value: Option<&str>) {
        match self.found.iter_mut().find(|found| found.oddity == oddity) {
            Some(found) => found.count += 1,
            None => {
                let value = value.map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned);
                self.found.push(ImpossibleKind { oddity, count: 1, first: owner(), value });
            }
        }
    }

    /// Returns the run time of `owner`. A run time of 0 becomes one tick. If the run time is missing or impossible,
    /// returns a guess.
    pub(crate) fn run_time(&mut self, text: Option<&str>, owner: impl FnOnce() -> String) -> (Time, Estimate) {
        match run_time(text) {
            Ok(time) => (time, Estimate::Stated),
            Err(oddity) => {
                self.add(oddity, owner, text);
                if oddity == ValueProblem::ZeroTime {
                    (Time::TICK, Estimate::Stated)
                } else {
                    (GUESS, Estimate::Guessed)
                }
            }
        }
    }

    /// Returns the number of bytes stated for `owner`, or 0 if the number is missing or impossible.
    pub(crate) fn bytes(&mut self, text: Option<&str>, owner: impl FnOnce() -> String) -> u64 {
        bytes(text).unwrap_or_else(|oddity| {
            self.add(oddity, owner, text);
            0
        })
    }

    /// Returns the transfer time of `owner`, or 0 if the transfer time is invalid.
    pub(crate) fn transfer(&mut self, text: &str, owner: impl FnOnce() -> String) -> Time {
        Time::parse(text).unwrap_or_else(|_| {
            self.add(ValueProblem::BrokenTransfer, owner, Some(text));
            Time::ZERO
        })
    }

    /// Returns the number stated for `owner`, or `None` if the number is missing or unreadable. Counts an unreadable
    /// number.
    pub(crate) fn read<T>(
        &mut self,
        oddity: ValueProblem,
        text: Option<&str>,
        read: impl Fn(&str) -> Option<T>,
        owner: impl FnOnce() -> String,
    ) -> Option<T> {
        let figure = read(text?);
        if figure.is_none() {
            self.add(oddity, owner, text);
        }
        figure
    }

    /// Returns an error if the reading is strict and there is an impossible value. The error names the first impossible
    /// value.
    pub(crate) fn refuse(&self, strict: bool) -> Result<(), String> {
        match self.found.first().filter(|_| strict) {
            Some(found) => {
                let [value, wrong, _] = found.oddity.words();
                Err(format!("{}: the {value} is {wrong}, which --strict does not allow", found.first()))
            }
            None => Ok(()),
        }
    }

    /// Returns one warning for each kind of impossible value.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = String> + '_ {
        self.found.iter().map(|found| found.oddity.sentence(found.count, &found.first()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rule_reads_each_value() {
        for (text, expect) in [
            (None, Err(ValueProblem::NoTime)),
            (Some(" "), Err(ValueProblem::NoTime)),
            (Some("0.00"), Err(ValueProblem::ZeroTime)),
            (Some("-1"), Err(ValueProblem::BrokenTime)),
            (Some("soon"), Err(ValueProblem::BrokenTime)),
            (Some("1e11"), Err(ValueProblem::LongTime)),
            (Some("-1e30"), Err(ValueProblem::BrokenTime)),
            (Some("2.5"), Ok(Time::from_ticks(2_500_000_000))),
        ] {
            assert_eq!(run_time(text), expect, "{text:?}");
        }
        for (text, expect) in [
            (None, Ok(None)),
            (Some("-1"), Ok(None)),
            (Some("0"), Ok(None)),
            (Some("1e30"), Err(ValueProblem::LongLimit)),
            (Some("x"), Err(ValueProblem::BrokenLimit)),
            (Some("2"), Ok(Some(Time::from_seconds(2)))),
        ] {
            assert_eq!(limit(text), expect, "{text:?}");
        }
        for (text, expect) in [
            (None, Err(ValueProblem::NoSize)),
            (Some("-6585019"), Err(ValueProblem::BrokenSize)),
            (Some("0.5"), Err(ValueProblem::BrokenSize)),
            (Some("1e19"), Err(ValueProblem::BrokenSize)),
            (Some("5e3"), Ok(5000)),
        ] {
            assert_eq!(bytes(text), expect, "{text:?}");
        }
    }

    #[test]
    fn kinds_are_counted_and_refused_by_a_strict_reading() {
        let mut odd = ImpossibleValues::default();
        assert_eq!(odd.bytes(Some("-1"), || "file `f`".into()), 0);
        assert_eq!(odd.bytes(Some("-2"), || "file `g`".into()), 0);
        assert_eq!(odd.run_time(None, || "task `a`".into()), (GUESS, Estimate::Guessed));
        let remarks: Vec<String> = odd.remarks().collect();
        let sizes = "2 sizes are not a whole number of bytes from 0 to 10^18 (the first: file `f`: `-1`); 0 bytes are used instead";
        assert_eq!(remarks, [sizes, "1 run time is missing (task `a`); a guess of 60 s is used instead"]);
        assert!(odd.refuse(false).is_ok());
        assert!(odd.refuse(true).unwrap_err().starts_with("file `f`: `-1`: the size is not a whole number of bytes"));
    }
}
