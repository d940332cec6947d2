//! Limits that span nodes: jobs and resources of users and accounts, tasks of arrays, and licences.

use super::counter::{LimitUse, ReservedAmount};
use super::usage::RunningUsage;
use super::world::World;

impl World {
    /// Returns the first counter with a limit that delays a job of a group, or `None` if no limit delays the job.
    pub fn limit_reached(&self, group: usize) -> Option<usize> {
        self.model.groups[group].iter().find(|own| self.is_beyond(own)).map(|own| own.counter)
    }

    /// Returns true if the limit of a counter delays a job of a group.
    pub fn is_reached(&self, group: usize, counter: usize) -> bool {
        self.model.groups[group].iter().any(|own| own.counter == counter && self.is_beyond(own))
    }

    fn is_beyond(&self, own: &LimitUse) -> bool {
        let reserved: u64 = self.reserved(own).map(|kept| kept.amount).sum();
        self.taken(own.counter).saturating_add(own.needed).saturating_add(reserved)
            > self.model.counters[own.counter].total
    }

    /// Returns the reserved amounts of a counter that a job cannot use if it starts now. As in Slurm, these are the
    /// amounts of all other reservations that overlap the job. Source: `job_test_lic_resv` of Slurm 22.05.
    fn reserved(&self, own: &LimitUse) -> impl Iterator<Item = &ReservedAmount> {
        let (lasts, reservation) = own.runs;
        let until = self.now.saturating_add(lasts);
        let is_taken = move |kept: &&ReservedAmount| {
            kept.start < until && kept.end > self.now && Some(kept.reservation) != reservation
        };
        self.model.counters[own.counter].reserved.iter().filter(is_taken)
    }

    /// Returns the first reserved amount of a counter that a job of a group cannot use if it starts now.
    pub fn reserved_from(&self, group: usize, counter: usize) -> Option<&ReservedAmount> {
        let own = self.model.groups[group].iter().find(|own| own.counter == counter)?;
        self.reserved(own).next()
    }

    /// Returns the used amount of a counter.
    pub fn taken(&self, counter: usize) -> u64 {
        if !self.model.counters[counter].falls {
            return self.used[counter];
        }
        let (held, ends) = self.falling[counter];
        let passed = i128::from(held) * i128::from(self.now - self.model.begins);
        u64::try_from((ends - passed).max(0) / i128::from(self.model.minute)).unwrap_or(u64::MAX)
    }

    /// Returns the instant at which counters of remaining minutes no longer delay a job of a group. Returns `None` if
    /// another event must happen first.
    pub(super) fn falls_until(&self, group: usize) -> Option<i64> {
        let mut latest = None;
        let minute = i128::from(self.model.minute);
        for own in self.model.groups[group].iter().filter(|own| self.is_beyond(own)) {
            let (held, ends) = self.falling[own.counter];
            let room = i128::from(self.model.counters[own.counter].total) - i128::from(own.needed);
            if held == 0 || room < 0 {
                return None;
            }
            // The limit is in whole minutes, and Slurm's clock in whole seconds. So find the first second at which the
            // remaining minutes, after rounding, are few enough.
            let passed = (ends - (room * minute + minute - 1)).max(0) as u128;
            let second = self.model.tick();
            let at = i64::try_from(passed.div_ceil(u128::from(held)).next_multiple_of(second as u128)).ok()?;
            latest = latest.max(Some(self.model.begins.saturating_add(at).max(self.now + second)));
        }
        latest
    }

    /// If `starts` is true, adds a running job to its counters. Otherwise, removes the job from them.
    pub(super) fn count(&mut self, running: &RunningUsage, starts: bool) {
        let Some(group) = running.group else { return };
        let left = i128::from(running.believed.saturating_sub(self.model.begins));
        for &LimitUse { counter, amount, .. } in &self.model.groups[group] {
            let of = &self.model.counters[counter];
            let amount = if of.is_of_nodes { amount.max(running.holds.len() as u64) } else { amount };
            if of.falls {
                let (held, ends) = &mut self.falling[counter];
                if starts {
                    (*held, *ends) = (held.saturating_add(amount), *ends + i128::from(amount) * left);
                } else {
                    (*held, *ends) = (held.saturating_sub(amount), *ends - i128::from(amount) * left);
                }
            } else {
                let used = &mut self.used[counter];
                *used = if starts { used.saturating_add(amount) } else { used.saturating_sub(amount) };
            }
        }
    }

    /// Adds an amount to a counter that no job of the model holds.
    pub fn hold(&mut self, counter: usize, amount: u64) {
        self.used[counter] = self.used[counter].saturating_add(amount);
    }

    /// Removes an amount from a counter that no job of the model held.
    pub fn release(&mut self, counter: usize, amount: u64) {
        self.used[counter] = self.used[counter].saturating_sub(amount);
    }
}
