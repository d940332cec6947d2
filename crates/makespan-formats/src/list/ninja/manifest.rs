//! Copies a manifest of ninja, so that a dry run of the copy prints the properties of each edge.
//!
//! No tool of ninja prints the pool, the depfile, the kind of dependencies or the response file of an edge. In the
//! copy, the description of each rule consists of these bindings, and ninja evaluates them. A description affects
//! neither the command nor its hash, so ninja decides as for the original which edges are out of date.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustc_hash::FxHashMap;
use tempfile::TempDir;

use super::dry::{POOL, STATEMENT, description};
use crate::error::{FilePlace, FormatError};

/// Maximum depth of nested `include` and `subninja` statements.
const MAX_DEPTH: usize = 64;

/// Variables with other values in the copy.
const CHANGED: [&str; 4] = ["description", "pool", POOL, STATEMENT];

/// Variable without a value: the response file of each rule in the copy.
const NO_FILE: &str = "makespan_no_file";

/// An empty file in the folder of the copy, which is older than all files of the build.
const OLD: &str = "old";

/// A copy of a manifest and of all files that the manifest includes, in a temporary folder.
#[derive(Debug)]
pub struct ManifestCopy {
    folder: TempDir,
    pools: FxHashMap<String, u64>,
    left: Option<String>,
    files: usize,
    /// The `default` statements.
    defaults: String,
    /// The number of the file of each `build` statement, and the position of the statement in this file of the copy.
    statements: Vec<(usize, Range<usize>)>,
    /// Statements that [`Self::settle`] has changed.
    settled: BTreeSet<usize>,
}

impl ManifestCopy {
    /// Copies a manifest. Paths in the manifest are relative to `folder`, the folder in which ninja runs.
    ///
    /// # Errors
    /// [`FormatError`] if a file cannot be read or written.
    pub fn new(folder: &Path, manifest: &Path) -> Result<Self, FormatError> {
        let temporary = tempfile::tempdir().map_err(|error| io(manifest, "copy", error))?;
        let mut copy = Self {
            folder: temporary,
            pools: FxHashMap::default(),
            left: None,
            files: 0,
            defaults: String::new(),
            statements: Vec::new(),
            settled: BTreeSet::new(),
        };
        copy.pools.insert("console".into(), 1);
        let whole = copy.add(folder, manifest, 0)?;
        let write = |path: PathBuf, rest: &str| {
            let text = format!("include {}\n{rest}", escaped(&whole));
            fs::write(path, text).map_err(|error| io(manifest, "copy", error))
        };
        write(copy.path(), &copy.defaults)?;
        write(
            copy.probe(),
            "rule makespan_builddir\n  command = $builddir\nbuild makespan-builddir: makespan_builddir\n",
        )?;
        Ok(copy)
    }

