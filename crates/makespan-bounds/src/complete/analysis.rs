//! Conflict analysis: the first unique implication point (J. P. Marques-Silva, K. A. Sakallah, DOI 10.1109/12.769433).

use super::engine::{Engine, Literal, Step};

/// The factor by which activities of nogoods decay at each conflict.
const DECAY: f64 = 0.999;

/// Literals that together lead to the conflict, at most one for each bound.
struct Needs {
    of_bound: Vec<Option<i64>>,
    bounds: Vec<u32>,
}

impl Needs {
    fn add(&mut self, literal: Literal) {
        let value = &mut self.of_bound[literal.bound as usize];
        if value.is_none() {
            self.bounds.push(literal.bound);
        }
        *value = Some(value.map_or(literal.value, |known| known.max(literal.value)));
    }

    fn remove(&mut self, bound: u32) {
        self.of_bound[bound as usize] = None;
        self.bounds.retain(|other| *other != bound);
    }

    fn literals(&self) -> impl Iterator<Item = Literal> + '_ {
        self.bounds.iter().filter_map(|&bound| Some(Literal { bound, value: self.of_bound[bound as usize]? }))
    }
}

impl Engine {
    /// Returns the change that made a literal true by a decision, or `None` if it holds without any decision.
    fn decided_by(&self, literal: Literal) -> Option<usize> {
        self.made_by(literal).filter(|&at| self.trail[at].level > 0)
    }

    /// Adds a literal that does not hold without any decision.
    fn need(&self, needs: &mut Needs, literal: Literal) {
        if self.decided_by(literal).is_some() {
            needs.add(literal);
        }
    }

    fn level_of(&self, literal: Literal) -> usize {
        self.made_by(literal).map_or(0, |at| self.trail[at].level)
    }

    /// Learns a nogood from the current conflict, undoes levels, and applies the nogood. Returns false if the conflict
    /// depends on no decision, so that nothing is left.
    pub(super) fn learn(&mut self) -> bool {
        let mut needs = Needs { of_bound: vec![None; self.bounds.len()], bounds: Vec::new() };
        let reason = std::mem::take(&mut self.reason);
        reason.iter().for_each(|&literal| self.need(&mut needs, literal));
        self.reason = reason;
        if needs.bounds.is_empty() {
            self.log.nogood(&[], &[self.reason_step], &self.clauses);
            return false;
        }
        let level = needs.literals().map(|literal| self.level_of(literal)).max().unwrap_or(0);
        self.undo(level);
        let mut used = self.resolve(&mut needs, level);
        let mut kept = self.minimise(&needs, &mut used);
        kept.iter().for_each(|one| self.activity.bump(one.1));
        let mut levels: Vec<usize> = kept.iter().map(|one| self.trail[one.0].level).collect();
        // The second literal is one that became true last, so that the watched literals are open until then.
        if let Some(at) = (1..kept.len()).max_by_key(|&at| (levels[at], std::cmp::Reverse(at))) {
            kept.swap(1, at);
        }
        let back = levels[1..].iter().copied().max().unwrap_or(0);
        levels.sort_unstable();
        levels.dedup();
        let literals: Vec<Literal> = kept.iter().map(|one| one.1.negated()).collect();
        used.sort_unstable();
        let steps: Vec<Step> = used.iter().map(|&at| self.trail[at].step).chain([self.reason_step]).collect();
        let id = self.log.nogood(&literals, &steps, &self.clauses);
        self.undo(back);
        let premises: Vec<Literal> = kept[1..].iter().map(|one| one.1).collect();
        let newest = self.clause_increment;
        let clause = self.add_clause(&literals, levels.len(), id, newest);
        let _ = self.set(literals[0], &premises, Step::Nogood { clause });
        self.activity.decay();
        self.clause_increment /= DECAY;
        if self.clause_increment > 1e20 {
            self.clauses.iter_mut().for_each(|clause| clause.activity *= 1e-20);
            self.clause_increment *= 1e-20;
        }
        true
    }

    /// Replaces literals by their premises, latest first, until one literal of the level is left. Returns the changes
    /// that were replaced.
    fn resolve(&mut self, needs: &mut Needs, level: usize) -> Vec<usize> {
        let mut used = Vec::new();
        let mut at = self.trail.len();
        while at > 0 {
            at -= 1;
            let (bound, old) = (self.trail[at].bound, self.trail[at].old);
            let Some(value) = needs.of_bound[bound as usize].filter(|&value| value > old) else { continue };
            self.activity.bump(Literal { bound, value });
            let of_level = needs.literals().filter(|&literal| self.level_of(literal) == level);
            if of_level.take(2).count() == 1 {
                break;
            }
            needs.remove(bound);
            used.push(at);
            if let Step::Nogood { clause } = self.trail[at].step {
                self.clauses[clause].activity += self.clause_increment;
            }
            for premise in self.trail[at].first..self.trail[at].end {
                let literal = self.premises[premise];
                self.need(needs, literal);
            }
        }
        used
    }

    /// Returns the literals that do not follow from the other ones, latest first, each with its change. Adds the changes
    /// of the other literals to `used`.
    fn minimise(&self, needs: &Needs, used: &mut Vec<usize>) -> Vec<(usize, Literal)> {
        let mut all: Vec<(usize, Literal)> =
            needs.literals().filter_map(|literal| Some((self.made_by(literal)?, literal))).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        let mut kept = Vec::new();
        for (at, literal) in all {
            let change = &self.trail[at];
            let follows = |&premise: &Literal| {
                self.decided_by(premise).is_none()
                    || needs.of_bound[premise.bound as usize].is_some_and(|value| {
                        value >= premise.value
                            && self.made_by(Literal { bound: premise.bound, value }).is_some_and(|made| made < at)
                    })
            };
            let is_derived = change.step != Step::Decision && change.first < change.end;
            if !kept.is_empty() && is_derived && self.premises[change.first..change.end].iter().all(follows) {
                used.push(at);
            } else {
                kept.push((at, literal));
            }
        }
        kept
    }

    /// Records all changes of the root state that are not recorded yet.
    pub(super) fn record_root(&mut self) {
        if self.level() > 0 {
            return;
        }
        for at in self.log.root_changes..self.trail.len() {
            self.log.root(self.trail[at].step, &self.clauses);
        }
        self.log.root_changes = self.trail.len();
    }

    /// Deletes the less active half of the nogoods that combine more than two levels and are no reason of a change.
    pub(super) fn forget(&mut self) {
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
