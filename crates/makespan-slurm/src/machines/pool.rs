//! The nodes of a partition that jobs can use.

use makespan_core::{Node as Machine, Platform, Resource, Resources, counted};

use super::resources::{remarks, resources};
use super::wish::{NodeRequest, check_sizes, partition_of};
use super::{MachinesError, PlanMachines, chosen, left_out};
use crate::{Commands, Node, Partition, compress};

/// The nodes of a partition that a job can use if it has certain options of `sbatch`.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The partition of the nodes.
    pub partition: Partition,
    /// The nodes that accept jobs now, as machines.
    there: Vec<Machine>,
    /// The nodes that accept no jobs now, as machines.
    away: Vec<Machine>,
    remarks: Vec<String>,
    wish: NodeRequest,
    /// True if the cluster allocates memory. In this case, a job must request all memory of its nodes.
    gives_out_memory: bool,
}

/// The options with which a job requests the nodes of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedRequest {
    /// Options of `sbatch` that must follow all other options. They do not contain node names.
    pub options: Vec<String>,
    /// The nodes in the order of the plan, if the job needs exactly these nodes. `None` if the job may have any nodes
    /// that `options` allow.
    pub names: Option<Vec<String>>,
    /// The nodes among which Slurm chooses. If `names` is set, these nodes. The job may request fewer of them. Empty
    /// if the user names the nodes.
    pub hosts: Vec<String>,
}

impl PlacedRequest {
    /// Returns all options of `sbatch`. If `among` is set, the job requests only nodes in `among`.
    pub fn sbatch(&self, among: Option<&[String]>) -> Vec<String> {
        let list = self.names.as_ref().map(|names| {
            let names = names.iter().filter(|name| among.is_none_or(|among| among.contains(*name)));
            format!("--nodelist={}", names.cloned().collect::<Vec<String>>().join(","))
        });
        self.options.iter().cloned().chain(list).collect()
    }
}

impl Commands {
    /// Returns the nodes that jobs with these options can use. The partition is the partition in the options. If there
    /// is none, it is `partition`. If this is `None`, it is the default partition.
    ///
    /// # Errors
    /// [`MachinesError`]
    pub fn pool(&self, partition: Option<&str>, options: &[String]) -> Result<Pool, MachinesError> {
        let wish = NodeRequest::of(options)?;
        let partitions = self.partitions()?;
        let named = partition_of(options).or_else(|| partition.map(str::to_owned));
        let partition = chosen(&partitions.items, named.as_deref())?;
        let nodes = self.nodes()?;
        let config = self.config()?;
        let mut remarks_of = [partitions.remarks, nodes.remarks].concat();
        let most = partition.max_cpus_per_node.value().unwrap_or(u64::MAX);
        let allowed = |node: &&Node| node.partitions.contains(&partition.name) && wish.allows(node);
        let members: Vec<&Node> = nodes.items.iter().filter(allowed).collect();
        let (there, away): (Vec<&Node>, Vec<&Node>) = members.into_iter().partition(|node| node.state.takes_jobs());
        remarks_of.extend(left_out(&away));
        remarks_of.extend(remarks(there.iter().map(|node| (*node, None))));
        let machines = |nodes: Vec<&Node>| -> Result<Vec<Machine>, MachinesError> {
            let machine = |node: &Node| machine(node, most, &wish);
            let all: Result<Vec<Machine>, MachinesError> = nodes.into_iter().map(machine).collect();
            Ok(all?.into_iter().filter(|machine| machine.processors > 0).collect())
        };
        let gives_out_memory = config.get("SelectTypeParameters").is_some_and(|words| words.contains("MEMORY"));
        Ok(Pool {
            partition: partition.clone(),
            there: machines(there)?,
            away: machines(away)?,
            remarks: remarks_of,
            gives_out_memory,
            wish,
        })
    }
}

