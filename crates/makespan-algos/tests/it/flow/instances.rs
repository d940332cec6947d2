//! Small random instances of compound jobs and single tasks.

use makespan_core::{
    Edge, Graph, Instance, Job, Link, NamedTask, Node, Payload, Platform, ProcSet, Profile, Time, Unavailable,
};
use proptest::prelude::*;

pub fn t(ticks: i64) -> Time {
    Time::from_ticks(ticks)
}

/// Returns a platform of four processors: one node, or three nodes of unequal speed with links.
fn platform(tree: bool) -> Platform {
    if !tree {
        return Platform::flat(4).unwrap();
    }
    let link = Some(Link { bandwidth: 1e9, latency: t(3) });
    let node = |(name, processors, speed, parent): (&str, u32, f64, Option<usize>)| Node {
        speed,
        parent,
        link: parent.and(link),
        ..Node::new(name, processors)
    };
    let nodes = [("a", 1, 1.0, None), ("b", 1, 2.5, Some(0)), ("c", 2, 0.5, Some(1))];
    Platform::new(nodes.map(node).to_vec()).unwrap()
}

prop_compose! {
    fn graph()(
        times in prop::collection::vec(1_i64..60, 1..9),
        edges in prop::collection::vec((any::<u16>(), any::<bool>(), 0_u16..50), 0..12),
    ) -> Graph {
        let count = times.len() as u16;
        let task = |(index, &ticks): (usize, &i64)| NamedTask::new(index.to_string(), Profile::rigid(1, t(ticks)).unwrap());
        let edge = |(pair, fixed, amount): (u16, bool, u16)| {
            let (a, b) = (u32::from(pair % count), u32::from(pair / 256 % count));
            let payload = if fixed { Payload::Fixed(t(i64::from(amount))) } else { Payload::Bytes(amount.into()) };
            (a != b).then(|| Edge { from: a.min(b), to: a.max(b), payload })
        };
        let mut edges: Vec<Edge> = edges.into_iter().filter_map(edge).collect();
        edges.sort_by_key(|edge| (edge.from, edge.to));
        edges.dedup_by_key(|edge| (edge.from, edge.to));
        Graph::new(times.iter().enumerate().map(task).collect(), edges).unwrap()
    }
}

prop_compose! {
    pub fn instance(latest: i64)(
        tree in any::<bool>(),
        graphs in prop::collection::vec((graph(), 0..=latest), 1..4),
        simple in prop::collection::vec((1_i64..40, 0..=latest), 0..3),
        periods in prop::collection::vec((0_u32..4, 0_i64..150, 1_i64..50), 0..3),
    ) -> Instance {
        let compound = |(index, (graph, release)): (usize, (Graph, i64))| {
            Job::compound(format!("c{index}"), graph).with_release(t(release))
        };
        let simple = simple.into_iter().enumerate().map(|(index, (ticks, release))| {
            Job::new(format!("s{index}"), Profile::rigid(1, t(ticks)).unwrap()).with_release(t(release))
        });
        let period = |(id, start, length): (u32, i64, i64)| Unavailable {
            processors: ProcSet::range(id, id),
            start: t(start),
            end: t(start + length),
        };
        let jobs = graphs.into_iter().enumerate().map(compound).chain(simple).collect();
        Instance::new(platform(tree), jobs, periods.into_iter().map(period).collect()).unwrap()
    }
}
