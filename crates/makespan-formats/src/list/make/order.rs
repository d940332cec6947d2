//! In which order make comes to targets, and which of them wait for which.

use rustc_hash::{FxHashMap, FxHashSet};

use super::database::{Database, Target, Variable, fits};

/// What make does with a file that a target needs.
#[derive(Clone, Copy)]
enum Step<'a> {
    Update(&'a str),
    /// Updates what the file needs, but not the file.
    LookThrough(&'a str),
    /// Sees that the file is there, and updates it only the next time.
    Leave(&'a str),
}

/// In which order make comes to targets.
#[derive(Default)]
pub(super) struct Order<'a> {
    /// Each target to which make comes, with the number of what it comes from. It may come to one for two reasons in turn, and what it
    /// meets in between comes from the first.
    visits: Vec<(&'a str, Option<usize>)>,
    /// The visits in which targets are updated, each behind those of all that it needs.
    updated: Vec<usize>,
}

impl<'a> Order<'a> {
    fn come_to(&mut self, target: &'a str, from: Option<usize>) -> usize {
        self.visits.push((target, from));
        self.visits.len() - 1
    }

    /// The targets, each behind all that it needs.
    pub(super) fn targets(&self) -> impl Iterator<Item = &'a str> {
        self.updated.iter().map(|&visit| self.visits[visit].0)
    }

    /// What make came from when it updated each target.
    pub(super) fn origins(&self) -> FxHashMap<&'a str, Option<usize>> {
        self.updated.iter().map(|&visit| self.visits[visit]).collect()
    }

    /// The targets from which make came, innermost first.
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
    /// All that make looks at for its goal, and for these targets from the last on where that does not lead to them, as it does
    /// without `--jobs`.
    pub(super) fn order(&self, goal: Option<&'a str>, targets: &[&'a str]) -> Order<'a> {
        let (mut seen, mut looked, mut noticed) = (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        let mut order = Order::default();
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

    /// What make does before it makes a target: it updates all that the target needs, but looks through intermediate files that are missing
    /// first, and updates these last.
    fn steps_of(&self, target: &str) -> Vec<Step<'a>> {
        let needs: Vec<&str> = self.get(target).into_iter().flat_map(Target::all_before).collect();
        let missing = needs.iter().filter(|need| self.is_missing(need)).map(|need| Step::Update(need));
        let first =
            needs.iter().map(|need| if self.is_missing(need) { Step::LookThrough(need) } else { Step::Update(need) });
        first.chain(missing).collect()
    }

    /// What make does when it looks through a missing intermediate file: those that are there and said to be intermediate it leaves, once.
    fn steps_through(&self, target: &str) -> Vec<Step<'a>> {
        let needs = self.get(target).into_iter().flat_map(Target::all_before);
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

    /// The targets with a recipe that are not among these and whose files may have to be made after those of these, in order. A dry
    /// run does not see them where a recipe consists of calls of make alone.
    pub(super) fn followers(&self, order: &Order<'a>, updated: &FxHashSet<&'a str>) -> Vec<&'a str> {
        let (mut changed, mut followers) = (updated.clone(), Vec::new());
        for name in order.targets() {
            let Some(target) = self.get(name).filter(|_| !changed.contains(name)) else { continue };
            let is_changed = |need: &str| self.together(need).any(|one| changed.contains(one));
            // What is made with it runs its recipe.
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

    /// The files that are made before a target is, as far as nothing that is made stands between, each with the number of the target
    /// whose recipe makes it; by ascending numbers.
    pub(super) fn waited_for(&self, target: &str, numbers: &FxHashMap<&str, usize>) -> Vec<(usize, &'a str)> {
        let needs = |target: &str| self.get(target).into_iter().flat_map(Target::all_before);
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

    /// The variables that a target has from the targets from which make comes to it, outermost first.
    pub(super) fn inherited(&self, order: &Order<'a>, origin: Option<usize>) -> Vec<Variable<'a>> {
        let around = order.around(origin);
        let of = |target: &&'a str| {
            let target = *target;
            let by_pattern = self.patterns().iter().filter(move |(pattern, _)| fits(pattern, target));
            let own = self.get(target).into_iter().flat_map(|target| &target.variables);
            by_pattern.map(|(_, variable)| *variable).chain(own.copied())
        };
        let mut overridden = FxHashSet::default();
        let stated = around.iter().rev().flat_map(of).filter(|variable| !variable.is_private);
        // All are stated for one target here, where what overrides would hide what an inner target states.
        let above = |variable: Variable<'a>| {
            let is_override = variable.is_override || overridden.contains(variable.name());
            overridden.extend(is_override.then_some(variable.name()));
            Variable { is_override, ..variable }
        };
        stated.map(above).collect()
    }
}
