//! Finds the order in which make considers targets, and the dependencies between them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::database::{Database, TargetData, Variable, fits};

/// Action of make for a prerequisite of a target.
#[derive(Clone, Copy)]
enum Step<'a> {
    Update(&'a str),
    /// Updates the prerequisites of a file, but not the file itself.
    LookThrough(&'a str),
    /// Checks only that the file exists. If this step occurs again for the same file, make updates the file.
    Leave(&'a str),
}

/// Order in which make considers targets.
#[derive(Default)]
pub(super) struct TargetOrder<'a> {
    /// Visits of targets in order. Each visit consists of the target and the index of the visit during which make
    /// found this target. Make may visit a target several times: first to look through it, and later to update it.
    /// Targets found while looking through a target refer to the first of these visits.
    visits: Vec<(&'a str, Option<usize>)>,
    /// Indices of the visits that update their target. The visit of a target comes after the visits of all its
    /// prerequisites.
    updated: Vec<usize>,
}

impl<'a> TargetOrder<'a> {
    fn come_to(&mut self, target: &'a str, from: Option<usize>) -> usize {
        self.visits.push((target, from));
        self.visits.len() - 1
    }

    /// Returns the targets in an order in which each target comes after all its prerequisites.
    pub(super) fn targets(&self) -> impl Iterator<Item = &'a str> {
        self.updated.iter().map(|&visit| self.visits[visit].0)
    }

    /// Returns the visit from which make reached each updated target.
    pub(super) fn origins(&self) -> FxHashMap<&'a str, Option<usize>> {
        self.updated.iter().map(|&visit| self.visits[visit]).collect()
    }

    /// Returns the targets on the way from the visit `origin` up to the root, beginning with the target of `origin`.
    fn around(&self, mut origin: Option<usize>) -> Vec<&'a str> {
        let mut around = Vec::new();
        while let Some(visit) = origin {
            around.push(self.visits[visit].0);
            origin = self.visits[visit].1;
        }
        around
    }
}

