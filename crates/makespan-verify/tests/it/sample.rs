//! An instance and a plan with bounds of several kinds, as texts.

use makespan_core::{Instance, JobId, Objective, Placement, Schedule, TaskId, Time};
use makespan_verify::native::instance::read_json;
use makespan_verify::native::schedule::ScheduleFile;
use makespan_verify::proof::{Alone, IntervalPrices};
use makespan_verify::{Bound, Proof};

/// Two jobs on two processors.
pub const INSTANCE: &str = r#"{"version": 2, "platform": {"processors": 2},
 "unavailable": [{"processors": "1", "start": 9, "end": 10}],
 "jobs": [{"name": "a", "time": [4, 2.5], "deadline": 5}, {"name": "b", "time": 3, "weight": 2, "released": 1}]}
"#;

pub fn instance() -> Instance {
    read_json("i.json", INSTANCE.as_bytes(), None).unwrap()
}

/// Returns a valid plan file.
pub fn plan() -> String {
    let instance = instance();
    let placement = |task, start, end, processors: &str| Placement {
        task: TaskId(task),
        start: Time::from_seconds(start),
        end: Time::from_seconds(end),
        processors: processors.parse().unwrap(),
    };
    let schedule = Schedule::new(vec![placement(0, 0, 4, "0"), placement(1, 1, 4, "1")]);
    let alone = Proof::Alone(Alone { job: JobId(1) });
    let prices = IntervalPrices { ends: vec![Time::from_seconds(4)], prices: vec![1 << 19], scale: 20 };
    let proofs = [(Objective::Makespan, alone), (Objective::WeightedCompletion, Proof::IntervalPrices(prices))];
    let bounds = proofs.map(|(objective, proof)| Bound::proved_by(objective, proof, &instance).unwrap());
    let file = ScheduleFile::new(&instance, "list", schedule).with_bounds(&instance, &bounds);
    let mut text = Vec::new();
    file.write(&instance, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}
