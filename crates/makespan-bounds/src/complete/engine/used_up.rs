//! Propagation by consumables. All tasks together must not use up more of a consumable than exists.

use super::energy::StartWindow;
use super::{Engine, Literal, Propagated, Step};

impl Engine {
    /// Returns the amount of a consumable that a task uses up, as the minimum over the modes in a window.
    pub(in crate::complete) fn least_used(&self, consumable: usize, task: usize, window: StartWindow) -> i64 {
        let amounts = &self.model.tasks[task].used_up[consumable][window.first..=window.last];
        amounts.iter().copied().min().unwrap_or(0)
    }

    /// Removes the first mode and the last mode of each task while they use up more of a consumable than the other
    /// tasks leave.
    pub(super) fn by_consumables(&mut self) -> Propagated {
        for consumable in 0..self.model.consumables.len() {
            let least = |task: usize| self.least_used(consumable, task, self.window(task));
            let left = self.model.consumables[consumable] - (0..self.tasks()).map(least).sum::<i64>();
            if left < 0 {
                let mut premises = Vec::new();
                self.because(|task, window| self.least_used(consumable, task, window), None, -left - 1, &mut premises);
                return self.fail(premises, Step::UsedUp { consumable: consumable as u8 });
            }
            // Removing modes that use up too much does not change the minimum amount of a task, so `left` stays valid.
            for task in 0..self.tasks() {
                let window = self.window(task);
                if window.first < window.last {
                    let limit = left + self.least_used(consumable, task, window);
                    self.cut_modes_used(consumable, task, limit, false)?;
                    self.cut_modes_used(consumable, task, limit, true)?;
                }
            }
        }
        Ok(())
    }

    /// Removes the first mode of a task while this mode uses up more than `limit`. If `are_last` is true, removes the
    /// last mode instead.
    fn cut_modes_used(&mut self, consumable: usize, task: usize, limit: i64, are_last: bool) -> Propagated {
        let window = self.window(task);
        let amounts = &self.model.tasks[task].used_up[consumable][window.first..=window.last];
        let removed = |amounts: &mut dyn Iterator<Item = &i64>| {
            let above = amounts.take_while(|&&amount| amount > limit);
            above.fold((0, i64::MAX), |(count, least), &amount| (count + 1, least.min(amount)))
        };
        let (count, least) = if are_last { removed(&mut amounts.iter().rev()) } else { removed(&mut amounts.iter()) };
        if count == 0 {
            return Ok(());
        }
        let (literal, own) = if are_last {
            let own = Literal::mode_at_most(task, window.last as i64);
            (Literal::mode_at_most(task, (window.last - count) as i64), own)
        } else {
            (Literal::mode_at_least(task, window.first + count), Literal::mode_at_least(task, window.first))
        };
        let mut premises = vec![own];
        let quantity = |task: usize, window: StartWindow| self.least_used(consumable, task, window);
        self.because(quantity, Some(task), least - limit - 1, &mut premises);
        self.set(literal, &premises, Step::ModesLeft { consumable: consumable as u8, task: task as u32 })
    }
}
