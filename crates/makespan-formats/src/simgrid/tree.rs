//! Converts routes to a tree.

use makespan_core::{Link, Node, counted};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::suggest::nearest;

/// The hosts, routers and routes of all zones of a platform.
#[derive(Default)]
pub(super) struct PlatformZones {
    pub places: Vec<HostOrRouter>,
    pub links: FxHashMap<String, Link>,
    pub routes: Vec<Route>,
}

impl PlatformZones {
    /// Returns whether the platform has a network: it declares links or routes. A platform with only one host needs no
    /// network, so the result is true.
    pub fn has_network(&self) -> bool {
        !self.links.is_empty() || !self.routes.is_empty() || self.places.len() == 1
    }

    /// Returns an error if two hosts or routers have the same name.
    pub fn unique(&self) -> Result<(), (usize, String)> {
        let mut seen = FxHashSet::default();
        match self.places.iter().find(|place| !seen.insert(place.name.as_str())) {
            Some(twice) => Err((twice.at, format!("two hosts or routers are named `{}`", twice.name))),
            None => Ok(()),
        }
    }
}

/// Returns the hosts that run jobs, but not the network between these hosts.
pub(super) fn flat(zone: &PlatformZones) -> Vec<Node> {
    let hosts = zone.places.iter().filter(|place| place.processors > 0);
    hosts.map(|place| Node { speed: place.speed, ..Node::new(place.name.clone(), place.processors) }).collect()
}

/// A host or a router.
pub(super) struct HostOrRouter {
    pub name: String,
    pub processors: u32,
    pub speed: f64,
    /// Byte offset in the file.
    pub at: usize,
}

/// A route between two hosts or routers.
pub(super) struct Route {
    pub from: String,
    pub to: String,
    pub links: Vec<String>,
    pub at: usize,
}

impl HostOrRouter {
    /// Returns a router.
    pub fn switch(name: String, at: usize) -> Self {
        Self { name, processors: 0, speed: 1.0, at }
    }
}

/// An edge of the network: its ends, and the name of its link.
struct Edge<'a> {
    ends: [usize; 2],
    link: &'a str,
}

/// Returns the nodes of the tree. Its edges are the routes with one link. The root is the first host, or the router of
/// a cluster. Returns an error if these routes are not a tree, or if a longer route does not follow the tree.
pub(super) fn joined(zone: &PlatformZones) -> Result<Vec<Node>, (usize, String)> {
    let PlatformZones { places, links, routes } = zone;
    let Some(first) = places.first() else { return Err((0, "the zone has no host".into())) };
    let positions: FxHashMap<&str, usize> =
        places.iter().enumerate().map(|(at, place)| (place.name.as_str(), at)).collect();
    let end = |route: &Route, name: &str| {
        positions.get(name).copied().ok_or_else(|| (route.at, format!("there is no host or router `{name}`")))
    };
    let ends = |route: &Route| Ok([end(route, &route.from)?, end(route, &route.to)?]);
    let mut edges: Vec<Edge<'_>> = Vec::new();
    let mut user: FxHashMap<&str, [usize; 2]> = FxHashMap::default();
    for route in routes {
        let unknown = route.links.iter().find(|link| !links.contains_key(*link));
        if let Some(link) = unknown {
            let near = nearest(link, links.keys().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err((route.at, format!("there is no link `{link}`{hint}")));
        }
        let mut ends = ends(route)?;
        let [link] = &route.links[..] else { continue };
        ends.sort_unstable();
        match user.insert(link, ends) {
            Some(other) if other == ends => {}
            Some(_) => {
                let problem =
                    format!("link `{link}` joins several pairs of neighbours; in a tree, each link joins one pair");
                return Err((route.at, problem));
            }
            None => edges.push(Edge { ends, link }),
        }
    }
    if edges.len() + 1 != places.len() {
        let problem = format!(
            "the routes of a single link join {} of neighbours, but a tree of {} hosts and routers has {} such pairs; \
             give each host and router exactly one parent",
            counted(edges.len(), "pair"),
            places.len(),
            places.len() - 1
        );
        return Err((first.at, problem));
    }
    let root = root(places, routes);
    let (above, depths) = parents(places, &edges, root)?;
    for route in routes.iter().filter(|route| route.links.len() != 1) {
        follows(route, ends(route)?, &above, &depths)?;
    }
    let node = |(at, place): (usize, &HostOrRouter)| {
        let (parent, link): (Option<usize>, Option<Link>) =
            above[at].map_or((None, None), |(parent, link)| (Some(parent), links.get(link).copied()));
        Node { speed: place.speed, parent, link, ..Node::new(place.name.clone(), place.processors) }
    };
    Ok(places.iter().enumerate().map(node).collect())
}

/// Returns the index of the root. In a platform that is a single cluster, the root is the router, which is at index 0.
/// Otherwise, the root is the first host.
fn root(places: &[HostOrRouter], routes: &[Route]) -> usize {
    let cluster = routes.iter().all(|route| route.at == places[0].at);
    if cluster { 0 } else { places.iter().position(|place| place.processors > 0).unwrap_or(0) }
}

/// For each host or router, its parent and the name of the link to its parent. `None` for the root.
type Above<'a> = Vec<Option<(usize, &'a str)>>;

/// Returns the parent of each host and router, and the number of links from the host or router to the root.
fn parents<'a>(
    places: &[HostOrRouter],
    edges: &[Edge<'a>],
    root: usize,
) -> Result<(Above<'a>, Vec<usize>), (usize, String)> {
    let mut neighbours = vec![Vec::new(); places.len()];
    for edge in edges {
        let [a, b] = edge.ends;
        neighbours[a].push((b, edge.link));
        neighbours[b].push((a, edge.link));
    }
    let (mut above, mut depths) = (vec![None; places.len()], vec![0; places.len()]);
    let (mut reached, mut next) = (vec![root], 0);
    while next < reached.len() {
        let at = reached[next];
        next += 1;
        for &(other, link) in &neighbours[at] {
            if other != root && above[other].is_none() {
                above[other] = Some((at, link));
                depths[other] = depths[at] + 1;
                reached.push(other);
            }
        }
    }
    match (0..places.len()).find(|&at| at != root && above[at].is_none()) {
        None => Ok((above, depths)),
        Some(lost) => {
            let problem = format!(
                "`{}` is not connected to the root `{}` by routes of a single link",
                places[lost].name, places[root].name
            );
            Err((places[lost].at, problem))
        }
    }
}

/// Checks that a longer route uses the links of the path through the tree, in any order. The search stops when the
/// path has more links than the route. So the time is proportional to the length of the route.
fn follows(route: &Route, [from, to]: [usize; 2], above: &Above<'_>, depths: &[usize]) -> Result<(), (usize, String)> {
    let (mut a, mut b) = (from, to);
    let mut way: Vec<&str> = Vec::new();
    while a != b && way.len() <= route.links.len() {
        let lower = if depths[a] >= depths[b] { &mut a } else { &mut b };
        // The lower of two different nodes cannot be the root, so it has a parent.
        let Some((parent, link)) = above[*lower] else { break };
        way.push(link);
        *lower = parent;
    }
    let mut stated: Vec<&str> = route.links.iter().map(String::as_str).collect();
    way.sort_unstable();
    stated.sort_unstable();
    if way == stated {
        return Ok(());
    }
    Err((
        route.at,
        format!(
            "the route from `{}` to `{}` differs from the path between them in the tree; only the routes of a single link \
             determine this tree",
            route.from, route.to
        ),
    ))
}
