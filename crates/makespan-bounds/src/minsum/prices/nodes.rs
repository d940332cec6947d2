//! Prices in time for each node of a platform with different nodes.

use makespan_core::{Availability, Instance, JobId, Objective, ProcSet, Unavailable};

use super::allotments::FloatJobs;
use super::newton::{COLD, Newton};
use super::smooth::Landscape;
use super::terms::Terms;
use super::{
    FEW, FEW_A_JOB, FIRST_INSTANTS, MAX_INSTANTS, PriceOptions, PriceSearch, deadline, fixed, fluid, instants,
    integrals,
};

/// Maximum product of the number of nodes and the number of jobs.
const MAX_TIMES: usize = 24_000;
/// Maximum product of the number of nodes and the number of instants at the beginning of the search.
const FIRST: usize = 384;
/// Minimum number of instants. With fewer instants, the bound would be weak.
const FEWEST: usize = 12;

impl PriceSearch {
    /// Creates a search for sequential jobs on nodes that differ. Each node has its own prices. For the makespan, the
    /// search tries to refute `makespan_at_most`. Returns `None` in the same cases as [`Self::new`], except that nodes
    /// may differ in speed. Also returns `None` if the product of the number of nodes and the number of jobs is too
    /// large.
    pub fn on_nodes(instance: &Instance, options: PriceOptions) -> Option<Self> {
        let nodes = instance.platform().nodes().len();
        let refutes = options.objective == Objective::Makespan;
        let first = if refutes { deadline::INSTANTS } else { FIRST_INSTANTS }.min(FIRST / nodes.max(1));
        if !instance.is_sequential()
            || instance.jobs().is_empty()
            || nodes * instance.jobs().len() > MAX_TIMES
            || first < FEWEST
            || refutes != options.makespan_at_most.is_some()
        {
            return None;
        }
        let weigh = options.weigh();
        let job = |id: JobId| {
            let simple = instance.simple(id);
            let time =
                |node: usize| Some((node as u32, instance.time_on(instance.job(id).first(), node)?.ticks() as f64));
            (
                simple.tasks() as f64,
                weigh(&simple),
                simple.release.ticks() as f64,
                (0..nodes).filter_map(time).collect(),
            )
        };
        let jobs = FloatJobs::on_nodes(instance.ids().map(job));
        let processors = instance.processors();
        let availability = instance.availability().clone();
        let tasks = instance.jobs().iter().map(|job| job.tasks() as usize).fold(0, usize::saturating_add);
        let few = FEW_A_JOB.saturating_mul(tasks).saturating_add(FEW);
        let count = first.min(few);
        let times = || jobs.shapes.iter().map(|shape| shape.time);
        let (shortest, longest) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        let origin = instance.first_release().ticks() as f64;
        let fluid = fluid(&jobs, processors, &availability);
        let last = match options.makespan_at_most {
            Some(most) => most.ticks() as f64 - origin,
            None => 1.5 * (fluid.last().map_or(origin, |&(end, _)| end) - origin) + longest,
        };
        let instants = instants::first(instance, shortest, last, count);
        let integrals = match options.makespan_at_most {
            // Begin with the price 0.5 for each processor-tick. The cost of omitting a job is 1 for each processor-tick
            // of its work.
            Some(_) => instants.iter().map(|instant| 0.5 * (instant - origin)).collect(),
            None => integrals(&fluid, &instants),
        };
        let integrals = integrals.into_iter().flat_map(|integral| std::iter::repeat_n(integral, nodes)).collect();
        let terms = Terms::Nodes((0..nodes).map(|node| of_node(instance, node)).collect());
        let open = terms.open(&availability, &instants);
        let mut landscape = Landscape::new(jobs, terms, options.horizon(), None, true);
        if refutes {
            landscape.leave_out();
        }
        landscape.place_on(instants, open);
        let newton = Newton::new(landscape, integrals, if refutes { deadline::COLD } else { COLD });
        let (fixed, most) = (fixed(instance, options.horizon()), MAX_INSTANTS.min(few));
        Some(Self { options, availability, newton, fixed, count, most, settled: refutes })
    }
}

/// Returns the availability of the processors of a node.
fn of_node(instance: &Instance, node: usize) -> Availability {
    let own = instance.platform().processors_of(node);
    let first = own.iter().next().unwrap_or(0);
    let shifted = |period: &Unavailable| {
        let closed = own.intersection(&period.processors);
        let ids = closed.iter().map(|id| (id - first, id - first)).collect();
        (!closed.is_empty()).then(|| Unavailable { processors: ProcSet::from_intervals(ids), ..period.clone() })
    };
    let closed: Vec<Unavailable> = instance.unavailable().iter().filter_map(shifted).collect();
    Availability::new(own.len(), &closed)
}
