//! Tests of resources, needs and dependencies between jobs.

use makespan_core::{Instance, Job, JobId, Need, Needs, Platform, Profile, Resources, Time};
use proptest::prelude::*;

use super::tests::{json, round_trip, toml};

const FULL: &str = r#"{"version": 2, "platform": {"nodes": [{"name": "a", "processors": 16, "resources": {"memory": "64GiB", "gpus": 2}},
  {"name": "b", "processors": 8, "resources": {"memory": 68719476737}}], "licences": {"solver": 3}, "consumables": {"budget": 90}},
 "jobs": [{"name": "b", "work": 3}, {"name": "c", "count": 7, "time": 2, "needs": {"gpus": 1}, "after": ["a"]},
  {"name": "a", "processors": 2, "time": 30, "deadline": 60, "needs": {"memory": "4GiB", "gpus": 1, "per_processor": {"memory": "1.5GiB"}},
   "after": ["b"]},
  {"name": "d", "time": [9, 5, 4], "needs": {"budget": [20, 30, 40], "memory": ["1GiB", "2 GB", 3], "per_processor": {"solver": 1}}},
  {"name": "g", "after": ["d", "a"], "tasks": [{"name": "x", "time": [3, 2], "needs": {"memory": 0}}, {"name": "y", "work": 1,
   "needs": {"per_processor": {"memory": "1kB"}}}], "edges": [{"from": "x", "to": "y"}]}]}"#;

#[test]
fn needs_and_resources_are_read_and_written_back() {
    let instance = json(FULL).unwrap();
    let platform = instance.platform();
    let amount = |node, name| platform.amount(node, platform.resource(name).unwrap());
    assert_eq!((amount(0, "memory"), amount(1, "memory"), amount(1, "gpus")), (64 << 30, (64 << 30) + 1, 0));
    assert_eq!((platform.licences().amount("solver"), platform.consumables().amount("budget")), (3, 90));
    let need = |job: u32, name: &str| instance.task(instance.job(JobId(job)).first()).needs.of(name).cloned();
    assert_eq!(need(2, "memory"), Some(Need::Linear { whole: 4 << 30, per_processor: 3 << 29 }));
    assert_eq!(need(3, "memory"), Some(Need::ByAllotment([1 << 30, 2_000_000_000, 3].into())));
    assert_eq!((need(3, "solver"), need(1, "gpus")), (Some(Need::per_processor(1)), Some(Need::whole(1))));
    assert_eq!(instance.job(JobId(4)).waits_for(), [JobId(2), JobId(3)]);
    round_trip(&instance);
}

#[test]
fn equal_nodes_keep_their_resources_in_few_words() {
    for machines in [
        r#""processors": 4, "resources": {"memory": "1TiB", "disk": 7}"#,
        r#""nodes": 3, "processors_per_node": 2, "placement": "compact", "resources": {"gpus": 2}, "licences": {"x": 0}"#,
    ] {
        round_trip(
            &json(&format!(r#"{{"version": 2, "platform": {{{machines}}}, "jobs": [{{"name": "a", "work": 1}}]}}"#))
                .unwrap(),
        );
    }
}

#[test]
fn toml_means_the_same() {
    let text = "version = 2\n[platform]\nprocessors = 4\nresources = { memory = '8GiB' }\nlicences.solver = 2\n\
                [[jobs]]\nname = 'a'\ntime = [4, 3]\nneeds = { memory = '1GiB', solver = [1, 2], per_processor.memory = 512 }\n\
                [[jobs]]\nname = 'b'\nwork = 2\nafter = ['a']\n";
    let same = r#"{"version": 2, "platform": {"processors": 4, "resources": {"memory": "8GiB"}, "licences": {"solver": 2}},
        "jobs": [{"name": "a", "time": [4, 3], "needs": {"memory": 1073741824, "solver": [1, 2], "per_processor": {"memory": 512}}},
        {"name": "b", "work": 2, "after": ["a"]}]}"#;
    super::tests::assert_equal(&toml(text).unwrap(), &json(same).unwrap());
}

/// Checks the error for these jobs on a platform with a node of 4 processors and a node of 2 processors.
fn refused(jobs: &str, expect: &[&str]) {
    let platform = r#"{"nodes": [{"name": "a", "processors": 4, "resources": {"memory": "8GiB"}},
        {"name": "b", "processors": 2, "resources": {"memory": "6GiB", "gpus": 1}}], "licences": {"solver": 3}}"#;
    let error =
        json(&format!("{{\"version\": 2, \"platform\": {platform},\n \"jobs\": [{jobs}]}}")).expect_err("it is wrong");
    for part in expect {
        assert!(error.contains(part), "{error}\nlacks {part}");
    }
}

