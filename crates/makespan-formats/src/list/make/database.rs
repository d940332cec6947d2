//! Reads the database of make, which `make --print-data-base` prints.

use rustc_hash::FxHashMap;

/// Data about files and variables, as make prints them.
#[derive(Default)]
pub(super) struct Database<'a> {
    targets: FxHashMap<&'a str, TargetData<'a>>,
    /// Variables for patterns, each with its pattern, in the order in which make applies them to a target.
    patterns: Vec<(&'a str, Variable<'a>)>,
    /// For each file of a group, the group: the files that one recipe creates together.
    groups: FxHashMap<&'a str, Vec<&'a str>>,
    /// Goal that make chooses if the user states none.
    pub(super) goal: Option<&'a str>,
}

/// Data about a target, as make prints them.
#[derive(Default)]
pub(super) struct TargetData<'a> {
    /// Prerequisites, in their order.
    pub(super) needs: Vec<&'a str>,
    /// Order-only prerequisites, which are written after `|`.
    only_before: Vec<&'a str>,
    pub(super) is_phony: bool,
    /// True if the target has double-colon rules (`::`).
    pub(super) is_double_colon: bool,
    /// True if the target is missing, and make creates the target only for another target that must be remade.
    pub(super) is_intermediate: bool,
    /// Lines of the recipe before the expansion of variables.
    pub(super) recipe: Option<String>,
    /// Variables that the target and its prerequisites use.
    pub(super) variables: Vec<Variable<'a>>,
}

impl<'a> TargetData<'a> {
    /// Returns all prerequisites, including order-only prerequisites.
    pub(super) fn all_before(&self) -> impl Iterator<Item = &'a str> {
        self.needs.iter().chain(&self.only_before).copied()
    }
}

/// A variable of a target or of a pattern.
#[derive(Clone, Copy)]
pub(super) struct Variable<'a> {
    /// Definition, such as `CFLAGS += -g`.
    pub(super) definition: &'a str,
    /// Makefile and line of the definition.
    pub(super) place: Option<(&'a str, usize)>,
    pub(super) is_private: bool,
    pub(super) is_override: bool,
    pub(super) printed: VariableForm,
}

/// Form in which make prints a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum VariableForm {
    AsStated,
    /// On several lines. The last of these lines cannot be recognised.
    OnLines,
    /// As a definition with `:=` for a pattern, with `$$` for each `$`.
    ByPattern,
}

impl<'a> Variable<'a> {
    pub(super) fn name(&self) -> &'a str {
        self.definition.split([' ', '=']).next().unwrap_or_default()
    }
}

impl<'a> Database<'a> {
    /// Reads the output of make. Returns `None` if the output contains no database.
    pub(super) fn read(printed: &'a str) -> Option<Self> {
        let (before, files) = printed.rsplit_once("\n# Files\n")?;
        let goal = before.lines().rev().find_map(|line| line.strip_prefix(".DEFAULT_GOAL := "));
        let mut database = Self { goal, ..Self::default() };
        if let Some((_, patterns)) = before.rsplit_once("\n# Pattern-specific Variable Values\n") {
            database.read_patterns(patterns.split("\n# Directories\n").next().unwrap_or_default());
        }
        database.read_files(files);
        Some(database)
    }

    fn read_patterns(&mut self, text: &'a str) {
        let (mut pattern, mut origin) = (None, None);
        for line in text.lines() {
            if let Some(found) = line.strip_suffix(" :") {
                pattern = Some(found);
            } else if let Some(found) = Origin::of(line) {
                origin = Some(found);
            } else if let (Some(pattern), Some(origin), Some(definition)) =
                (pattern, origin.take(), line.strip_prefix("# "))
            {
                let mut variable = origin.variable(definition);
                if variable.printed == VariableForm::AsStated {
                    variable.printed = VariableForm::ByPattern;
                }
                self.patterns.push((pattern, variable));
            }
        }
    }

    fn read_files(&mut self, text: &'a str) {
        let (mut last, mut skipped, mut origin, mut defined) = (None, false, None, None);
        for line in text.lines() {
            let has_definition_before = defined.take();
            if line == "# Not a target:" {
                skipped = true;
            } else if let Some(found) = Origin::of(line) {
                origin = Some(found);
            } else if let Some(others) = line.strip_prefix("#  Also makes: ") {
                // A group that make prints for a target includes the target, unless the group is from a pattern rule.
                let group: Vec<&str> = last.into_iter().chain(others.split_whitespace()).collect();
                self.groups.extend(group.iter().map(|one| (*one, group.clone())));
            } else if line.starts_with('#') {
                origin = None;
                let Some(target) = last.and_then(|last| self.targets.get_mut(last)) else { continue };
                match line {
                    "#  File is an intermediate prerequisite." => target.is_intermediate = true,
                    _ if line.starts_with("#  Phony target") => target.is_phony = true,
                    _ if line.starts_with("#  recipe to execute") => target.recipe = Some(String::new()),
                    _ => {}
                }
            } else if let Some(recipe) = line.strip_prefix('\t') {
                let target = last.and_then(|last| self.targets.get_mut(last));
                if let Some(lines) = target.and_then(|target| target.recipe.as_mut()) {
                    *lines += recipe;
                    lines.push('\n');
                }
            } else if let Some(origin) = origin.take() {
                let Some((target, definition)) = line.split_once(": ") else { continue };
                self.targets.entry(target).or_default().variables.push(origin.variable(definition));
                defined = Some(target);
            } else if !line.is_empty() {
                let found = rule(line);
                let is_definition_that_goes_on = |target: &str| found.as_ref().is_none_or(|rule| rule.target != target);
                if let Some(target) = has_definition_before.filter(|target| is_definition_that_goes_on(target)) {
                    let variable = self.targets.get_mut(target).and_then(|target| target.variables.last_mut());
                    variable.into_iter().for_each(|variable| variable.printed = VariableForm::OnLines);
                    defined = Some(target);
                    continue;
                }
                let found = found.filter(|_| !std::mem::take(&mut skipped));
                last = found.as_ref().map(|rule| rule.target);
                if let Some(rule) = found {
                    let target = self.targets.entry(rule.target).or_default();
                    target.needs.extend(rule.needs.split_whitespace());
                    target.only_before.extend(rule.only_before.split_whitespace());
                    target.is_double_colon |= rule.is_double_colon;
                }
            }
        }
    }

