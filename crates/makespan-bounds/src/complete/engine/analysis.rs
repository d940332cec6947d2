//! Conflict analysis: the first unique implication point (J. P. Marques-Silva, K. A. Sakallah, DOI 10.1109/12.769433).

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Change, Engine, Literal, Step};

/// The factor by which the activity of a nogood decays at each conflict.
const DECAY: f64 = 0.999;
/// Maximum depth of the search for the literals that imply a literal.
const MAX_DEPTH: usize = 64;

/// Literals that together imply the conflict. There is at most one literal for each bound.
#[derive(Default)]
pub(super) struct Needs {
    of_bound: Vec<Option<Need>>,
    /// The bounds that have an entry in `of_bound`, or had one since the last call of `clear`.
    bounds: Vec<u32>,
    /// The changes of the trail that were examined. The value is true if the literals in `of_bound` imply the change.
    follows: FxHashMap<usize, bool>,
}

#[derive(Clone, Copy)]
struct Need {
    value: i64,
    /// The trail index of the change that made the literal true.
    at: usize,
}

impl Needs {
    fn clear(&mut self, bounds: usize) {
        self.of_bound.resize(bounds, None);
        self.bounds.drain(..).for_each(|bound| self.of_bound[bound as usize] = None);
        self.follows.clear();
    }

    /// Adds a literal. `at` is the index of the change that made the literal true. If the bound already has a literal,
    /// returns the index of the change that made this earlier literal true.
    fn add(&mut self, literal: Literal, at: usize) -> Option<usize> {
        let known = &mut self.of_bound[literal.bound as usize];
        let before = known.map(|need| need.at);
        if known.is_none_or(|need| need.value < literal.value) {
            *known = Some(Need { value: literal.value, at });
        }
        if before.is_none() {
            self.bounds.push(literal.bound);
        }
        before
    }

    /// Returns true if one of these literals implies the premise, and became true before the change `at`.
    fn imply(&self, premise: Literal, at: usize) -> bool {
        self.of_bound[premise.bound as usize].is_some_and(|need| need.value >= premise.value && need.at < at)
    }

    /// Returns all literals, each with the change that made it true. The latest change comes first.
    fn literals(&self) -> Vec<(usize, Literal)> {
        let literal = |&bound: &u32| {
            let need = self.of_bound[bound as usize]?;
            Some((need.at, Literal { bound, value: need.value }))
        };
        let mut all: Vec<(usize, Literal)> = self.bounds.iter().filter_map(literal).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.dedup();
        all
    }
}

impl Engine {
    /// Returns the index of the change that made a literal true, or `None` if the literal is true without any decision.
    fn decided_by(&self, literal: Literal) -> Option<usize> {
        self.made_by(literal).filter(|&at| self.trail[at].level > 0)
    }

    /// Adds a literal to `needs`, unless the literal is true without any decision. Returns true if the number of
    /// literals of the decision level `level` grows.
    fn need(&self, needs: &mut Needs, literal: Literal, level: usize) -> bool {
        let Some(at) = self.decided_by(literal) else { return false };
        let before = needs.add(literal, at);
        self.trail[at].level == level && before.is_none_or(|before| self.trail[before].level != level)
    }

    /// Learns a nogood from the current conflict, undoes decision levels, and applies the nogood. Returns false if the
    /// conflict follows without any decision, so there is no solution.
    pub(in crate::complete) fn learn(&mut self) -> bool {
        let mut needs = std::mem::take(&mut self.needs);
        needs.clear(self.bounds.len());
        let is_open = self.learn_from(&mut needs);
        self.needs = needs;
        is_open
    }

    fn learn_from(&mut self, needs: &mut Needs) -> bool {
        let levels = self.reason.iter().filter_map(|&literal| self.decided_by(literal)).map(|at| self.trail[at].level);
        let Some(level) = levels.max() else {
            self.log.nogood(&[], std::iter::once(self.reason_step));
            return false;
        };
        self.undo(level);
        let mut used = self.resolve(needs, level);
        let mut kept = self.minimise(needs, &mut used);
        kept.iter().for_each(|one| self.activity.bump(one.1));
        let mut levels: Vec<usize> = kept.iter().map(|one| self.trail[one.0].level).collect();
        // Watch the literal that became false last among all literals except the first. Then both watched literals are
        // open again after the search has undone decision levels.
        if let Some(at) = (1..kept.len()).max_by_key(|&at| (levels[at], std::cmp::Reverse(at))) {
            kept.swap(1, at);
        }
        let back = levels[1..].iter().copied().max().unwrap_or(0);
        levels.sort_unstable();
        levels.dedup();
        let literals: Vec<Literal> = kept.iter().map(|one| one.1.negated()).collect();
        used.sort_unstable();
        let steps = used.iter().map(|&at| self.trail[at].step).chain([self.reason_step]);
        self.log.nogood(&literals, steps);
        self.undo(back);
        let premises: Vec<Literal> = kept[1..].iter().map(|one| one.1).collect();
        let newest = self.clause_increment;
        let clause = self.add_clause(&literals, levels.len(), newest);
        let _ = self.set(literals[0], &premises, Step::Nogood { clause });
        self.activity.decay();
        self.clause_increment /= DECAY;
        if self.clause_increment > 1e20 {
            self.clauses.iter_mut().for_each(|clause| clause.activity *= 1e-20);
            self.clause_increment *= 1e-20;
        }
        true
    }

