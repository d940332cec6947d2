//! Fair shares compare the usage of each user with the shares of the user.

use std::cmp::Ordering;

use crate::model::{Association, Time};
use rustc_hash::FxHashMap;

/// An account, or a user in an account.
#[derive(Clone, Debug)]
struct Member {
    parent: Option<usize>,
    children: Vec<usize>,
    is_user: bool,
    shares: f64,
    /// Usage in processor seconds, with decay, at the instant of the tree.
    usage: f64,
    /// Number of processors that the user holds.
    rate: f64,
    /// The fair-share factor, from 0 to 1.
    factor: f64,
}

/// The tree of accounts and users, with the usage and the fair-share factor of each user. A user or account without an
/// association is added with one share, below the root or below a known account.
///
/// Source: "Multifactor Priority Plugin" and "Fair Tree Fairshare Algorithm" of Slurm 24.11,
/// <https://slurm.schedmd.com>.
///
/// ```
/// use makespan_core::{FairShares, Time};
///
/// let mut shares = FairShares::new(&[], Time::ZERO);
/// let (ann, bob) = (shares.user(None, "ann"), shares.user(None, "bob"));
/// shares.change(ann, 4.0, Time::ZERO);
/// shares.compute(Time::from_seconds(100), true);
/// assert!(shares.factor(bob) > shares.factor(ann));
/// ```
#[derive(Clone, Debug)]
pub struct FairShares {
    /// The accounts and users. The root is the first element.
    members: Vec<Member>,
    accounts: FxHashMap<Box<str>, usize>,
    users: FxHashMap<(usize, Box<str>), usize>,
    half_life: f64,
    at: Time,
}

impl FairShares {
    /// Returns the accounts and users of `associations`. Usage decays with the half-life `half_life`. If the half-life is
    /// zero, usage never decays.
    pub fn new(associations: &[Association], half_life: Time) -> Self {
        let root =
            Member { parent: None, children: vec![], is_user: false, shares: 1.0, usage: 0.0, rate: 0.0, factor: 1.0 };
        let mut shares = Self {
            members: vec![root],
            accounts: FxHashMap::default(),
            users: FxHashMap::default(),
            half_life: half_life.seconds(),
            at: Time::ZERO,
        };
        for one in associations.iter().filter(|one| one.user.is_none()) {
            let at = shares.add(0, f64::from(one.shares), false);
            shares.accounts.insert(one.account.clone(), at);
        }
        for one in associations {
            let Some(&account) = shares.accounts.get(&one.account) else { continue };
            if let Some(user) = &one.user {
                let at = shares.add(account, f64::from(one.shares), true);
                shares.members[at].usage = one.usage;
                shares.users.insert((account, user.clone()), at);
            } else if let Some(&parent) = one.parent.as_ref().and_then(|parent| shares.accounts.get(parent)) {
                shares.members[0].children.retain(|&child| child != account);
                shares.members[account].parent = Some(parent);
                shares.members[parent].children.push(account);
            }
        }
        shares
    }

    fn add(&mut self, parent: usize, shares: f64, is_user: bool) -> usize {
        let at = self.members.len();
        let (children, parent_of) = (Vec::new(), Some(parent));
        self.members.push(Member { parent: parent_of, children, is_user, shares, usage: 0.0, rate: 0.0, factor: 1.0 });
        self.members[parent].children.push(at);
        at
    }

    /// Returns the index of a user in an account. Adds the user if it is new.
    pub fn user(&mut self, account: Option<&str>, user: &str) -> usize {
        let account = match account {
            None => 0,
            Some(name) => self.accounts.get(name).copied().unwrap_or_else(|| {
                let at = self.add(0, 1.0, false);
                self.accounts.insert(name.into(), at);
                at
            }),
        };
        match self.users.get(&(account, Box::from(user))) {
            Some(&known) => known,
            None => {
                let at = self.add(account, 1.0, true);
                self.users.insert((account, user.into()), at);
                at
            }
        }
    }

    /// Changes the number of processors that the user holds from now on.
    pub fn change(&mut self, user: usize, processors: f64, now: Time) {
        self.advance(now);
        self.members[user].rate += processors;
    }