impl<'a> Database<'a> {
    /// Returns the order in which make considers targets in a serial build. The order begins with the goal and the
    /// targets that make reaches from the goal. The other members of `targets` follow, the last member first.
    pub(super) fn order(&self, goal: Option<&'a str>, targets: &[&'a str]) -> TargetOrder<'a> {
        let (mut seen, mut looked, mut noticed) = (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        let mut order = TargetOrder::default();
        let goal = goal.or(self.goal).filter(|goal| self.get(goal).is_some());
        for root in goal.iter().chain(targets.iter().rev()).copied() {
            if !seen.insert(root) {
                continue;
            }
            let mut open = vec![(order.come_to(root, None), true, self.steps_of(root).into_iter())];
            while let Some((visit, is_update, steps)) = open.last_mut() {
                let from = Some(*visit);
                match steps.next() {
                    Some(Step::Leave(next)) if noticed.insert(next) => {}
                    Some(Step::Update(next) | Step::Leave(next)) => {
                        for one in self.together(next).filter(|one| *one != next).chain([next]) {
                            if seen.insert(one) {
                                open.push((order.come_to(one, from), true, self.steps_of(one).into_iter()));
                            }
                        }
                    }
                    Some(Step::LookThrough(next)) => {
                        if !seen.contains(next) && looked.insert(next) {
                            open.push((order.come_to(next, from), false, self.steps_through(next).into_iter()));
                        }
                    }
                    None => {
                        order.updated.extend(is_update.then_some(*visit));
                        open.pop();
                    }
                }
            }
        }
        order
    }

    /// Returns the actions of make before it makes a target. Make updates all prerequisites. For a missing
    /// intermediate file, make first updates only the prerequisites of this file, and updates the file itself at the
    /// end.
    fn steps_of(&self, target: &str) -> Vec<Step<'a>> {
        let needs: Vec<&str> = self.get(target).into_iter().flat_map(TargetData::all_before).collect();
        let missing = needs.iter().filter(|need| self.is_missing(need)).map(|need| Step::Update(need));
        let first =
            needs.iter().map(|need| if self.is_missing(need) { Step::LookThrough(need) } else { Step::Update(need) });
        first.chain(missing).collect()
    }

    /// Returns the actions of make when it looks through a missing intermediate file. Some prerequisites exist and are
    /// declared as intermediate. Make checks these prerequisites, but does not update them.
    fn steps_through(&self, target: &str) -> Vec<Step<'a>> {
        let needs = self.get(target).into_iter().flat_map(TargetData::all_before);
        let step = |need| match () {
            () if self.is_missing(need) => Step::LookThrough(need),
            () if self.is_said_intermediate(need) => Step::Leave(need),
            () => Step::Update(need),
        };
        needs.map(step).collect()
    }

    fn is_missing(&self, file: &str) -> bool {
        self.get(file).is_some_and(|target| target.is_intermediate && !target.is_phony)
    }

    fn is_said_intermediate(&self, file: &str) -> bool {
        let is_phony = self.get(file).is_some_and(|target| target.is_phony);
        let is_in = |special| self.get(special).is_some_and(|special| special.needs.contains(&file));
        !is_phony && (self.is_for_all(".SECONDARY") || is_in(".SECONDARY") || is_in(".INTERMEDIATE"))
    }

    /// Returns the targets that are not in `updated`, but may have to be made after targets in `updated`. Only targets
    /// with a recipe are returned, in the order of make. A dry run may omit these targets. For example, if the recipe
    /// of a file only calls make recursively, the dry run does not list the targets that need this file.
    pub(super) fn followers(&self, order: &TargetOrder<'a>, updated: &FxHashSet<&'a str>) -> Vec<&'a str> {
        let (mut changed, mut followers) = (updated.clone(), Vec::new());
        for name in order.targets() {
            let Some(target) = self.get(name).filter(|_| !changed.contains(name)) else { continue };
            let is_changed = |need: &str| self.together(need).any(|one| changed.contains(one));
            // If another file of the group is made, the same recipe makes this file.
            let is_made = is_changed(name);
            if is_made || target.needs.iter().any(|need| is_changed(need)) {
                changed.insert(name);
                if !is_made && target.recipe.is_some() && !target.is_intermediate {
                    followers.push(name);
                }
            }
        }
        followers
    }

    /// Returns the files that must be made before a target. Each file is preceded by the number of the target with the
    /// recipe for the file. The numbers are in ascending order. The search for prerequisites stops at each file that
    /// is made.
    pub(super) fn waited_for(&self, target: &str, numbers: &FxHashMap<&str, usize>) -> Vec<(usize, &'a str)> {
        let needs = |target: &str| self.get(target).into_iter().flat_map(TargetData::all_before);
        let own = numbers.get(target).copied();
        let (mut open, mut seen) = (needs(target).collect::<Vec<&str>>(), FxHashSet::default());
        let mut found = Vec::new();
        while let Some(one) = open.pop() {
            if !seen.insert(one) {
                continue;
            }
            match self.together(one).find_map(|maker| numbers.get(maker)) {
                Some(&number) => found.push((number, one)),
                None => open.extend(needs(one)),
            }
        }
        found.retain(|&(number, _)| Some(number) != own);
        found.sort_unstable();
        found
    }

    /// Returns the variables that a target inherits from the chain of targets that led make to this target. The
    /// variables of the outermost target come first.
    pub(super) fn inherited(&self, order: &TargetOrder<'a>, origin: Option<usize>) -> Vec<Variable<'a>> {
        let around = order.around(origin);
        let of = |target: &&'a str| {
            let target = *target;
            let by_pattern = self.patterns().iter().filter(move |(pattern, _)| fits(pattern, target));
            let own = self.get(target).into_iter().flat_map(|target| &target.variables);
            by_pattern.map(|(_, variable)| *variable).chain(own.copied())
        };
        let mut overridden = FxHashSet::default();
        let stated = around.iter().rev().flat_map(of).filter(|variable| !variable.is_private);
        // All these variables are defined for one target. Make would ignore a definition without `override` after a
        // definition with `override`. So each later definition also gets `override`.
        let above = |variable: Variable<'a>| {
            let is_override = variable.is_override || overridden.contains(variable.name());
            overridden.extend(is_override.then_some(variable.name()));
            Variable { is_override, ..variable }
        };
        stated.map(above).collect()
    }
}