fn machine(node: &Node, most: u64, wish: &NodeRequest) -> Result<Machine, MachinesError> {
    let wrong = |error| MachinesError::Resources { node: node.name.clone(), error };
    let all = resources(node, None).map_err(wrong)?;
    let amounts = all.iter().map(|(name, amount)| match wish.memory_of(node) {
        Some(memory) if name == Resource::MEMORY => (name, amount.min(memory)),
        _ => (name, wish.held_of(name).map_or(amount, |held| amount.min(held))),
    });
    let amounts = amounts.filter(|(_, amount)| *amount > 0);
    let resources = Resources::new(amounts.collect::<Vec<_>>()).map_err(wrong)?;
    Ok(Machine { resources, ..Machine::new(&node.name, u64::from(node.usable_cpus).min(most) as u32) })
}

/// Returns true if `machine` has at least the resources of `other`.
fn suffices(machine: &Machine, other: &Machine) -> bool {
    let has = |(name, amount): (&str, u64)| machine.resources.amount(name) >= amount;
    machine.processors >= other.processors && other.resources.iter().all(has)
}

fn are_equal(machine: &Machine, other: &Machine) -> bool {
    (machine.processors, &machine.resources) == (other.processors, &other.resources)
}

impl Pool {
    /// Returns the number of nodes. Includes nodes that accept no jobs now.
    pub fn size(&self) -> usize {
        self.there.len() + self.away.len()
    }

    /// Chooses the machines of a plan for simultaneous jobs. `sizes` contains the number of nodes of each job. Prefers
    /// equal machines, of the kind with the most machines. If this kind has too few machines, adds further kinds.
    ///
    /// # Errors
    /// [`MachinesError`]
    pub fn choose(&self, sizes: &[usize]) -> Result<PlanMachines, MachinesError> {
        check_sizes(&self.partition, sizes)?;
        let total: usize = sizes.iter().sum();
        if total > self.size() {
            let (place, why) = (self.place_name(), self.remarks.join("; "));
            return Err(MachinesError::TooFew { place, asked: total, there: self.there.len(), why });
        }
        // If too few nodes are up, also use nodes that are down. They may be up when Slurm considers the job.
        // Meanwhile, the queue shows why the job waits.
        let away = if total > self.there.len() { &self.away[..] } else { &[] };
        let candidates: Vec<&Machine> = self.there.iter().chain(away).collect();
        let mut kinds: Vec<Vec<&Machine>> = Vec::new();
        for machine in candidates.iter().copied() {
            match kinds.iter_mut().find(|kind| are_equal(kind[0], machine)) {
                Some(kind) => kind.push(machine),
                None => kinds.push(vec![machine]),
            }
        }
        kinds.sort_by_key(|kind| std::cmp::Reverse((kind.len(), kind[0].processors)));
        let mut remarks = self.remarks.clone();
        let wrong = |error| MachinesError::Platform { place: self.place_name(), error };
        let least = match &self.wish.unclear {
            Some(option) if kinds.len() > 1 => {
                remarks.push(format!(
                    "the nodes differ, and Slurm chooses nodes by `{option}`: for each resource, the plan uses the \
                     smallest amount of these nodes"
                ));
                Some(least(&candidates))
            }
            _ => None,
        };
        let sample = least.as_ref().or_else(|| (kinds[0].len() >= total).then(|| kinds[0][0]));
        let platform = match sample {
            // If some of these nodes are equal, Slurm decides which of them the job gets.
            Some(sample) if total < candidates.len() || least.is_some() => {
                if kinds.len() > 1 && least.is_none() {
                    remarks.push(format!(
                        "the nodes differ; pilots use the {1} nodes that are equal to {0}; to choose other nodes, use \
                         --slurm='--constraint=FEATURE' or --slurm='--gres=gpu:1'",
                        sample.name,
                        kinds[0].len()
                    ));
                }
                let among = if least.is_some() { &candidates } else { &kinds[0] };
                let names = among.iter().map(|machine| machine.name.as_str());
                remarks.push(format!(
                    "the nodes of the plan are called n0, n1, and so on; Slurm chooses the real nodes among {}",
                    compress(names)
                ));
                let equal = Platform::cluster(total as u32, sample.processors);
                equal.and_then(|equal| equal.with_node_resources(&sample.resources)).map_err(wrong)?
            }
            _ => {
                let mut all: Vec<&Machine> = kinds.into_iter().flatten().take(total).collect();
                if sizes.len() == 1 {
                    let place = |machine: &&Machine| candidates.iter().position(|other| other.name == machine.name);
                    all.sort_by_key(place);
                }
                Platform::new(all.into_iter().cloned().collect()).map_err(wrong)?
            }
        };
        Ok(PlanMachines { platform: platform.requiring_compact(), remarks })
    }

