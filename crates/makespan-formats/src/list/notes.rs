//! Reads the notes of a command, such as `#: cores=1-4 memory=2GiB after=3 time=90s`.

use makespan_core::{Estimate, Job, Need, Needs, Platform, Profile, Resource, SpeedupLaw, Task, Time, Weight, Work};

use super::wrong::ListProblem;
use crate::amount::parse_amount;
use crate::error::FilePlace;
use crate::guess::{GUESSED_LAW, guessed, timed};
use crate::instance::command::by_shell;
use crate::speedup::SpeedupSpec;
use crate::suggest::nearest;

/// Keys that a note may state.
const KEYS: [&str; 12] = [
    "name", "cores", "memory", "gpus", "after", "time", "speedup", "weight", "priority", "released", "deadline",
    "timeout",
];

/// Words of other programs for these keys, for hints in error messages.
const OTHERS: [(&str, &str); 8] = [
    ("processors", "cores"),
    ("cpus", "cores"),
    ("threads", "cores"),
    ("mem", "memory"),
    ("ram", "memory"),
    ("gpu", "gpus"),
    ("walltime", "timeout"),
    ("needs", "memory"),
];

/// Commands that must end before a command starts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AfterNote {
    /// All commands on a range of lines, given by the first and the last line.
    Lines(usize, usize),
    /// The command with this name.
    Name(String),
}

/// Notes of a command.
#[derive(Debug, Default)]
pub(super) struct CommandNotes {
    /// Stated keys, each with its line.
    stated: Vec<(&'static str, usize)>,
    pub name: Option<String>,
    pub after: Vec<AfterNote>,
    cores: Option<(u32, u32)>,
    memory: u64,
    gpus: u64,
    times: Vec<Time>,
    speedup: Option<SpeedupLaw>,
    weight: Option<Weight>,
    priority: i32,
    released: Option<Time>,
    deadline: Option<Time>,
    timeout: Option<Time>,
}

impl CommandNotes {
    /// Returns the first line with a note.
    pub(super) fn line(&self) -> Option<usize> {
        self.stated.first().map(|stated| stated.1)
    }

    /// Returns the line on which a key is stated.
    pub(super) fn line_of(&self, key: &str) -> Option<usize> {
        self.stated.iter().find(|stated| stated.0 == key).map(|stated| stated.1)
    }

    /// Returns whether the command needs a resource.
    pub(super) fn needs(&self, resource: &str) -> bool {
        self.line_of(resource).is_some()
    }

    /// Adds the words of a note.
    pub(super) fn add(&mut self, text: &str, line: usize) -> Result<(), ListProblem> {
        for word in words(text).map_err(|problem| ListProblem::at(line, problem))? {
            let Some((key, value)) = word.split_once('=') else {
                let problem = format!(
                    "`{word}` is not a note; write KEY=VALUE after `#:`, such as cores=1-4 memory=2GiB after=3 time=90s"
                );
                return Err(ListProblem::at(line, problem));
            };
            let key = known(key).map_err(|problem| ListProblem::at(line, problem))?;
            if let Some(before) = self.line_of(key) {
                let problem = format!("`{key}` is given twice for one command (first on line {before}); write it once");
                return Err(ListProblem::at(line, problem));
            }
            self.stated.push((key, line));
            let place = FilePlace::line(line).with_field(key);
            self.set(key, value).map_err(|problem| ListProblem { place, problem })?;
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        if value.is_empty() {
            return Err(format!("`{key}=` has no value; write a value directly after `=`, without a space"));
        }
        let time = note_time;
        match key {
            "name" => self.name = Some(name(value)?),
            "after" => self.after = value.split(',').map(after).collect::<Result<_, _>>()?,
            "cores" => self.cores = Some(cores(value)?),
            "memory" => self.memory = memory(value)?,
            "gpus" => {
                self.gpus = u64::from(
                    count(value)
                        .ok_or_else(|| format!("`{value}` is not a number of GPUs; write a whole number such as 1"))?,
                )
            }
            "time" => self.times = value.split(',').map(positive).collect::<Result<_, _>>()?,
            "speedup" => match value.parse::<SpeedupSpec>().map_err(|error| error.to_string())? {
                SpeedupSpec::Law(law) => self.speedup = Some(law),
                _ => {
                    return Err(format!(
                        "`{value}` is allowed only for logs; write linear, amdahl:SERIAL, power:EXPONENT or \
                         downey:A,SIGMA"
                    ));
                }
            },
            "weight" => self.weight = Some(Weight::parse(value).map_err(|error| error.to_string())?),
            "priority" => {
                self.priority =
                    value.parse().map_err(|_| format!("`{value}` is not a priority; write a whole number"))?
            }
            "released" => self.released = Some(time(value)?),
            "deadline" => self.deadline = Some(time(value)?),
            _ => self.timeout = Some(positive(value)?),
        }
        Ok(())
    }

    /// Returns the job of a command without dependencies. The caller adds the dependencies.
    pub(super) fn job(&self, name: String, command: &str) -> Result<Job, ListProblem> {
        let (profile, estimate) = self.profile().map_err(|(key, problem)| {
            let line = self.line_of(key).or_else(|| self.line());
            ListProblem { place: FilePlace { line, ..FilePlace::default() }.with_field(key), problem }
        })?;
        let needed = [(Resource::MEMORY, self.memory), (Resource::GPUS, self.gpus)];
        let needed = needed.into_iter().filter(|(_, amount)| *amount > 0);
        let needs = Needs::new(needed.map(|(name, amount)| (name.to_owned(), Need::whole(amount))));
        let needs = needs.map_err(|error| ListProblem { place: FilePlace::default(), problem: error.to_string() })?;
        let assumes_one_core = self.cores.is_none() && profile.max_processors() == 1;
        let command = by_shell(command);
        let task = Task { estimate, command, needs, assumes_one_core, ..Task::new(profile.clone()) };
        Ok(Job {
            weight: self.weight.unwrap_or(Weight::ONE),
            priority: self.priority,
            release: self.released.unwrap_or(Time::ZERO),
            deadline: self.deadline,
            walltime: self.timeout,
            work: Work::Task(task),
            ..Job::new(name, profile)
        })
    }

    /// Returns the run times and their source. An error includes the key with the problem.
    fn profile(&self) -> Result<(Profile, Estimate), (&'static str, String)> {
        let (min, max) = self.cores.unwrap_or((1, if self.speedup.is_some() { Platform::MAX_PROCESSORS } else { 1 }));
        let wrong = |error: makespan_core::ProfileError| ("time", error.to_string());
        match self.times.as_slice() {
            [] => Ok((guessed(min, max, self.speedup, self.timeout).map_err(wrong)?, Estimate::Guessed)),
            &[time] => {
                // If no speed-up is stated, it is guessed.
                let estimate = if max > min && self.speedup.is_none() { Estimate::Guessed } else { Estimate::Stated };
                Ok((timed(time, min, max, self.speedup.unwrap_or(GUESSED_LAW)).map_err(wrong)?, estimate))
            }
            _ if self.speedup.is_some() => Err((
                "speedup",
                "`speedup` needs one `time`, but `time` is a list; write one time, or remove `speedup`".into(),
            )),
            times => {
                let (min, max) = self.cores.unwrap_or((1, times.len() as u32));
                let table = Profile::table(times.to_vec()).map_err(wrong)?;
                let table = table.at_most(max).and_then(|table| table.at_least(min));
                let table = table.ok_or_else(|| {
                    (
                        "time",
                        format!(
                            "`cores` states at least {min} cores, but `time` lists run times for at most {} cores; add times \
                             to the list",
                            times.len()
                        ),
                    )
                });
                Ok((table?, Estimate::Stated))
            }
        }
    }
}

/// Splits a note into words. A word in quotation marks may contain blanks.
fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut mark) = (Vec::new(), String::new(), None);
    for c in text.chars() {
        match mark {
            Some(open) if c == open => mark = None,
            None if matches!(c, '"' | '\'') => mark = Some(c),
            None if c.is_whitespace() => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            _ => word.push(c),
        }
    }
    if let Some(open) = mark {
        return Err(format!("the quote `{open}` is not closed on its line"));
    }
    words.extend((!word.is_empty()).then_some(word));
    Ok(words)
}

