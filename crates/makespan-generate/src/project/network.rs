//! Precedence network of activities.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Number of activities without predecessors, and number of activities without successors.
const ENDS: usize = 3;
/// Maximum number of predecessors of an activity, and maximum number of its successors.
const DEGREE: usize = 3;
/// Limit for the search for a network with the requested number of edges: the total number of activities of all
/// networks that are generated.
const DRAWN: usize = 2000;

/// Edges from an activity to an activity with a larger number, without redundant edges.
pub(super) struct Network {
    pub(super) successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    /// For each activity, its direct and indirect successors.
    after: Vec<Vec<bool>>,
}

impl Network {
    /// Generates a network with the given average number of edges for each activity. Edges from the begin of the
    /// project to each first activity and from each last activity to the end of the project count as well. If no
    /// generated network reaches this number, the function returns the network with the most edges.
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
            // `before` is not empty, because each new activity uses one free slot for an edge and adds three.
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
        // An edge that cannot be added now can never be added later.
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

    /// Returns all edges, ordered by their first activity.
    pub(super) fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        self.successors.iter().enumerate().flat_map(|(from, all)| all.iter().map(move |&to| (from, to)))
    }

    /// Returns the number of edges, including the edges from the begin and to the end of the project.
    fn size(&self) -> usize {
        self.successors.iter().map(|all| all.len().max(1)).sum::<usize>()
            + self.predecessors.iter().filter(|all| all.is_empty()).count()
    }

    /// Returns whether an edge can be added: both activities have free slots, the new edge is not redundant, and the
    /// new edge makes no other edge redundant.
    fn can_join(&self, from: usize, to: usize) -> bool {
        let places = self.successors[from].len() < DEGREE && self.predecessors[to].len() < DEGREE;
        places && !self.after[from][to] && !self.makes_redundant(from, to)
    }

    /// Returns whether an existing edge leads from `from` or one of its predecessors to `to` or one of its successors.
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