    /// Replaces literals by their premises, latest first, until a single literal of the decision level `level` is left.
    /// Returns the indices of the changes that made the replaced literals true.
    fn resolve(&mut self, needs: &mut Needs, level: usize) -> Vec<usize> {
        let mut of_level = 0;
        for &literal in &self.reason {
            of_level += usize::from(self.need(needs, literal, level));
        }
        let mut used = Vec::new();
        let mut at = self.trail.len();
        while at > 0 {
            at -= 1;
            let bound = self.trail[at].bound;
            let Some(Need { value, .. }) = needs.of_bound[bound as usize].filter(|need| need.at == at) else {
                continue;
            };
            self.activity.bump(Literal { bound, value });
            if of_level == 1 {
                break;
            }
            needs.of_bound[bound as usize] = None;
            of_level -= 1;
            used.push(at);
            if let Step::Nogood { clause } = self.trail[at].step {
                self.clauses[clause].activity += self.clause_increment;
            }
            for premise in self.trail[at].first..self.trail[at].end {
                of_level += usize::from(self.need(needs, self.premises[premise], level));
            }
        }
        used
    }

    /// Removes the literals that follow from other literals. Returns the literals that remain, each with the index of
    /// the change that made it true. The latest change comes first. Adds to `used` the changes that prove the removed
    /// literals.
    fn minimise(&self, needs: &mut Needs, used: &mut Vec<usize>) -> Vec<(usize, Literal)> {
        let all = needs.literals();
        let (mut kept, mut removed) = (Vec::new(), Vec::new());
        for (at, literal) in all {
            if !kept.is_empty() && self.follows(needs, at, MAX_DEPTH) {
                removed.push(at);
            } else {
                kept.push((at, literal));
            }
        }
        let mut is_used = FxHashSet::default();
        while let Some(at) = removed.pop() {
            if !is_used.insert(at) {
                continue;
            }
            used.push(at);
            let premises = &self.premises[self.trail[at].first..self.trail[at].end];
            let deeper = premises.iter().filter(|&&premise| !needs.imply(premise, at));
            removed.extend(deeper.filter_map(|&premise| self.decided_by(premise)));
        }
        kept
    }

    /// Returns true if the literals that became true before the change `at` imply this change (N. Sörensson, A. Biere,
    /// DOI 10.1007/978-3-642-02777-2_23).
    fn follows(&self, needs: &mut Needs, at: usize, depth: usize) -> bool {
        if let Some(&known) = needs.follows.get(&at) {
            return known;
        }
        let Change { first, end, step, .. } = self.trail[at];
        if depth == 0 || step == Step::Decision {
            return false;
        }
        let follows = (first..end).all(|premise| {
            let premise = self.premises[premise];
            needs.imply(premise, at)
                || self.decided_by(premise).is_none_or(|before| self.follows(needs, before, depth - 1))
        });
        needs.follows.insert(at, follows);
        follows
    }

    /// Adds to the log all changes that were made without any decision and are not in the log yet.
    pub(in crate::complete) fn record_root(&mut self) {
        if self.level() > 0 {
            return;
        }
        for at in self.log.root_changes..self.trail.len() {
            self.log.root(self.trail[at].step);
        }
        self.log.root_changes = self.trail.len();
    }

    /// Deletes the less active half of the nogoods that it may delete. Always keeps nogoods of at most two literals or
    /// at most two decision levels, and nogoods that are the reason of a change in the trail.
    pub(in crate::complete) fn forget(&mut self) {
        let mut is_reason = vec![false; self.clauses.len()];
        for change in &self.trail {
            if let Step::Nogood { clause } = change.step {
                is_reason[clause] = true;
            }
        }
        let is_weak = |&at: &usize| {
            let clause = &self.clauses[at];
            !clause.is_deleted && clause.levels > 2 && clause.length > 2 && !is_reason[at]
        };
        let mut weak: Vec<usize> = (0..self.clauses.len()).filter(is_weak).collect();
        weak.sort_by(|&a, &b| self.clauses[a].activity.total_cmp(&self.clauses[b].activity));
        for &at in &weak[..weak.len() / 2] {
            self.clauses[at].is_deleted = true;
        }
    }
}
