//! Reads and writes the rules of a shared cluster in a native file.

use std::collections::{BTreeMap, HashMap};

use makespan_core::{Association, Limits, Partition, Platform, Qos, Resources, Site, SiteReservation, Time};
use serde::de::Deserializer;
use serde::{Deserialize, Serialize, Serializer};

use super::resources::ResourcesEntry;
use super::resources::ResourcesOut;
use crate::native::hosts::hosts;
use crate::native::scalar::Scalar;
use crate::native::suggest::nearest;

/// Duration or instant.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct SiteInstant(pub(super) Time);

impl<'de> Deserialize<'de> for SiteInstant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Scalar::<Time>::deserialize(deserializer).map(|time| Self(time.0))
    }
}

impl Serialize for SiteInstant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}s", self.0))
    }
}

/// Amounts by resource name.
#[derive(Clone, Default, PartialEq)]
struct Amounts(Resources);

impl<'de> Deserialize<'de> for Amounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ResourcesEntry::deserialize(deserializer).map(|entry| Self(entry.0))
    }
}

impl Serialize for Amounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ResourcesOut(&self.0).serialize(serializer)
    }
}

impl Amounts {
    fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Content of `site` in a platform.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SiteEntry {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    partitions: Vec<PartitionEntry>,
    /// For each list of nodes, such as `n[0-3]`, the features of these nodes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    features: BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    qos: Vec<QosEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    accounts: Vec<AccountEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reservations: Vec<ReservationEntry>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct PartitionEntry {
    name: String,
    /// Lists of nodes, such as `n[0-3]`. Empty if the partition has all nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    default: bool,
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    up: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_factor: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_time: Option<SiteInstant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default_time: Option<SiteInstant>,
    #[serde(default, skip_serializing_if = "is_default")]
    min_nodes: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_nodes: Option<u32>,
    #[serde(default, skip_serializing_if = "is_default")]
    exclusive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    qos: Option<String>,
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_yes(up: &bool) -> bool {
    *up
}

#[derive(Clone, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
struct LimitsEntry {
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<u32>,
    #[serde(skip_serializing_if = "Amounts::is_none")]
    held: Amounts,
    #[serde(skip_serializing_if = "Amounts::is_none")]
    minutes: Amounts,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct QosEntry {
    name: String,
    #[serde(default, skip_serializing_if = "is_default")]
    priority: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_time: Option<SiteInstant>,
    #[serde(default, skip_serializing_if = "is_default")]
    group: LimitsEntry,
    #[serde(default, skip_serializing_if = "is_default")]
    per_user: LimitsEntry,
    #[serde(default, skip_serializing_if = "is_default")]
    per_account: LimitsEntry,
    #[serde(default, skip_serializing_if = "Amounts::is_none")]
    per_job: Amounts,
}

/// An account, or a user within an account.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct AccountEntry {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shares: Option<u32>,
    #[serde(default, skip_serializing_if = "is_default")]
    usage: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_time: Option<SiteInstant>,
    #[serde(default, skip_serializing_if = "is_default")]
    group: LimitsEntry,
    #[serde(default, skip_serializing_if = "is_default")]
    own: LimitsEntry,
    #[serde(default, skip_serializing_if = "Amounts::is_none")]
    per_job: Amounts,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    users: Vec<AccountEntry>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ReservationEntry {
    name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<String>,
    start: SiteInstant,
    end: SiteInstant,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    users: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    accounts: Vec<String>,
}

/// Indices of nodes by name.
struct Names<'a>(HashMap<&'a str, usize>);

impl Names<'_> {
    /// Returns the indices of the nodes in lists such as `n[0-3]`. If `lists` is empty, returns all nodes.
    fn of(&self, what: &str, name: &str, lists: &[String]) -> Result<Vec<usize>, String> {
        let mut numbers: Vec<usize> = if lists.is_empty() { self.0.values().copied().collect() } else { Vec::new() };
        for list in lists {
            let names = hosts(list)
                .ok_or_else(|| format!("{what} `{name}`: `{list}` is not a list of nodes such as n[0-3]"))?;
            for node in names {
                let known = self.0.get(node.as_str()).ok_or_else(|| {
                    let near = nearest(&node, self.0.keys().copied());
                    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                    format!("{what} `{name}`: `{node}` is not a node of the platform{hint}")
                })?;
                numbers.push(*known);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }
}

impl SiteEntry {
    /// Returns the platform with these rules.
    pub(super) fn on(self, platform: Platform) -> Result<Platform, String> {
        let names = Names(platform.nodes().iter().enumerate().map(|(at, node)| (node.name.as_str(), at)).collect());
        let mut features = Vec::new();
        for (list, own) in &self.features {
            for node in names.of("features of", list, std::slice::from_ref(list))? {
                if features.len() <= node {
                    features.resize(node + 1, Vec::new());
                }
                features[node].extend(own.iter().map(|feature| feature.as_str().into()));
            }
        }
        let partitions =
            self.partitions.into_iter().map(|one| partition(one, &names)).collect::<Result<_, String>>()?;
        let reservations = self.reservations.into_iter().map(|one| {
            let nodes = names.of("reservation", &one.name, &one.nodes)?;
            let boxed = |names: Vec<String>| names.into_iter().map(Into::into).collect();
            let (users, accounts) = (boxed(one.users), boxed(one.accounts));
            Ok(SiteReservation { name: one.name.into(), nodes, start: one.start.0, end: one.end.0, users, accounts })
        });
        let reservations = reservations.collect::<Result<_, String>>()?;
        let mut associations = Vec::new();
        for mut account in self.accounts {
            let users = std::mem::take(&mut account.users);
            let name = account.name.clone();
            associations.push(association(account, None)?);
            for user in users {
                associations.push(association(user, Some(&name))?);
            }
        }
        let qos = self.qos.into_iter().map(qos).collect();
        let site = Site { partitions, features, qos, associations, reservations, ..Site::default() };
        platform.with_site(site).map_err(|error| error.to_string())
    }

    /// Returns the rules of a platform, if it has any.
    pub fn of(platform: &Platform) -> Option<Self> {
        let site = platform.site()?;
        let name = |&node: &usize| platform.nodes()[node].name.clone();
        let named = |nodes: &[usize]| match nodes.len() {
            all if all == platform.node_count() => Vec::new(),
            _ => nodes.iter().map(name).collect::<Vec<String>>(),
        };
        let features = site.features.iter().enumerate().filter(|(_, own)| !own.is_empty());
        let features = features.map(|(node, own)| (name(&node), own.iter().map(ToString::to_string).collect()));
        let accounts = site.associations.iter().filter(|one| one.user.is_none()).map(|account| {
            let users = site.associations.iter().filter(|one| one.user.is_some() && one.account == account.account);
            AccountEntry { users: users.map(account_out).collect(), ..account_out(account) }
        });
        let reservations = site.reservations.iter().map(|one| ReservationEntry {
            name: one.name.to_string(),
            nodes: named(&one.nodes),
            start: SiteInstant(one.start),
            end: SiteInstant(one.end),
            users: one.users.iter().map(ToString::to_string).collect(),
            accounts: one.accounts.iter().map(ToString::to_string).collect(),
        });
        Some(Self {
            partitions: site.partitions.iter().map(|one| partition_out(one, named(&one.nodes))).collect(),
            features: features.collect(),
            qos: site.qos.iter().map(qos_out).collect(),
            accounts: accounts.collect(),
            reservations: reservations.collect(),
        })
    }
}

fn partition(one: PartitionEntry, names: &Names<'_>) -> Result<Partition, String> {
    let nodes = names.of("partition", &one.name, &one.nodes)?;
    let plain = Partition::new(one.name, nodes);
    Ok(Partition {
        is_default: one.default,
        is_up: one.up,
        tier: one.tier.unwrap_or(plain.tier),
        job_factor: one.job_factor.unwrap_or(plain.job_factor),
        max_time: one.max_time.map(|span| span.0),
        default_time: one.default_time.map(|span| span.0),
        min_nodes: one.min_nodes,
        max_nodes: one.max_nodes,
        exclusive: one.exclusive,
        qos: one.qos.map(Into::into),
        ..plain
    })
}

fn partition_out(one: &Partition, nodes: Vec<String>) -> PartitionEntry {
    PartitionEntry {
        name: one.name.to_string(),
        nodes,
        default: one.is_default,
        up: one.is_up,
        tier: Some(one.tier).filter(|&tier| tier != 1),
        job_factor: Some(one.job_factor).filter(|&factor| factor != 1),
        max_time: one.max_time.map(SiteInstant),
        default_time: one.default_time.map(SiteInstant),
        min_nodes: one.min_nodes,
        max_nodes: one.max_nodes,
        exclusive: one.exclusive,
        qos: one.qos.as_ref().map(ToString::to_string),
    }
}

fn limits(entry: LimitsEntry) -> Limits {
    Limits { jobs: entry.jobs, held: entry.held.0, minutes: entry.minutes.0 }
}

fn limits_out(limits: &Limits) -> LimitsEntry {
    LimitsEntry { jobs: limits.jobs, held: Amounts(limits.held.clone()), minutes: Amounts(limits.minutes.clone()) }
}

fn qos(one: QosEntry) -> Qos {
    Qos {
        name: one.name.into(),
        priority: one.priority,
        group: limits(one.group),
        per_user: limits(one.per_user),
        per_account: limits(one.per_account),
        per_job: one.per_job.0,
        max_wall: one.max_time.map(|span| span.0),
    }
}

fn qos_out(one: &Qos) -> QosEntry {
    QosEntry {
        name: one.name.to_string(),
        priority: one.priority,
        max_time: one.max_wall.map(SiteInstant),
        group: limits_out(&one.group),
        per_user: limits_out(&one.per_user),
        per_account: limits_out(&one.per_account),
        per_job: Amounts(one.per_job.clone()),
    }
}

fn association(one: AccountEntry, account: Option<&str>) -> Result<Association, String> {
    if account.is_some() && (!one.users.is_empty() || one.parent.is_some()) {
        return Err(format!(
            "user `{}` of an account has users or a parent; only accounts may have users or a parent",
            one.name
        ));
    }
    let plain = match account {
        Some(account) => Association::user(one.name, account),
        None => Association::account(one.name),
    };
    Ok(Association {
        parent: one.parent.map(Into::into),
        shares: one.shares.unwrap_or(plain.shares),
        usage: one.usage,
        group: limits(one.group),
        own: limits(one.own),
        per_job: one.per_job.0,
        max_wall: one.max_time.map(|span| span.0),
        ..plain
    })
}

fn account_out(one: &Association) -> AccountEntry {
    AccountEntry {
        name: one.user.as_ref().unwrap_or(&one.account).to_string(),
        parent: one.parent.as_ref().map(ToString::to_string),
        shares: Some(one.shares).filter(|&shares| shares != 1),
        usage: one.usage,
        max_time: one.max_wall.map(SiteInstant),
        group: limits_out(&one.group),
        own: limits_out(&one.own),
        per_job: Amounts(one.per_job.clone()),
        users: Vec::new(),
    }
}