    /// Returns the path of the copy.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("build.ninja")
    }

    /// Returns the path of a copy without `default` statements. The default targets of this copy are all targets.
    pub fn whole(&self) -> PathBuf {
        self.folder.path().join("1.ninja")
    }

    /// Returns the path of a manifest with the additional target `makespan-builddir`. The command of this target is the
    /// folder that contains the logs of ninja.
    pub fn probe(&self) -> PathBuf {
        self.folder.path().join("probe.ninja")
    }

    /// Returns the depth of each pool.
    pub const fn pools(&self) -> &FxHashMap<String, u64> {
        &self.pools
    }

    /// Returns the reason why only ninja can run the build, if there is one.
    pub fn left(&self) -> Option<&str> {
        self.left.as_deref()
    }

    /// Replaces `build` statements of edges that have ended with `phony` statements. The outputs then count as sources
    /// with the modification times that they have now. So edges that are always out of date no longer make other edges
    /// out of date. As in ninja, a missing output does not make other edges out of date either.
    ///
    /// # Errors
    /// [`FormatError`] if a file cannot be read or written.
    pub fn settle(&mut self, statements: &[usize]) -> Result<(), FormatError> {
        let old = self.folder.path().join(OLD);
        let made = fs::File::create(&old);
        let made = made.and_then(|file| file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1)));
        made.map_err(|error| io(&old, "write", error))?;
        self.settled.extend(statements);
        let changed: BTreeSet<usize> = statements.iter().map(|&number| self.statements[number].0).collect();
        for file in changed {
            let (path, whole) = (self.file(file), self.file(file).with_extension("whole"));
            if !whole.exists() {
                fs::copy(&path, &whole).map_err(|error| io(&path, "copy", error))?;
            }
            let mut text = fs::read_to_string(&whole).map_err(|error| io(&whole, "read", error))?;
            // The statements of a file are in the order of their positions, so the last one is changed first.
            for (_, range) in
                self.settled.iter().rev().map(|&number| &self.statements[number]).filter(|at| at.0 == file)
            {
                let outputs = outputs(&text[range.clone()]).to_owned();
                text.replace_range(range.clone(), &format!("{outputs}: phony {}\n", escaped(&old)));
            }
            fs::write(&path, text).map_err(|error| io(&path, "write", error))?;
        }
        Ok(())
    }

    /// Returns the path of a copied file.
    fn file(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("{number}.ninja"))
    }

    /// Adds what follows the last statement or binding of the copied file number `file`. After a `build` statement, this is
    /// its number. A rule with a response file prints the file and has none. Ninja refuses a rule without the binding
    /// `rspfile` if the rule has the content of the file.
    fn complete(&mut self, file: usize, copied: &mut String, last: &mut LastLines) {
        if let Some(rspfile) = last.rspfile.take() {
            let _ = writeln!(copied, "  description = {}\n  rspfile = ${NO_FILE}", description(&rspfile));
        }
        if let Some(begin) = last.statement.take() {
            if !copied.ends_with('\n') {
                copied.push('\n');
            }
            let number = self.statements.len();
            self.statements.push((file, begin..copied.len()));
            let _ = writeln!(copied, "  {STATEMENT} = {number}");
        }
    }

    fn add(&mut self, folder: &Path, file: &Path, depth: usize) -> Result<PathBuf, FormatError> {
        self.files += 1;
        let own = self.files;
        let target = self.file(own);
        let path = folder.join(file);
        let text = fs::read_to_string(&path).map_err(|error| io(&path, "read", error))?;
        if depth > MAX_DEPTH {
            let problem = format!("more than {MAX_DEPTH} files include each other; remove some `include` statements");
            return Err(FormatError::content(&path.display().to_string(), FilePlace::default(), problem));
        }
        let mut copied = String::with_capacity(text.len());
        let (mut block, mut is_continued, mut is_dropped) = (Block::Other, false, false);
        let mut is_default = false;
        // If a command uses the name of its response file, the rules keep their response files.
        let keeps = text.lines().any(|line| uses(line, "rspfile"));
        let own_description = description(if keeps { "$rspfile" } else { "" });
        let mut last = LastLines::default();
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let plain = line.trim_end_matches(['\n', '\r']);
            let begins = !is_continued;
            // Ninja does not continue comments.
            is_continued = continues(plain) && !(begins && plain.trim_start_matches(' ').starts_with('#'));
            let place = || format!("{}:{number}", file.display());
            if let Some(name) = CHANGED.into_iter().find(|name| uses(plain, name)) {
                self.leave(&place(), &format!("it uses the variable `{name}`"));
            }
            if !begins {
                if is_default {
                    self.keep_default(line, plain, &place());
                } else if !is_dropped {
                    copied.push_str(line);
                }
                if let Some(value) = &mut last.rspfile {
                    value.push_str(part(plain, is_continued));
                }
                continue;
            }
            self.complete(own, &mut copied, &mut last);
            (is_dropped, is_default) = (false, false);
            if let Some(binding) = plain.strip_prefix(' ') {
                let (key, value) = binding.split_once('=').unwrap_or((binding, ""));
                match (block, key.trim()) {
                    (Block::Rule | Block::Build, "pool") => {
                        let _ = write!(copied, "  {POOL} ={}", &line[line.find('=').map_or(line.len(), |at| at + 1)..]);
                        continue;
                    }
                    (Block::Rule | Block::Build, POOL) => self.leave(&place(), "it sets msvc_deps_prefix"),
                    (Block::Rule | Block::Build, "description") => is_dropped = true,
                    (Block::Build, "rspfile") => self.leave(&place(), "a `build` statement sets rspfile"),
                    (Block::Rule, "rspfile") if !keeps => {
                        (is_dropped, last.rspfile) = (true, Some(part(value, is_continued).to_owned()));
                    }
                    (Block::Rule | Block::Build, "dyndep") => self.leave(&place(), "it uses dyndep"),
                    (Block::Pool(name), "depth") => self.pool(name, value.trim(), &place()),
                    _ => {}
                }
                if !is_dropped {
                    copied.push_str(line);
                }
                continue;
            }
            let (word, rest) = plain.split_once(' ').unwrap_or((plain, ""));
            if word == "rule" && is_continued {
                self.leave(&place(), "the name of a rule is on the next line");
            }
            block = match word {
                "rule" => Block::Rule,
                "build" => Block::Build,
                "pool" => Block::Pool(rest.trim()),
                "include" | "subninja" => {
                    let Some(included) = unescaped(rest.trim()) else {
                        self.leave(&place(), &format!("the path after `{word}` contains a variable"));
                        copied.push_str(line);
                        continue;
                    };
                    let included = self.add(folder, Path::new(&included), depth + 1)?;
                    let _ = writeln!(copied, "{word} {}", escaped(&included));
                    block = Block::Other;
                    continue;
                }
                "default" => {
                    is_default = true;
                    self.keep_default(&format!("{plain}\n"), rest, &place());
                    block = Block::Other;
                    continue;
                }
                // A comment does not end a block.
                _ if plain.is_empty() || plain.starts_with('#') => block,
                _ => Block::Other,
            };
            let begin = copied.len();
            copied.push_str(line);
            if word == "rule" {
                let end = if line.ends_with('\n') { "" } else { "\n" };
                let _ = writeln!(copied, "{end}  description = {own_description}");
            } else if word == "build" {
                last.statement = Some(begin);
            }
        }
        self.complete(own, &mut copied, &mut last);
        fs::write(&target, copied).map_err(|error| io(&path, "copy", error))?;
        Ok(target)
    }

    fn pool(&mut self, name: &str, depth: &str, place: &str) {
        match depth.parse() {
            Ok(depth) => drop(self.pools.insert(name.to_owned(), depth)),
            Err(_) => self.leave(place, &format!("the depth of the pool `{name}` is not a number")),
        }
    }

    /// Copies a line of a `default` statement. `targets` are the targets in this line.
    fn keep_default(&mut self, line: &str, targets: &str, place: &str) {
        let end = usize::from(continues(targets));
        if unescaped(&targets[..targets.len() - end]).is_none() {
            self.leave(place, "a default target contains a variable");
        }
        self.defaults.push_str(line);
    }

    fn leave(&mut self, place: &str, reason: &str) {
        self.left.get_or_insert_with(|| format!("{place}: {reason}"));
    }
}

