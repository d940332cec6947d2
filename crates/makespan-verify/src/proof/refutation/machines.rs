//! The relaxed problem of sequential tasks on machines that differ: each mode of a task is a class of equal nodes.

use makespan_core::{Instance, Payload, ProcSet, ResourceId, ResourceKind, TaskId};
use rustc_hash::FxHashMap;

use crate::proof::CertificateError;
use crate::proof::error::unproved;

use super::LIMIT;
use super::supply::Supply;
use super::task::Mode;
use super::units::{Grid, consumable, renewable};

/// Maximum number of nodes, and of tasks, with which each node of equal processors is a class.
const MAX_EQUAL: (usize, u64) = (16, 40);
/// Maximum number of nodes.
const MAX_NODES: usize = 1 << 12;
/// Maximum number of nodes, multiplied by the number of different tasks.
const MAX_TIMES: usize = 1 << 20;
/// Maximum number of classes. A certificate supports no more supplies.
const MAX_CLASSES: usize = 254;

/// Maximum number of transfer times of all edges.
const MAX_TRANSFERS: usize = 1 << 20;

/// The classes of nodes of a platform. Every task takes the same time on all nodes of a class. If transfers take time,
/// each node is a class of its own.
#[derive(Clone, Debug)]
pub(super) struct MachineClasses(Vec<Vec<usize>>);

impl MachineClasses {
    /// Returns the classes, in the order of their first nodes. Returns `None` if all processors are equal, unless
    /// transfers between a few nodes take time and few tasks are all sequential.
    pub(super) fn new(instance: &Instance) -> Result<Option<Self>, CertificateError> {
        let nodes = instance.platform().node_count();
        let has_few = (2..=MAX_EQUAL.0).contains(&nodes) && instance.tasks() <= MAX_EQUAL.1;
        let is_sequential = || instance.different_task_ids().all(|task| instance.profile(task).is_sequential());
        if instance.has_equal_processors() && !(instance.has_transfers() && has_few && is_sequential()) {
            return Ok(None);
        }
        if instance.platform().is_tree() || !is_sequential() {
            return Err(CertificateError::UnequalProcessors);
        }
        if nodes > MAX_NODES || nodes.saturating_mul(instance.different_tasks()) > MAX_TIMES {
            return unproved(format!(
                "the instance is too large for a certificate `refutation`: on processors that differ, there may be at \
                 most {MAX_NODES} nodes, and the number of nodes times the number of different tasks may be at most \
                 {MAX_TIMES}"
            ));
        }
        let mut classes: Vec<Vec<usize>> = Vec::new();
        let mut numbers: FxHashMap<(Vec<_>, _), usize> = FxHashMap::default();
        let has_transfers = instance.has_transfers();
        for node in (0..nodes).filter(|&node| instance.platform().nodes()[node].processors > 0) {
            let times = instance.different_task_ids().map(|task| instance.time_on(task, node)).collect();
            let alone = has_transfers.then_some(node);
            let number = *numbers.entry((times, alone)).or_insert(classes.len());
            if number == MAX_CLASSES {
                return unproved(format!(
                    "a certificate `refutation` supports at most {MAX_CLASSES} classes of nodes with equal times"
                ));
            }
            if number == classes.len() {
                classes.push(Vec::new());
            }
            classes[number].push(node);
        }
        Ok(Some(Self(classes)))
    }

    /// Returns the supplies of all classes. For each class: its processors, then the resources of its nodes.
    pub(super) fn supplies(&self, instance: &Instance, grid: Grid) -> Result<Vec<Supply>, CertificateError> {
        let mut supplies = Vec::new();
        for nodes in &self.0 {
            let mut own = ProcSet::new();
            nodes.iter().for_each(|&node| own.insert(&instance.platform().processors_of(node)));
            let mut closed = Vec::new();
            for class in instance.availability().classes().iter().filter(|class| !class.closed.is_empty()) {
                let count = i128::from(own.intersection(&class.processors).len());
                if count == 0 {
                    continue;
                }
                closed.extend(class.closed.iter().map(|&(from, until)| (grid.down(from), grid.down(until), count)));
            }
            supplies.push(Supply::new(own.len().into(), &closed)?);
            for resource in of_nodes(instance) {
                let amounts = nodes.iter().map(|&node| i128::from(instance.platform().amount(node, resource)));
                supplies.push(Supply::new(amounts.sum(), &[])?);
            }
        }
        Ok(supplies)
    }

    /// Returns the times of an edge's transfer for each class of the predecessor and each class of the successor.
    pub(super) fn transfers(&self, instance: &Instance, payload: Payload, grid: Grid) -> Vec<Vec<i64>> {
        let time = |from: &Vec<usize>, to: &Vec<usize>| {
            let route = instance.platform().route(from[0], to[0]);
            grid.down(route.time(payload)).max(0)
        };
        self.0.iter().map(|from| self.0.iter().map(|to| time(from, to)).collect()).collect()
    }

    /// Returns an error if `edges` edges have too many transfer times between classes.
    pub(super) fn check_transfers(&self, edges: usize) -> Result<(), CertificateError> {
        if edges.saturating_mul(self.0.len() * self.0.len()) > MAX_TRANSFERS {
            return unproved(format!(
                "the instance is too large for a certificate `refutation`: the number of edges times the square of the \
                 number of nodes may be at most {MAX_TRANSFERS}"
            ));
        }
        Ok(())
    }

    /// Returns the modes of a task, one for each class on which the task can run. The times never increase, and modes
    /// of equal times are in the order of their classes.
    pub(super) fn modes(&self, instance: &Instance, task: TaskId, grid: Grid) -> Result<Vec<Mode>, CertificateError> {
        let need = |resource| {
            let demand = instance.demands(task).iter().find(|demand| demand.resource == resource);
            demand.map_or(0, |demand| i128::from(demand.need.total(1)))
        };
        let whole: Vec<i128> = std::iter::once(1).chain(renewable(instance).map(need)).collect();
        let used_up: Vec<i128> = consumable(instance).map(need).collect();
        let of_class: Vec<i128> = std::iter::once(1).chain(of_nodes(instance).map(need)).collect();
        let mode = |(number, nodes): (usize, &Vec<usize>)| {
            let time = grid.down(instance.time_on(task, nodes[0])?);
            let mut amounts = vec![0; self.0.len() * of_class.len()];
            amounts[number * of_class.len()..][..of_class.len()].copy_from_slice(&of_class);
            let amounts = whole.iter().copied().chain(amounts).collect();
            let used_up = used_up.clone();
            Some(Mode { time, latest: LIMIT, amounts, used_up, is_on_one_node: true, class: number })
        };
        let mut modes: Vec<Mode> = self.0.iter().enumerate().filter_map(mode).collect();
        modes.sort_by_key(|mode| std::cmp::Reverse(mode.time));
        if modes.is_empty() {
            return unproved("some task can run on no node");
        }
        Ok(modes)
    }
}

/// Returns the renewable resources that belong to nodes, in the order of the platform.
fn of_nodes(instance: &Instance) -> impl Iterator<Item = ResourceId> + '_ {
    renewable(instance).filter(|&resource| instance.platform().resource_of(resource).kind == ResourceKind::OfNodes)
}
