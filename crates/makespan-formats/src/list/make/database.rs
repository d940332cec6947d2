//! The targets that make knows, from what it prints with `--print-data-base`.

use rustc_hash::{FxHashMap, FxHashSet};

/// What make knows of a file.
#[derive(Default)]
pub(super) struct Database<'a> {
    targets: FxHashMap<&'a str, Target<'a>>,
    /// Patterns with a variable each, in the order in which make gives them to a target.
    patterns: Vec<(&'a str, Variable<'a>)>,
    /// The target whose recipe makes a file that is no target of its own.
    made_with: FxHashMap<&'a str, &'a str>,
    /// The goal that make takes if none is asked for.
    goal: Option<&'a str>,
}

/// What make knows of a target.
#[derive(Default)]
pub(super) struct Target<'a> {
    /// What it needs, in order.
    pub(super) needs: Vec<&'a str>,
    /// What is only made before it, which is written behind `|`.
    only_before: Vec<&'a str>,
    pub(super) is_phony: bool,
    /// Whether a rule found it between two others.
    is_intermediate: bool,
    /// The lines of its recipe before variables are expanded.
    pub(super) recipe: Option<String>,
    /// The variables that hold for it and for what it needs.
    pub(super) variables: Vec<Variable<'a>>,
}

/// A variable of a target or of a pattern.
#[derive(Clone, Copy)]
pub(super) struct Variable<'a> {
    /// Such as `CFLAGS += -g`.
    pub(super) definition: &'a str,
    /// The makefile and the line.
    pub(super) place: Option<(&'a str, usize)>,
    pub(super) is_private: bool,
    pub(super) is_override: bool,
    pub(super) printed: Printed,
}

/// How make prints a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Printed {
    AsStated,
    /// On several lines, whose end cannot be told.
    OnLines,
    /// Of a pattern: as if it had been stated with `:=`, with `$$` for each `$`.
    ByPattern,
}

impl<'a> Variable<'a> {
    pub(super) fn name(&self) -> &'a str {
        self.definition.split([' ', '=']).next().unwrap_or_default()
    }
}