    pub(super) fn get(&self, target: &str) -> Option<&TargetData<'a>> {
        self.targets.get(target)
    }

    /// Returns the targets in the order of their names.
    pub(super) fn targets(&self) -> Vec<(&'a str, &TargetData<'a>)> {
        let mut targets: Vec<_> = self.targets.iter().map(|(name, target)| (*name, target)).collect();
        targets.sort_unstable_by_key(|(name, _)| *name);
        targets
    }

    pub(super) fn patterns(&self) -> &[(&'a str, Variable<'a>)] {
        &self.patterns
    }

    /// Returns the file, followed by the files that the same recipe creates.
    pub(super) fn together(&self, file: &'a str) -> impl Iterator<Item = &'a str> {
        let group = self.groups.get(file).map(Vec::as_slice).unwrap_or_default();
        std::iter::once(file).chain(group.iter().copied().filter(move |one| *one != file))
    }

    /// Returns whether a special target such as `.SILENT` affects all targets. A special target without prerequisites
    /// affects all targets.
    pub(super) fn is_for_all(&self, special: &str) -> bool {
        self.get(special).is_some_and(|special| special.needs.is_empty())
    }

    /// Returns whether make treats a file as intermediate. Either the file is missing and is between two other files
    /// in a chain of rules, or the makefile declares the file as intermediate.
    pub(super) fn is_intermediate(&self, file: &str) -> bool {
        let is_said = |said: &TargetData<'a>| said.needs.contains(&file);
        self.get(file).is_some_and(|target| target.is_intermediate) || self.get(".INTERMEDIATE").is_some_and(is_said)
    }
}

/// Origin of a variable, as stated on the line before its definition.
struct Origin<'a> {
    place: Option<(&'a str, usize)>,
    is_private: bool,
    is_override: bool,
}

impl<'a> Origin<'a> {
    fn of(line: &'a str) -> Option<Self> {
        const ORIGINS: [&str; 6] =
            ["automatic", "default", "environment", "makefile", "command line", "'override' directive"];
        let text = line.strip_prefix("# ")?;
        let origin = ORIGINS.into_iter().find(|origin| text.starts_with(origin))?;
        let rest = text[origin.len()..].trim_start_matches(" under -e");
        let place = rest.strip_prefix(" private").unwrap_or(rest);
        let found = match place.strip_prefix(" (from '") {
            Some(place) => {
                let (file, line) = place.strip_suffix(')')?.rsplit_once("', line ")?;
                Some((file, line.parse().ok()?))
            }
            None if place.is_empty() => None,
            None => return None,
        };
        let is_override = origin == ORIGINS[5];
        Some(Self { place: found, is_private: rest.len() > place.len(), is_override })
    }

    fn variable(self, definition: &'a str) -> Variable<'a> {
        let Self { place, is_private, is_override } = self;
        let printed = if definition.starts_with("define ") { VariableForm::OnLines } else { VariableForm::AsStated };
        Variable { definition, place, is_private, is_override, printed }
    }
}

/// Returns whether a pattern such as `%.o` matches a name.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let Some((front, back)) = pattern.split_once('%') else { return pattern == name };
    name.len() > front.len() + back.len() && name.starts_with(front) && name.ends_with(back)
}

/// Rule of the form `a: b c | d`.
struct Rule<'a> {
    target: &'a str,
    needs: &'a str,
    only_before: &'a str,
    is_double_colon: bool,
}

/// Reads a rule, or returns `None` for other lines. A line with `:=` defines a variable.
fn rule(line: &str) -> Option<Rule<'_>> {
    let (front, rest) = line.split_once(": ").or_else(|| line.strip_suffix(':').map(|target| (target, "")))?;
    let target = front.strip_suffix(':').unwrap_or(front);
    if target.is_empty() || target.contains([' ', '=']) {
        return None;
    }
    let (needs, only_before) = rest.split_once('|').unwrap_or((rest, ""));
    Some(Rule { target, needs, only_before, is_double_colon: target.len() < front.len() })
}