    /// Updates the usage of all members. Adds the processor time since the last update, and applies the decay.
    fn advance(&mut self, now: Time) {
        let passed = (now - self.at).seconds();
        if passed <= 0.0 {
            return;
        }
        self.at = now;
        let (kept, gained) = if self.half_life > 0.0 {
            let kept = (-passed / self.half_life).exp2();
            (kept, (1.0 - kept) * self.half_life / std::f64::consts::LN_2)
        } else {
            (1.0, passed)
        };
        for member in self.members.iter_mut().filter(|member| member.is_user) {
            member.usage = member.usage * kept + member.rate * gained;
        }
    }

    /// Computes the fair-share factors, with the fair tree or with the classic algorithm.
    pub fn compute(&mut self, now: Time, fair_tree: bool) {
        self.advance(now);
        self.sum_up(0);
        if fair_tree { self.rank() } else { self.classic() }
    }

    fn sum_up(&mut self, at: usize) -> f64 {
        if !self.members[at].is_user {
            let children = self.members[at].children.clone();
            self.members[at].usage = children.into_iter().map(|child| self.sum_up(child)).sum();
        }
        self.members[at].usage
    }

    /// Computes the classic factor `2^(-U / S)`. S is the normalised share. U is the effective usage, which includes a
    /// part of the usage of siblings.
    fn classic(&mut self) {
        let total = self.members[0].usage;
        let mut stack = vec![(0, 1.0, if total > 0.0 { 1.0 } else { 0.0 })];
        while let Some((at, share, effective)) = stack.pop() {
            self.members[at].factor = if share > 0.0 { f64::exp2(-effective / share) } else { 0.0 };
            let children = self.members[at].children.clone();
            let all: f64 = children.iter().map(|&child| self.members[child].shares).sum();
            for child in children {
                let part = if all > 0.0 { self.members[child].shares / all } else { 0.0 };
                let own = if total > 0.0 { self.members[child].usage / total } else { 0.0 };
                let effective_of = if at == 0 { own } else { own + (effective - own) * part };
                stack.push((child, share * part, effective_of));
            }
        }
    }

    /// Computes the factors of the fair tree, which ranks users depth first.
    fn rank(&mut self) {
        let users = self.members.iter().filter(|member| member.is_user).count();
        let mut ranks = Ranks { left: users, ties: 0, users };
        let children = self.members[0].children.clone();
        self.rank_below(children, &mut ranks);
    }

    /// Ranks the users below some siblings. Accounts of equal level are merged. Users of equal level get equal ranks.
    fn rank_below(&mut self, siblings: Vec<usize>, ranks: &mut Ranks) {
        let mut levels: Vec<(f64, usize)> = siblings.into_iter().map(|at| (self.level(at), at)).collect();
        let is_account = |shares: &Self, at: usize| !shares.members[at].is_user;
        levels.sort_by(|a, b| {
            let by_level = b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal);
            by_level.then(is_account(self, a.1).cmp(&is_account(self, b.1))).then(a.1.cmp(&b.1))
        });
        let same = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0) == Ordering::Equal;
        for tied in levels.chunk_by(same) {
            let mut merged = Vec::new();
            let mut first = true;
            for &(_, at) in tied {
                if self.members[at].is_user {
                    ranks.give(&mut self.members[at], first);
                    first = false;
                } else {
                    merged.extend_from_slice(&self.members[at].children);
                }
            }
            if !merged.is_empty() {
                self.rank_below(merged, ranks);
            }
        }
    }

    /// Returns the level of a member. The level is the member's fraction of the shares of all siblings, divided by the
    /// member's fraction of the usage of all siblings. If the member has no usage, the level is infinite.
    fn level(&self, at: usize) -> f64 {
        let member = &self.members[at];
        if member.shares <= 0.0 {
            return 0.0;
        }
        let siblings = member.parent.map_or(&[][..], |parent| &self.members[parent].children);
        let sum = |of: fn(&Member) -> f64| siblings.iter().map(|&sibling| of(&self.members[sibling])).sum::<f64>();
        let usage = member.usage / sum(|one| one.usage);
        if usage > 0.0 { member.shares / sum(|one| one.shares) / usage } else { f64::INFINITY }
    }

    /// Returns the last computed factor of a user. For a new user, returns 1.
    pub fn factor(&self, user: usize) -> f64 {
        self.members[user].factor
    }
}

