//! Precedence network of activities.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Number of activities without predecessors, and number of activities without successors.
const ENDS: usize = 3;
/// Maximum number of direct predecessors and of direct successors of an activity.
const DEGREE: usize = 3;
/// A network of n activities is drawn up to `DRAWN` / n times, rounded up, but at most 20 times. Drawing is repeated
/// because not every network reaches the requested number of edges.
const DRAWN: usize = 2000;

/// A network without redundant edges. An edge is redundant if another path leads from its start to its end. Each edge
/// leads from an activity to an activity with a larger number.
pub(super) struct Network {
    pub(super) successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    /// `after[a][b]` is true if activity `b` is a direct or indirect successor of activity `a`.
    after: Vec<Vec<bool>>,
}

impl Network {
    /// Generates a network with an average of `complexity` edges for each activity. The start and the end of the
    /// project and their edges are included in this average. If no attempt yields enough edges, the function returns
    /// the network with the most edges.
    pub(super) fn draw(activities: usize, complexity: f64, random: &mut ChaCha8Rng) -> Self {
        let wanted = (complexity * (activities + 2) as f64).round() as usize;
        let mut best = Self::attempt(activities, wanted, random);
        for _ in 1..DRAWN.div_ceil(activities).min(20) {
            if best.size() >= wanted {
                break;
            }
            let next = Self::attempt(activities, wanted, random);
            if next.size() > best.size() {
                best = next;
            }
        }
        best
    }

    fn attempt(activities: usize, wanted: usize, random: &mut ChaCha8Rng) -> Self {
        let mut network = Self {
            successors: vec![Vec::new(); activities],
            predecessors: vec![Vec::new(); activities],
            after: vec![vec![false; activities]; activities],
        };
        let ends = ENDS.min(activities);
        for to in ends..activities {
            let open = |from: &usize| network.successors[*from].len() < DEGREE;
            let before: Vec<usize> = (0..to.min(activities - ends)).filter(open).collect();
            // `before` is not empty, because each new activity uses one free place for a successor and adds three free
            // places.
            network.join(before[random.random_range(0..before.len())], to);
        }
        for from in 0..activities.saturating_sub(ends) {
            if network.successors[from].is_empty() {
                let behind = |to: &usize| network.can_join(from, *to);
                let behind: Vec<usize> = (from.max(ends - 1) + 1..activities).filter(behind).collect();
                if !behind.is_empty() {
                    network.join(from, behind[random.random_range(0..behind.len())]);
                }
            }
        }
        // If an edge cannot be added now, it can never be added later. So each pair of activities is tried only once.
        let mut pairs: Vec<(usize, usize)> =
            (ends..activities).flat_map(|to| (0..to.min(activities - ends)).map(move |from| (from, to))).collect();
        let mut size = network.size();
        for at in 0..pairs.len() {
            if size >= wanted {
                break;
            }
            let other = random.random_range(at..pairs.len());
            pairs.swap(at, other);
            let (from, to) = pairs[at];
            if network.can_join(from, to) {
                network.join(from, to);
                size = network.size();
            }
        }
        network
    }

    /// Returns all edges, sorted by their start.
    pub(super) fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        self.successors.iter().enumerate().flat_map(|(from, all)| all.iter().map(move |&to| (from, to)))
    }

    /// Returns the number of edges, including the edges from the start of the project and the edges to its end.
    fn size(&self) -> usize {
        self.successors.iter().map(|all| all.len().max(1)).sum::<usize>()
            + self.predecessors.iter().filter(|all| all.is_empty()).count()
    }

    /// Returns true if an edge can be added. `from` must have fewer than [`DEGREE`] successors, and `to` fewer than
    /// [`DEGREE`] predecessors. The new edge must not be redundant, and must not make another edge redundant.
    fn can_join(&self, from: usize, to: usize) -> bool {
        let places = self.successors[from].len() < DEGREE && self.predecessors[to].len() < DEGREE;
        places && !self.after[from][to] && !self.makes_redundant(from, to)
    }

    /// Returns true if an edge from `from` to `to` would make an existing edge redundant. Such an existing edge begins
    /// at `from` or at a predecessor of `from`, and ends at `to` or at a successor of `to`.
    fn makes_redundant(&self, from: usize, to: usize) -> bool {
        let before = |at: usize| at == from || self.after[at][from];
        let behind = |at: usize| at == to || self.after[to][at];
        self.edges().any(|(first, second)| before(first) && behind(second))
    }

    fn join(&mut self, from: usize, to: usize) {
        self.successors[from].push(to);
        self.predecessors[to].push(from);
        let behind: Vec<usize> = (to..self.after.len()).filter(|&at| at == to || self.after[to][at]).collect();
        for at in 0..=from {
            if at == from || self.after[at][from] {
                behind.iter().for_each(|&behind| self.after[at][behind] = true);
            }
        }
    }
}
