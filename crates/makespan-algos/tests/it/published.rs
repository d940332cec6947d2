//! Published figures of EASY backfilling: the outputs of the experiments of É. Gaussier, D. Glesser, V. Reis and D.
//! Trystram, SC 2015, DOI 10.1145/2807591.2807646, for logs of the Parallel Workloads Archive.

use std::path::Path;

use makespan_algos::policy::policy;
use makespan_core::Measures;
use makespan_formats::{Estimates, ReplayOptions, read_replay};
use makespan_sim::{Silent, SimulationOptions, simulate};

/// For each log and kind of estimates, two texts with the mean bounded slowdown and the mean wait in seconds. The first
/// text contains the published values. The second text contains the results of `easy[passes=instant]`, which makes
/// decisions once after all events of an instant (`docs/decisions/policies.md`).
const PUBLISHED: [(&str, Estimates, &str, &str); 4] = [
    ("KTH-SP2-filtered", Estimates::User, "92.58 6836.9", "92.69 6834.6"),
    ("KTH-SP2-filtered", Estimates::Clairvoyant, "71.72 6327.7", "71.72 6327.7"),
    ("CTC-SP2-filtered", Estimates::User, "49.57 14272.6", "48.84 13943.0"),
    ("CTC-SP2-filtered", Estimates::Clairvoyant, "37.17 13581.7", "37.17 13581.7"),
];

#[test]
fn easy_gives_the_published_figures() {
    for (name, estimates, published, once_an_instant) in PUBLISHED {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/swf");
        let path = folder.join(format!("{name}.swf.gz"));
        if !path.exists() {
            eprintln!("SKIPPED: {} is not there", path.display());
            continue;
        }
        let replay = read_replay(&path, &ReplayOptions { estimates, ..ReplayOptions::default() }).unwrap();
        let figures = |spec: &str| {
            let mut policy = policy(spec, 1).unwrap();
            let options = SimulationOptions::default();
            let done = simulate(&replay.instance, &replay.actual, policy.as_mut(), &options, &mut Silent).unwrap();
            let measures = Measures::of(&replay.instance, &done.trace);
            assert_eq!(measures.jobs, replay.instance.jobs().len());
            format!("{:.2} {:.1}", measures.bounded_slowdown.mean, measures.wait.mean)
        };
        assert_eq!(figures("easy"), published, "{name}, {estimates}");
        assert_eq!(figures("easy[passes=instant]"), once_an_instant, "{name}, {estimates}");
    }
}