/// The last statement or binding of a copied file, if something must be added after its last line.
#[derive(Default)]
struct LastLines {
    /// The value of the binding `rspfile` of a rule.
    rspfile: Option<String>,
    /// The begin of a `build` statement in the copied file.
    statement: Option<usize>,
}

/// Returns the part of a value in one line: the text without blanks before it and, if the value is continued, without the
/// `$` at its end.
fn part(line: &str, is_continued: bool) -> &str {
    let text = line.trim_start_matches(' ');
    &text[..text.len() - usize::from(is_continued)]
}

/// Returns the begin of a `build` statement: the text before the first unescaped colon.
fn outputs(statement: &str) -> &str {
    let mut is_escaped = false;
    let end = statement.find(|c: char| {
        let ends = c == ':' && !is_escaped;
        is_escaped = c == '$' && !is_escaped;
        ends
    });
    &statement[..end.unwrap_or(statement.len())]
}

/// The statement to which indented lines belong.
#[derive(Clone, Copy)]
enum Block<'a> {
    Rule,
    Build,
    Pool(&'a str),
    Other,
}

/// Returns whether the statement continues on the next line, because the line ends with an unescaped `$`.
fn continues(line: &str) -> bool {
    line.bytes().rev().take_while(|&byte| byte == b'$').count() % 2 == 1
}

/// Returns whether a line uses the variable `variable`.
fn uses(line: &str, variable: &str) -> bool {
    let mut rest = line.trim_start_matches(' ');
    if rest.starts_with('#') {
        return false;
    }
    while let Some(at) = rest.find('$') {
        let after = &rest[at + 1..];
        let name = after.strip_prefix('{').unwrap_or(after);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.strip_prefix(variable).is_some_and(|end| !end.starts_with(is_name)) {
            return true;
        }
        // An escaped `$` begins no variable.
        rest = after.strip_prefix('$').unwrap_or(after);
    }
    false
}

/// Returns the path in an `include` statement, or `None` if the path contains a variable.
fn unescaped(path: &str) -> Option<String> {
    let (mut found, mut rest) = (String::new(), path.chars());
    while let Some(c) = rest.next() {
        match c {
            '$' => found.push(rest.next().filter(|c| [' ', ':', '$'].contains(c))?),
            c => found.push(c),
        }
    }
    Some(found)
}

fn escaped(path: &Path) -> String {
    path.display().to_string().replace('$', "$$").replace(' ', "$ ").replace(':', "$:")
}

fn io(path: &Path, action: &'static str, error: std::io::Error) -> FormatError {
    FormatError::io(&path.display().to_string(), action, error)
}