#[test]
fn bad_needs_are_refused_with_their_place() {
    let needs = |needs: &str, expect: &[&str]| {
        refused(&format!(r#"{{"name": "j", "time": [3, 2], "needs": {needs}}}"#), expect);
        let of_task = format!(r#"{{"name": "g", "tasks": [{{"name": "t", "time": [3, 2], "needs": {needs}}}]}}"#);
        let within: Vec<String> =
            expect.iter().map(|part| part.replace("jobs[0].", "jobs[0].tasks[0].").replace(":3:", ":")).collect();
        refused(&of_task, &within.iter().map(String::as_str).collect::<Vec<_>>());
    };
    needs(r#"{"memory": -1}"#, &["a.json:3:", "needs.memory", "`-1` is negative; an amount is at least 0"]);
    needs(r#"{"memory": "-4GiB"}"#, &["jobs[0].needs.memory", "is negative"]);
    needs(r#"{"memory": "NaN"}"#, &["jobs[0].needs.memory", "`NaN` is not an amount", "\"4GiB\""]);
    needs(r#"{"memory": NaN}"#, &["a.json:3:", "expected value"]);
    needs(r#"{"memory": "8EiB"}"#, &["jobs[0].needs.memory", "`8EiB` is too large"]);
    needs(r#"{"memory": 9223372036854775808}"#, &["jobs[0].needs.memory", "is too large; at most 2^63 - 1"]);
    needs(r#"{"memory": 1e300}"#, &["jobs[0].needs.memory", "is too large"]);
    needs(r#"{"memory": "4 gb"}"#, &["jobs[0].needs.memory", "`4 gb` is not an amount; did you mean \"4 GB\"?"]);
    needs(r#"{"gpus": 0.5}"#, &["jobs[0].needs.gpus", "`0.5` is not a whole number"]);
    needs(r#"{"gpus": [1, -2]}"#, &["jobs[0].needs.gpus[1]", "`-2` is negative"]);
    needs(r#"{"gpus": []}"#, &["jobs[0].needs", "the list of `gpus` is empty"]);
    needs(r#"{"gpus": {"a": 1}}"#, &["jobs[0].needs.gpus", "found a table"]);
    needs(r#"{"gpus": true}"#, &["jobs[0].needs.gpus", "an amount"]);
    needs(r#"{"per_processor": {"memory": -1}}"#, &["jobs[0].needs.per_processor.memory", "is negative"]);
    needs(r#"{"per_processor": {"memory": [1, 2]}}"#, &["jobs[0].needs.per_processor.memory", "expected an amount"]);
    needs(r#"{"per_processor": {"per_processor": 1}}"#, &["jobs[0].needs.per_processor", "not a name of a resource"]);
    needs(r#"{"memory": [1], "per_processor": {"memory": 1}}"#, &["jobs[0].needs", "remove one of the two"]);
    needs(r#"{"memory": 1, "memory": 2}"#, &["jobs[0].needs", "`memory` is given twice"]);
    needs(r#"{"": 2}"#, &["jobs[0].needs", "the name of a resource is empty"]);
    needs("3", &["jobs[0].needs", "a table of amounts by name"]);
    let toml = toml("version = 2\nplatform.processors = 4\n[[jobs]]\nname = 'a'\nwork = 1\nneeds.memory = -3\n");
    let error = toml.unwrap_err();
    assert!(error.contains("a.toml:6:16: jobs[0].needs.memory: `-3` is negative"), "{error}");
}

#[test]
fn needs_of_what_there_is_not_are_refused() {
    let needs = |needs: &str, expect: &str| {
        refused(&format!(r#"{{"name": "j", "time": [3, 2], "needs": {needs}}}"#), &["job `j` needs", expect]);
        let of_task = format!(r#"{{"name": "g", "tasks": [{{"name": "t", "time": [3, 2], "needs": {needs}}}]}}"#);
        refused(&of_task, &["job `g/t` needs", expect]);
    };
    needs(
        r#"{"gpu": 1}"#,
        "`gpu`, which is neither a resource of a node nor a licence; the resources of the platform are `gpus`, `memory`, `solver`",
    );
    needs(r#"{"solver": 4}"#, "4 of `solver`, but the platform has 3");
    needs(r#"{"gpus": 2}"#, "2 of `gpus`, but all nodes together have 1");
    needs(r#"{"memory": "15GiB"}"#, "15 GiB of `memory`, but all nodes together have 14 GiB");
    let sum = r#"{"name": "j", "time": 3, "needs": {"memory": "9GiB"}}"#;
    refused(sum, &["no node has more than 8 GiB, and a processor can use only the amounts of its own node"]);
    needs(r#"{"per_processor": {"memory": "8.5GiB"}}"#, "of `memory`");
}

#[test]
fn bad_resources_are_refused_with_their_place() {
    let platform = |platform: &str, expect: &str| {
        let error = json(&format!(
            "{{\"version\": 2, \"platform\": {platform},\n \"jobs\": [{{\"name\": \"a\", \"work\": 1}}]}}"
        ))
        .expect_err("it is wrong");
        assert!(error.contains(expect) && error.contains("a.json:1:"), "{error}");
    };
    platform(
        r#"{"processors": 4, "resources": {"memory": "-1GiB"}}"#,
        "platform.resources.memory: `-1GiB` is negative",
    );
    platform(r#"{"processors": 4, "licences": {"x": 0.1}}"#, "platform.licences.x: `0.1` is not a whole number");
    platform(r#"{"processors": 4, "consumables": {"x": "1e30"}}"#, "platform.consumables.x: the amount `1e30` is");
    platform(r#"{"processors": 4, "resources": 3}"#, "platform.resources");
    platform(r#"{"processors": 4, "resources": {"x": 1, "x": 2}}"#, "the resource `x` is given twice");
    platform(r#"{"processors": 4, "resources": {"per_processor": 1}}"#, "`per_processor` is not a name of a resource");
    platform(r#"{"processors": 4, "resources": {"x": 1}, "licences": {"x": 2}}"#, "`x`");
    platform(r#"{"processors": 4, "resource": {"x": 1}}"#, "did you mean `resources`?");
    let nodes = r#"[{"name": "a", "processors": 1, "resources": {"memory": "1 Tib"}}]"#;
    platform(
        &format!(r#"{{"nodes": {nodes}}}"#),
        "platform.nodes[0].resources.memory: `1 Tib` is not an amount; did you mean \"1 TiB\"?",
    );
    let beside = format!(r#"{{"nodes": {}, "resources": {{"memory": 1}}}}"#, nodes.replace("Tib", "TiB"));
    platform(&beside, "the platform has both `resources` and a list of nodes");
}

#[test]
fn jobs_that_cannot_wait_are_refused() {
    let job =
        |name: &str, after: &str| format!(r#"{{"name": "{name}", "work": 1, "after": [{after}]}}"#).replace('\'', "\"");
    refused(&job("a", "'x'"), &["job `a` waits for `x`, but no job has this name; correct the name in `after`"]);
    refused(&job("a", "'a'"), &["in a cycle: a -> a"]);
    let three = [job("a", "'c'"), job("b", "'a'"), job("c", "'b'")].join(", ");
    refused(&three, &["the jobs wait for each other in a cycle", "remove a name from `after` of one of these jobs"]);
    refused(&three, &["a ->", "b ->", "c ->"]);
    refused(&job("a", "3"), &["a.json:3:", "jobs[0].after[0]"]);
    let bare = r#"{"name": "a", "work": 1, "after": "b"}"#;
    refused(bare, &["jobs[0].after", r#"expected a list of names such as ["a", "b"]"#]);
    let early = r#"{"name": "a", "work": 1, "released": 9, "deadline": 8}"#;
    refused(early, &["job `a` has its deadline at 8 s, before its release at 9 s; state a later deadline"]);
    refused(r#"{"name": "a", "work": 1, "deadline": -8}"#, &["a.json:3:", "jobs[0].deadline", "`-8` is negative"]);
}

const NAMES: [&str; 4] = ["memory", "gpus", "a licence", "budget\n"];

/// Returns random needs of a task for some of these resources. The amounts are small enough for the platforms of this
/// test.
fn needs() -> impl Strategy<Value = Needs> {
    let amounts = || prop_oneof![0_u64..5, 0_u64..1 << 40, (0_u64..30).prop_map(|shift| 1 << shift)];
    let linear = (amounts(), amounts()).prop_map(|(whole, per_processor)| Need::Linear { whole, per_processor });
    let listed = proptest::collection::vec(amounts(), 1..6).prop_map(|list| Need::ByAllotment(list.into()));
    let need = prop_oneof![linear, listed];
    proptest::collection::btree_map(proptest::sample::select(&NAMES[..]), need, 0..4)
        .prop_map(|needs| Needs::new(needs).unwrap())
}

/// Returns a platform with one node, with equal nodes, or with different nodes. The platform has enough of each
/// resource.
fn platforms() -> impl Strategy<Value = Platform> {
    (0..3, (1_u64 << 45)..(1 << 55)).prop_map(|(kind, most)| {
        let own = Resources::new([("memory", most), ("gpus", most + 1)]).unwrap();
        let platform = match kind {
            0 => Platform::flat(16),
            1 => Platform::cluster(4, 4),
            _ => Platform::new(vec![
                makespan_core::Node { resources: own.clone(), ..makespan_core::Node::new("x", 9) },
                makespan_core::Node { resources: own.clone(), ..makespan_core::Node::new("y", 7) },
            ]),
        };
        let platform = platform.unwrap();
        let platform = if kind < 2 { platform.with_node_resources(&own).unwrap() } else { platform };
        let platform = platform.with_licences(Resources::new([("a licence", most)]).unwrap()).unwrap();
        platform.with_consumables(Resources::new([("budget\n", most)]).unwrap()).unwrap()
    })
}

proptest! {
    #[test]
    fn any_needs_survive_writing_and_reading(
        platform in platforms(),
        jobs in proptest::collection::vec((needs(), 1_u32..9, 0_u64..4, proptest::collection::vec(0_usize..8, 0..3)), 1..8),
    ) {
        let job = |(at, (needs, most, count, after)): (usize, (Needs, u32, u64, Vec<usize>))| {
            let times = (0..most).map(|less| Time::from_seconds(i64::from(20 - less))).collect();
            let job = Job::new(at.to_string(), Profile::table(times).unwrap()).with_needs(needs);
            let job = job.with_after(after.into_iter().filter(|&other| other < at).map(|other| other.to_string()));
            let job = if count == 0 { job.with_deadline(Time::from_seconds(7)) } else { job };
            std::num::NonZeroU64::new(count).map_or(job.clone(), |count| job.with_count(count))
        };
        let jobs = jobs.into_iter().enumerate().map(job).collect();
        round_trip(&Instance::new(platform, jobs, vec![]).unwrap());
    }
}
