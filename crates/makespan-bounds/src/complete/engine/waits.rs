//! Propagation of waits, and of the latest starts of the modes.

use super::{Engine, Literal, Propagated, Step, Wait};

impl Engine {
    pub(super) fn by_waits(&mut self) -> Propagated {
        while self.next_wait < self.trail.len() {
            let bound = self.trail[self.next_wait].bound as usize;
            self.next_wait += 1;
            let (task, kind) = (bound / 4, bound % 4);
            if kind == 0 || kind == 3 {
                for at in 0..self.successors[task].len() {
                    self.by_wait(self.successors[task][at], false)?;
                }
            }
            if kind == 3 {
                for at in 0..self.successors[task].len() {
                    self.by_wait(self.successors[task][at], true)?;
                }
            }
            if kind == 2 {
                for at in 0..self.successors[task].len() {
                    self.by_transfer(self.successors[task][at])?;
                }
            }
            if kind >= 2 {
                for at in 0..self.predecessors[task].len() {
                    self.by_transfer(self.predecessors[task][at])?;
                }
            }
            if kind == 1 {
                for at in 0..self.predecessors[task].len() {
                    self.by_wait(self.predecessors[task][at], true)?;
                }
            }
            if self.model.tasks[task].modes() > 1 && (kind == 0 || kind == 3) {
                self.by_deadline(task)?;
            }
        }
        Ok(())
    }

    /// Applies a wait after a change of the modes of a task, if the delay depends on these modes.
    fn by_transfer(&mut self, number: usize) -> Propagated {
        if self.waits[number].gaps.is_some() {
            self.by_wait(number, false)?;
            self.by_wait(number, true)?;
        }
        Ok(())
    }

    fn by_wait(&mut self, number: usize, is_back: bool) -> Propagated {
        let wait = self.waits[number];
        let Wait { from, to, after_end, .. } = wait;
        let gap = self.gap(wait, self.window(from), self.window(to));
        let mut premises: Vec<Literal> = if wait.gaps.is_some() {
            self.mode_literals(from).chain(self.mode_literals(to)).collect()
        } else {
            self.last_mode_literal(from).filter(|_| after_end).into_iter().collect()
        };
        let step = Step::Wait { from: from as u32, to: to as u32, is_back };
        if is_back {
            let latest = self.latest(to);
            premises.push(Literal::start_at_most(to, latest));
            self.set(Literal::start_at_most(from, latest - gap), &premises, step)
        } else {
            let earliest = self.earliest(from);
            premises.push(Literal::start_at_least(from, earliest));
            self.set(Literal::start_at_least(to, earliest + gap), &premises, step)
        }
    }

    /// Removes the starts that are too late in every remaining mode, and the slow modes that are too long for the
    /// earliest start.
    fn by_deadline(&mut self, task: usize) -> Propagated {
        let premises: Vec<Literal> = self.last_mode_literal(task).into_iter().collect();
        let latest = self.model.tasks[task].latest[self.last_mode(task)];
        self.set(Literal::start_at_most(task, latest), &premises, Step::Deadline { task: task as u32 })?;
        let earliest = self.earliest(task);
        let slow = self.model.tasks[task].latest.iter().take_while(|&&latest| latest < earliest).count();
        if slow <= self.first_mode(task) {
            return Ok(());
        }
        let premise = Literal::start_at_least(task, self.model.tasks[task].latest[slow - 1] + 1);
        self.set(Literal::mode_at_least(task, slow), &[premise], Step::FastModes { task: task as u32 })
    }

    /// Applies all waits and latest starts once. Later propagations examine only the bounds that changed.
    pub(in crate::complete) fn begin(&mut self) -> Propagated {
        for task in 0..self.tasks() {
            self.by_deadline(task)?;
        }
        for number in 0..self.waits.len() {
            self.by_wait(number, false)?;
            self.by_wait(number, true)?;
        }
        Ok(())
    }
}
