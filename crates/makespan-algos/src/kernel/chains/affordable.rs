//! List scheduling within a budget.

use super::draft::Draft;
use super::frame::Frame;
use super::tariff::Purse;
use crate::free_time::Calendar;
use crate::kernel::graph::NodeId;
use crate::kernel::graph::placing::earliest;

/// Plans a job by HEFT on processors that may be busy at times, within a budget. Each task takes the processor on which
/// it ends first, among the processors that leave enough of the budget for the least charges of all later tasks.
///
/// Source: H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE Trans. Parallel Distrib. Syst. 13(3), 2002, DOI 10.1109/71.993206,
/// for the order of the tasks. If the purse is not empty, the plan keeps the budget.
pub fn heft_within<'a>(frame: &'a Frame<'a>, calendars: &[Calendar], mut purse: Purse) -> Draft<'a> {
    let problem = frame.problem();
    let mut draft = Draft::new(frame, calendars.to_vec());
    for &task in frame.by_rank() {
        let arrival = |node: NodeId| draft.arrival(task, problem.first_of(node));
        let key = |node: NodeId, end: i64| (purse.excess(task, node), end);
        if let Some((place, _)) = earliest(problem, frame.number(task), draft.calendars(), arrival, key) {
            purse.pay(task, problem.node_of(place.processor));
            draft.put_on(task, place);
        }
    }
    draft
}
