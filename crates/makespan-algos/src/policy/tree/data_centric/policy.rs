//! Nodes that follow the traded rates. When a machine changes, the nodes trade again.

use std::cell::RefCell;
use std::rc::Rc;

use makespan_core::network::{Network, NodeDecision, NodeEvent, NodePolicy, NodeView};

use super::data_centric_rates;
use crate::policy::tree::{Balanced, NodeRates};

/// DATA-CENTRIC: one-dimensional load balancing by the rates of [`data_centric_rates`]. When a bandwidth or a speed
/// changes, or a node is removed, the rates are computed again. The messages of a search take no time here, because
/// the paper's requests have only a few bytes.
#[derive(Clone, Debug)]
pub struct DataCentric {
    exchange: Rc<RefCell<Exchange>>,
    node: usize,
    balanced: Balanced,
    /// The number of the search that found the rates of `balanced`.
    search: u32,
}

/// The common data that the nodes have exchanged by messages.
#[derive(Debug)]
struct Exchange {
    network: Network,
    bandwidth: Vec<f64>,
    speed: Vec<f64>,
    waves: usize,
    rates: NodeRates,
    search: u32,
    is_outdated: bool,
}

impl DataCentric {
    /// Returns the policies of all nodes. Each search for rates performs up to `waves` operations.
    pub fn of(network: &Network, waves: usize) -> Vec<Self> {
        let (bandwidth, speed): (Vec<f64>, Vec<f64>) =
            network.nodes().iter().map(|node| (node.bandwidth, node.speed)).unzip();
        let rates = data_centric_rates(network, &bandwidth, &speed, waves);
        let exchange =
            Exchange { network: network.clone(), bandwidth, speed, waves, rates, search: 0, is_outdated: false };
        let exchange = Rc::new(RefCell::new(exchange));
        let policy = |node| {
            let balanced = exchange.borrow().balanced(node);
            Self { exchange: Rc::clone(&exchange), node, balanced, search: 0 }
        };
        (0..network.nodes().len()).map(policy).collect()
    }
}

impl Exchange {
    fn balanced(&self, node: usize) -> Balanced {
        let (compute, sent) = self.rates.of(&self.network, node);
        Balanced::new(compute, sent)
    }

    /// Sets the speed of a node and of all nodes below it to zero, so that no operation sends tasks to them.
    fn without(&mut self, node: usize) {
        let mut below = vec![node];
        while let Some(node) = below.pop() {
            self.speed[node] = 0.0;
            below.extend(self.network.children(node));
        }
    }

    fn search_again(&mut self) {
        if self.is_outdated {
            self.rates = data_centric_rates(&self.network, &self.bandwidth, &self.speed, self.waves);
            self.search += 1;
            self.is_outdated = false;
        }
    }
}

impl NodePolicy for DataCentric {
    fn hear(&mut self, event: NodeEvent, view: &NodeView<'_>) {
        let mut exchange = self.exchange.borrow_mut();
        let child_id = |exchange: &Exchange, child: usize| exchange.network.children(self.node).start + child;
        match event {
            NodeEvent::BandwidthChanged { child } => {
                let id = child_id(&exchange, child);
                exchange.bandwidth[id] = view.children.bandwidth[child];
            }
            NodeEvent::SpeedChanged => exchange.speed[self.node] = view.speed,
            NodeEvent::ChildRemoved { child } => {
                let id = child_id(&exchange, child);
                exchange.without(id);
            }
            NodeEvent::Received { .. } | NodeEvent::Requested { .. } | NodeEvent::Returned { .. } => return,
        }
        exchange.is_outdated = true;
    }

    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
        let mut exchange = self.exchange.borrow_mut();
        exchange.search_again();
        if self.search != exchange.search {
            self.search = exchange.search;
            self.balanced = exchange.balanced(self.node);
        }
        drop(exchange);
        self.balanced.decide(view)
    }
}