    /// Returns the options with which jobs request the nodes of a plan, in the order of the plan. `sizes` contains the
    /// number of nodes of each job.
    ///
    /// # Errors
    /// [`MachinesError`] if the cluster has no such nodes.
    pub fn place(&self, platform: &Platform, sizes: &[usize]) -> Result<Vec<PlacedRequest>, MachinesError> {
        check_sizes(&self.partition, sizes)?;
        let slots: Vec<&Machine> = platform.nodes().iter().filter(|node| node.processors > 0).collect();
        let (asked, there) = (slots.len(), sizes.iter().sum());
        if asked != there {
            return Err(MachinesError::Sizes { planned: asked, there });
        }
        let memory = (self.gives_out_memory && !self.wish.states_memory()).then(|| "--mem=0".to_owned());
        let with_gpus = |slots: &[&Machine]| memory.iter().cloned().chain(self.gpus(slots)).collect::<Vec<String>>();
        let candidates: Vec<&Machine> = self.there.iter().chain(&self.away).collect();
        if slots.iter().all(|slot| are_equal(slot, slots[0])) {
            let (good, bad): (Vec<&Machine>, Vec<&Machine>) =
                candidates.into_iter().partition(|machine| suffices(machine, slots[0]));
            if good.len() < slots.len() {
                let (place, node) = (self.place_name(), describe(slots[0]));
                return Err(MachinesError::NoSuchNodes { place, asked, there: good.len(), node });
            }
            let excluded = self.wish.excluded.iter().map(String::as_str);
            let excluded: Vec<&str> = bad.iter().map(|machine| machine.name.as_str()).chain(excluded).collect();
            let exclude = (!bad.is_empty()).then(|| format!("--exclude={}", excluded.join(",")));
            let options: Vec<String> = with_gpus(&slots).into_iter().chain(exclude).collect();
            let own = good.iter().filter(|_| self.wish.only.is_empty());
            let hosts = own.map(|machine| machine.name.clone()).collect();
            let placed = PlacedRequest { options, names: None, hosts };
            return Ok(vec![placed; sizes.len()]);
        }
        for slot in &slots {
            let found = candidates.iter().find(|machine| machine.name == slot.name);
            if !found.is_some_and(|machine| suffices(machine, slot)) {
                let (place, node) = (self.place_name(), format!("{} called {}", describe(slot), slot.name));
                return Err(MachinesError::NoSuchNodes { place, asked: 1, there: 0, node });
            }
        }
        let mut rest = &slots[..];
        let placed = sizes.iter().map(|&size| {
            let (own, others) = rest.split_at(size);
            rest = others;
            let names: Vec<String> = own.iter().map(|slot| slot.name.clone()).collect();
            PlacedRequest { options: with_gpus(own), hosts: names.clone(), names: Some(names) }
        });
        Ok(placed.collect())
    }

    /// Returns an option that requests GPUs. Even if a job holds whole nodes, its steps can use only the GPUs that the
    /// job requested.
    fn gpus(&self, slots: &[&Machine]) -> Option<String> {
        let each = slots.iter().map(|slot| slot.resources.amount(Resource::GPUS)).min().unwrap_or(0);
        (each > 0 && !self.wish.states_gpus).then(|| format!("--gres=gpu:{each}"))
    }