impl<'a> Database<'a> {
    /// Reads what make has printed; `None` where it has no database.
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
                if variable.printed == Printed::AsStated {
                    variable.printed = Printed::ByPattern;
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
                for other in others.split_whitespace() {
                    self.made_with.extend(last.map(|target| (other, target)));
                }
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
                let is_definition_that_goes_on =
                    |target: &str| found.as_ref().is_none_or(|(named, ..)| *named != target);
                if let Some(target) = has_definition_before.filter(|target| is_definition_that_goes_on(target)) {
                    let variable = self.targets.get_mut(target).and_then(|target| target.variables.last_mut());
                    variable.into_iter().for_each(|variable| variable.printed = Printed::OnLines);
                    defined = Some(target);
                    continue;
                }
                let found = found.filter(|_| !std::mem::take(&mut skipped));
                last = found.as_ref().map(|(target, ..)| *target);
                if let Some((target, needs, only_before)) = found {
                    let target = self.targets.entry(target).or_default();
                    target.needs.extend(needs.split_whitespace());
                    target.only_before.extend(only_before.split_whitespace());
                }
            }
        }
    }

    pub(super) fn get(&self, target: &str) -> Option<&Target<'a>> {
        self.targets.get(target)
    }

    /// The targets in the order of their names.
    pub(super) fn targets(&self) -> Vec<(&'a str, &Target<'a>)> {
        let mut targets: Vec<_> = self.targets.iter().map(|(name, target)| (*name, target)).collect();
        targets.sort_unstable_by_key(|(name, _)| *name);
        targets
    }

    pub(super) fn patterns(&self) -> &[(&'a str, Variable<'a>)] {
        &self.patterns
    }

    /// The target whose recipe makes a file.
    fn maker(&self, file: &'a str) -> &'a str {
        self.made_with.get(file).copied().unwrap_or(file)
    }

    /// All that make looks at for its goal, and for these targets from the last on where that does not lead to them, as it does without `--jobs`: each target behind all that it
    /// needs, with the target for which make came to it first.
    pub(super) fn order(&self, goal: Option<&'a str>, targets: &[&'a str]) -> Vec<(&'a str, Option<&'a str>)> {
        let (mut seen, mut order) = (FxHashSet::default(), Vec::new());
        let goal = goal.or(self.goal).filter(|goal| self.targets.contains_key(goal));
        for root in goal.iter().chain(targets.iter().rev()).copied() {
            if !seen.insert(root) {
                continue;
            }
            let mut open = vec![(root, None, 0)];
            while let Some((target, parent, at)) = open.last_mut() {
                let known = self.targets.get(*target);
                let mut needs = known.into_iter().flat_map(|known| known.needs.iter().chain(&known.only_before));
                let (target, parent) = (*target, *parent);
                if let Some(&next) = needs.nth(*at) {
                    *at += 1;
                    for one in [self.maker(next), next] {
                        if seen.insert(one) {
                            open.push((one, Some(target), 0));
                        }
                    }
                } else {
                    order.push((target, parent));
                    open.pop();
                }
            }
        }
        order
    }

    /// The targets with a recipe that are not among these and whose files may have to be made after those of these, in order. A dry
    /// run does not see them where a recipe consists of calls of make alone.
    pub(super) fn followers(&self, order: &[(&'a str, Option<&'a str>)], updated: &FxHashSet<&'a str>) -> Vec<&'a str> {
        let (mut changed, mut followers) = (updated.clone(), Vec::new());
        for &(name, _) in order {
            let Some(target) = self.targets.get(name).filter(|_| !changed.contains(name)) else { continue };
            if target.needs.iter().any(|need| changed.contains(need) || changed.contains(self.maker(need))) {
                changed.insert(name);
                if target.recipe.is_some() && !target.is_intermediate {
                    followers.push(name);
                }
            }
        }
        followers
    }

    /// The numbers of the targets that are updated before one is, as far as nothing that is updated stands between, ascending.
    pub(super) fn waited_for(&self, target: &str, numbers: &FxHashMap<&str, usize>) -> Vec<usize> {
        let needs = |target: &str| {
            let target = self.targets.get(target).into_iter();
            target.flat_map(|target| target.needs.iter().chain(&target.only_before)).copied()
        };
        let own = numbers.get(target).copied();
        let (mut open, mut seen) = (needs(target).collect::<Vec<&str>>(), FxHashSet::default());
        let mut found = Vec::new();
        while let Some(one) = open.pop() {
            if !seen.insert(one) {
                continue;
            }
            match numbers.get(one).or_else(|| numbers.get(self.maker(one))) {
                Some(&number) => found.push(number),
                None => open.extend(needs(one)),
            }
        }
        found.retain(|&number| Some(number) != own);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The variables that a target has from the targets for which make comes to it, outermost first.
    pub(super) fn inherited(&self, target: &str, parents: &FxHashMap<&'a str, &'a str>) -> Vec<Variable<'a>> {
        let mut around = Vec::new();
        let mut inner = target;
        while let Some(&outer) = parents.get(inner) {
            around.push(outer);
            inner = outer;
        }
        let of = |target: &&'a str| {
            let target = *target;
            let by_pattern = self.patterns.iter().filter(move |(pattern, _)| fits(pattern, target));
            let own = self.targets.get(target).into_iter().flat_map(|target| &target.variables);
            by_pattern.map(|(_, variable)| *variable).chain(own.copied())
        };
        around.iter().rev().flat_map(of).filter(|variable| !variable.is_private).collect()
    }
}

/// Where a variable is from, as the line in front of it says.
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
        let printed = if definition.starts_with("define ") { Printed::OnLines } else { Printed::AsStated };
        Variable { definition, place, is_private, is_override, printed }
    }
}

/// Whether a pattern such as `%.o` fits a name.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((front, back)) = pattern.split_once('%') else { return pattern == name };
    name.len() > front.len() + back.len() && name.starts_with(front) && name.ends_with(back)
}

/// A line such as `a: b c | d`: the target, what it needs, and what is only made before it. What stands in front of a colon that
/// begins `:=` is a variable.
fn rule(line: &str) -> Option<(&str, &str, &str)> {
    let (target, rest) = line.split_once(": ").or_else(|| line.strip_suffix(':').map(|target| (target, "")))?;
    let target = target.strip_suffix(':').unwrap_or(target);
    if target.is_empty() || target.contains([' ', '=']) {
        return None;
    }
    let (needs, only_before) = rest.split_once('|').unwrap_or((rest, ""));
    Some((target, needs, only_before))
}