/// Assigns ranks, from the highest to the lowest.
struct Ranks {
    left: usize,
    ties: usize,
    users: usize,
}

impl Ranks {
    /// Assigns the next rank to a user. If the user has the level of the previous user, assigns the previous rank.
    fn give(&mut self, user: &mut Member, is_new: bool) {
        if is_new {
            self.left -= self.ties;
            self.ties = 0;
        }
        self.ties += 1;
        user.factor = self.left as f64 / self.users as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(count: i64) -> Time {
        Time::from_seconds(count)
    }

    #[test]
    fn usage_halves_with_its_half_life() {
        let mut shares = FairShares::new(&[], seconds(100));
        let (ann, bob) = (shares.user(None, "ann"), shares.user(None, "bob"));
        shares.change(ann, 4.0, seconds(0));
        shares.change(ann, -4.0, seconds(100));
        shares.change(bob, 0.0, seconds(200));
        let expected = 4.0 * 0.5 * 100.0 / std::f64::consts::LN_2 * 0.5;
        assert!((shares.members[ann].usage - expected).abs() < 1e-9);
        let mut kept = FairShares::new(&[], Time::ZERO);
        let ann = kept.user(None, "ann");
        kept.change(ann, 4.0, seconds(0));
        kept.change(ann, -4.0, seconds(100));
        kept.compute(seconds(100_000), true);
        assert!((kept.members[ann].usage - 400.0).abs() < 1e-9);
    }

    /// Checks two accounts with equal shares. Only the users of one account have used processors.
    #[test]
    fn the_fair_tree_ranks_accounts_before_their_users() {
        let user = |name: &str, account: &str, usage: f64| Association { usage, ..Association::user(name, account) };
        let associations = vec![
            Association::account("physics"),
            Association::account("biology"),
            user("heavy", "physics", 900.0),
            user("light", "physics", 1.0),
            user("some", "biology", 300.0),
            user("none", "biology", 0.0),
            user("nobody", "biology", 0.0),
        ];
        let mut shares = FairShares::new(&associations, Time::ZERO);
        shares.compute(Time::ZERO, true);
        let mut factor = |account: &str, user: &str| {
            let at = shares.user(Some(account), user);
            shares.factor(at)
        };
        assert_eq!((factor("biology", "none"), factor("biology", "nobody")), (1.0, 1.0), "users who are tied");
        assert!((factor("biology", "some") - 0.6).abs() < 1e-12);
        assert_eq!((factor("physics", "light"), factor("physics", "heavy")), (0.4, 0.2));
        shares.compute(Time::ZERO, false);
        let light = shares.user(Some("physics"), "light");
        // The effective usage is 1 of 1201, plus half of the additional usage of physics. The share of the user is a
        // quarter.
        let (own, above) = (1.0 / 1201.0, 901.0 / 1201.0);
        let effective = own + (above - own) * 0.5;
        assert!((shares.factor(light) - f64::exp2(-effective / 0.25)).abs() < 1e-12);
    }

    #[test]
    fn accounts_that_are_tied_are_merged() {
        let user = |name: &str, account: &str, usage: f64| Association { usage, ..Association::user(name, account) };
        let associations = vec![
            Association::account("a"),
            Association::account("b"),
            user("a1", "a", 60.0),
            user("a2", "a", 40.0),
            user("b1", "b", 90.0),
            user("b2", "b", 10.0),
        ];
        let mut shares = FairShares::new(&associations, Time::ZERO);
        shares.compute(Time::ZERO, true);
        let factors = [("b", "b2"), ("a", "a2"), ("a", "a1"), ("b", "b1")].map(|(account, name)| {
            let at = shares.user(Some(account), name);
            shares.factor(at)
        });
        let expected = [1.0, 0.75, 0.5, 0.25];
        assert!(factors.iter().zip(expected).all(|(own, expected)| (own - expected).abs() < 1e-12), "{factors:?}");
        assert_eq!(factors.len(), expected.len());
    }
}