    fn place_name(&self) -> String {
        format!("the partition `{}`", self.partition.name)
    }
}

/// Returns a machine with, for each resource, the minimum over `machines`.
fn least(machines: &[&Machine]) -> Machine {
    let processors = machines.iter().map(|machine| machine.processors).min().unwrap_or(1);
    let least_of = |name: &str| machines.iter().map(|machine| machine.resources.amount(name)).min().unwrap_or(0);
    let names = machines.first().map(|machine| machine.resources.iter().map(|(name, _)| name).collect::<Vec<_>>());
    let amounts = names.unwrap_or_default().into_iter().map(|name| (name, least_of(name)));
    // The amounts come from existing machines, so they are valid.
    let resources = Resources::new(amounts.filter(|(_, amount)| *amount > 0).collect::<Vec<_>>()).unwrap_or_default();
    Machine { resources, ..Machine::new("n0", processors) }
}

/// Formats a machine, such as `of 8 processors with gpus 2, memory 4 GiB`.
fn describe(machine: &Machine) -> String {
    let amounts: Vec<String> = machine
        .resources
        .iter()
        .map(|(name, amount)| match Resource::in_unit(name, amount) {
            Some((count, unit)) => format!("{name} {count} {unit}"),
            None => format!("{name} {amount}"),
        })
        .collect();
    let with = if amounts.is_empty() { String::new() } else { format!(" with {}", amounts.join(", ")) };
    format!("of {}{with}", counted(machine.processors, "processor"))
}

/// Maps each machine of a plan to a machine of an allocation. If the allocation contains the machine itself, maps it
/// to itself. Otherwise, maps it to a machine that has at least its resources. If the machine is down and the
/// allocation holds it (`held`), maps it to itself.
///
/// # Errors
/// [`MachinesError::NoSuchNodes`] with the first machine of the plan that cannot be mapped.
pub fn fit(plan: &Platform, present: &Platform, held: &[String], job: u64) -> Result<Vec<String>, MachinesError> {
    let slots: Vec<&Machine> = plan.nodes().iter().filter(|node| node.processors > 0).collect();
    let mut left: Vec<&Machine> = present.nodes().iter().filter(|node| node.processors > 0).collect();
    let mut names: Vec<Option<String>> = vec![None; slots.len()];
    for (slot, name) in slots.iter().zip(&mut names) {
        let there = left.iter().position(|machine| machine.name == slot.name);
        let down = there.is_none() && held.contains(&slot.name);
        if down || there.is_some_and(|at| suffices(left[at], slot)) {
            *name = Some(slot.name.clone());
            there.map(|at| left.remove(at));
        }
    }
    // Map the machines with the largest resources first, each to the smallest sufficient machine.
    let mut open: Vec<usize> = (0..slots.len()).filter(|&at| names[at].is_none()).collect();
    let demand = |machine: &Machine| {
        let amounts: Vec<(String, u64)> =
            machine.resources.iter().map(|(name, amount)| (name.to_owned(), amount)).collect();
        (machine.processors, amounts)
    };
    open.sort_by_key(|&at| std::cmp::Reverse(demand(slots[at])));
    for at in open {
        let able = left.iter().enumerate().filter(|(_, machine)| suffices(machine, slots[at]));
        let Some((found, machine)) = able.min_by_key(|(_, machine)| demand(machine)) else {
            let asked = slots.iter().filter(|slot| are_equal(slot, slots[at])).count();
            let there = present.nodes().iter().filter(|machine| suffices(machine, slots[at])).count();
            let (place, node) = (format!("the allocation {job}"), describe(slots[at]));
            return Err(MachinesError::NoSuchNodes { place, asked, there, node });
        };
        names[at] = Some(machine.name.clone());
        left.remove(found);
    }
    Ok(names.into_iter().flatten().collect())
}
