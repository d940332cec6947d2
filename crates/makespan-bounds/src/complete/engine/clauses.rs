//! Propagation of nogoods, with two watched literals for each nogood (M. W. Moskewicz et al., DAC 2001, DOI
//! 10.1145/378239.379017).

use super::{Change, Clause, Engine, Literal, Propagated, Step};

/// A watch on one literal of a nogood. The watch is in the list of the bound that can make the literal false: the
/// literal becomes false when this bound reaches `value`.
#[derive(Clone, Copy)]
pub(super) struct Watch {
    clause: usize,
    value: i64,
    /// Another literal of the nogood. The nogood is not examined as long as this literal is true.
    other: Literal,
}

impl Engine {
    /// Examines each nogood with a watched literal that became false. If all other literals of the nogood are false,
    /// makes the remaining literal true.
    pub(super) fn by_clauses(&mut self) -> Propagated {
        while self.next_clause < self.trail.len() {
            let Change { bound, old, new, .. } = self.trail[self.next_clause];
            self.next_clause += 1;
            let mut watches = std::mem::take(&mut self.watches[bound as usize]);
            let mut result = Ok(());
            // The literals that became false have values between the old and the new value of the bound.
            let mut at = watches.partition_point(|watch| watch.value <= old);
            let end = watches.partition_point(|watch| watch.value <= new);
            let mut kept = at;
            while at < end && result.is_ok() {
                let mut watch = watches[at];
                at += 1;
                let moved = if self.is_true(watch.other) {
                    None
                } else {
                    match self.visit(watch.clause, Literal { bound: bound ^ 1, value: 1 - watch.value }) {
                        Visit::Stays(other, outcome) => {
                            (watch.other, result) = (other, outcome);
                            None
                        }
                        Visit::Moves(next) => Some(next),
                    }
                };
                match moved {
                    None => {
                        watches[kept] = watch;
                        kept += 1;
                    }
                    Some(None) => {}
                    Some(Some((next, other))) => {
                        let clause = watch.clause;
                        let list =
                            if next.bound == bound { &mut watches } else { &mut self.watches[next.bound as usize] };
                        insert(list, Watch { clause, value: next.value, other });
                    }
                }
            }
            watches.drain(kept..at);
            self.watches[bound as usize] = watches;
            result?;
        }
        Ok(())
    }

    /// Looks for another literal to watch, because the watched literal `now_false` became false.
    fn visit(&mut self, number: usize, now_false: Literal) -> Visit {
        let Clause { first, length, is_deleted, .. } = self.clauses[number];
        if is_deleted {
            return Visit::Moves(None);
        }
        let literals = &mut self.literals[first..first + length];
        if literals[0] == now_false {
            literals.swap(0, 1);
        }
        let other = literals[0];
        if self.is_true(other) {
            return Visit::Stays(other, Ok(()));
        }
        for at in first + 2..first + length {
            if !self.is_false(self.literals[at]) {
                self.literals.swap(first + 1, at);
                return Visit::Moves(Some((self.literals[first + 1].negated(), other)));
            }
        }
        let mut premises = std::mem::take(&mut self.buffer);
        premises.clear();
        premises.extend(self.literals[first + 1..first + length].iter().map(|one| one.negated()));
        let result = self.set(other, &premises, Step::Nogood { clause: number });
        self.buffer = premises;
        Visit::Stays(other, result)
    }

    /// Adds a nogood and watches its first two literals. The first literal must be neither true nor false. Among all
    /// other literals, the second one must be the literal that became false last.
    pub(in crate::complete) fn add_clause(&mut self, literals: &[Literal], levels: usize, activity: f64) -> usize {
        let (number, first) = (self.clauses.len(), self.literals.len());
        self.literals.extend_from_slice(literals);
        let length = literals.len();
        self.clauses.push(Clause { first, length, levels, activity, is_deleted: false });
        if length > 1 {
            for (literal, other) in [(literals[0], literals[1]), (literals[1], literals[0])] {
                let watch = literal.negated();
                insert(&mut self.watches[watch.bound as usize], Watch { clause: number, value: watch.value, other });
            }
        }
        number
    }
}

/// Inserts a watch into a list that is sorted by value.
fn insert(list: &mut Vec<Watch>, watch: Watch) {
    let at = list.partition_point(|other| other.value <= watch.value);
    list.insert(at, watch);
}

/// The result of [`Engine::visit`].
enum Visit {
    /// The nogood still watches the literal that became false. The first field is the other watched literal.
    Stays(Literal, Propagated),
    /// The nogood watches another literal from now on. The first field is the negation of this literal. The second
    /// field is the other watched literal. `None` if the nogood was deleted.
    Moves(Option<(Literal, Literal)>),
}