fn known(key: &str) -> Result<&'static str, String> {
    if let Some(known) = KEYS.iter().find(|known| **known == key) {
        return Ok(known);
    }
    let other = OTHERS.iter().find(|(other, _)| *other == key).map(|(_, meant)| *meant);
    let hint = match other.or_else(|| nearest(key, KEYS)) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    Err(format!("`{key}` is not a key of a note{hint} (the keys are: {})", KEYS.join(", ")))
}

fn name(text: &str) -> Result<String, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') || text.contains(',') {
        return Err(format!(
            "`{text}` looks like line numbers of `after`; write a name that contains a letter and no comma"
        ));
    }
    Ok(text.to_owned())
}

fn after(text: &str) -> Result<AfterNote, String> {
    if text.is_empty() {
        return Err(
            "a line number or name is missing before or after a comma; write, for example, after=3,5-7 or after=a,b"
                .into(),
        );
    }
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<usize>().ok()).flatten();
    if let Some(line) = number(text) {
        return Ok(AfterNote::Lines(line, line));
    }
    match text.split_once('-').and_then(|(first, last)| number(first).zip(number(last))) {
        Some((first, last)) if first > last => {
            Err(format!("`{text}` is an empty range of lines; write the smaller number first"))
        }
        Some((first, last)) => Ok(AfterNote::Lines(first, last)),
        None => Ok(AfterNote::Name(text.to_owned())),
    }
}

fn count(text: &str) -> Option<u32> {
    text.parse()
        .ok()
        .filter(|&count| count <= Platform::MAX_PROCESSORS && text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Reads a number of cores: `4`, `1-4`, or `2-` for any number from 2.
fn cores(text: &str) -> Result<(u32, u32), String> {
    let wrong = || {
        format!(
            "`{text}` is not a number of cores; write a number such as 4, a range such as 1-4, or 2- for at least 2"
        )
    };
    let (min, max) = match text.split_once('-') {
        None => (count(text).ok_or_else(wrong)?, count(text).ok_or_else(wrong)?),
        Some((min, "")) => (count(min).ok_or_else(wrong)?, Platform::MAX_PROCESSORS),
        Some((min, max)) => (count(min).ok_or_else(wrong)?, count(max).ok_or_else(wrong)?),
    };
    if min == 0 || min > max {
        return Err(format!("`{text}` is not a range of cores; write at least 1, and the smaller number first"));
    }
    Ok((min, max))
}

/// Reads an amount of memory. A unit is required, because `500` could mean megabytes or bytes.
fn memory(text: &str) -> Result<u64, String> {
    let amount = parse_amount(text)?;
    if amount > 0 && !text.ends_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(format!("`{text}` has no unit; write {text}MB, {text}MiB or {text}B"));
    }
    Ok(amount)
}

/// Reads a time such as `90s` or `1h30m`.
fn note_time(text: &str) -> Result<Time, String> {
    Time::parse(text).map_err(|error| error.to_string())
}

fn positive(text: &str) -> Result<Time, String> {
    let time = note_time(text)?;
    if time > Time::ZERO {
        Ok(time)
    } else {
        Err(format!("`{text}` is not a positive time; write a time above 0, such as 90s"))
    }
}
