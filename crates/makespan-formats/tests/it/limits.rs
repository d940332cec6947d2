//! Checks that all readers refuse the same invalid values: sets that contain a processor twice, and numbers out of
//! range.

use makespan_core::{Instance, Job, Platform, Profile, Time};
use makespan_formats::simgrid::read_simgrid;
use makespan_formats::{ReadOptions, ReplayOptions, ScheduleFile, parse_failures, parse_instance, parse_replay};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Read = fn(&str) -> Result<(), String>;

fn told<T>(result: Result<T, impl std::fmt::Display>) -> Result<(), String> {
    result.map(drop).map_err(|error| error.to_string())
}

fn instance(text: &str, name: &str) -> Result<(), String> {
    told(parse_instance(text.as_bytes(), name, &ReadOptions::default()))
}

fn flat() -> Instance {
    let job = Job::new("a", Profile::rigid(5, Time::from_seconds(2)).unwrap());
    Instance::new(Platform::flat(64).unwrap(), vec![job], vec![]).unwrap()
}

fn schedule(placement: &str) -> Result<(), String> {
    let text = format!(
        r#"{{"version": 1, "algorithm": "x", "makespan": 2, "weighted_completion": 2, "bounds": {{}}, {placement}}}"#
    );
    told(ScheduleFile::read("x", text.as_bytes(), &flat()))
}

/// Readers of processor sets, each with the place in its error messages.
const SETS: [(&str, Read); 5] = [
    ("placements[0].processors", |set| {
        schedule(&format!(r#""placements": [{{"job": "a", "start": 0, "end": 2, "processors": "{set}"}}]"#))
    }),
    ("front[0].placements[0].processors", |set| {
        let placements =
            |set: &str| format!(r#""placements": [{{"job": "a", "start": 0, "end": 2, "processors": "{set}"}}]"#);
        schedule(&format!(
            r#""front": [{{"makespan": 2, "weighted_completion": 2, "bounds": {{}}, {}}}], {}"#,
            placements(set),
            placements("0")
        ))
    }),
    ("unavailable[0].processors", |set| {
        instance(
            &format!(
                r#"{{"version": 1, "platform": {{"processors": 64}}, "jobs": [{{"name": "a", "work": 1}}],
                  "unavailable": [{{"processors": "{set}", "start": 1, "end": 2}}]}}"#
            ),
            "x.json",
        )
    }),
    ("unavailable[0].processors", |set| {
        instance(
            &format!(
                "version = 1\nplatform.processors = 64\n[[jobs]]\nname = 'a'\nwork = 1\n\
                 [[unavailable]]\nprocessors = '{set}'\nstart = 1\nend = 2\n"
            ),
            "x.toml",
        )
    }),
    ("x:2: processors", |set| {
        let text = format!("processors,down,up\n\"{set}\",1,2\n");
        told(parse_failures("x", text.as_bytes(), &Platform::flat(64).unwrap()))
    }),
];

#[test]
fn a_set_that_names_a_processor_twice_is_refused_by_every_reader() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut twice = 0;
    for _ in 0..2000 {
        let mut ids: Vec<u32> = Vec::new();
        let parts: Vec<String> = (0..rng.random_range(1..6))
            .map(|_| {
                let first = rng.random_range(0..40);
                let last = first + if rng.random() { 0 } else { rng.random_range(0..4) };
                ids.extend(first..=last);
                if first == last && rng.random() { first.to_string() } else { format!("{first}-{last}") }
            })
            .collect();
        let (text, named) = (parts.join(","), ids.len());
        ids.sort_unstable();
        ids.dedup();
        for (place, read) in SETS {
            let said = read(&text);
            if ids.len() == named {
                assert_eq!(said, Ok(()), "{place}: {text}");
            } else {
                twice += 1;
                let said = said.expect_err(&format!("{place} accepts {text}"));
                assert!(said.contains(place) && said.contains("twice; write each processor once"), "{said}");
            }
        }
    }
    assert!(twice > 1000);
}

/// Returns the number without an exponent, because an exponent must not precede a unit of `SimGrid`.
fn plain(figure: &str) -> String {
    figure.parse().ok().filter(|value: &f64| value.is_finite()).map_or(figure.into(), |value| value.to_string())
}

/// Reads a platform of `SimGrid`. If the reader ignores the network, the reason is returned as an error.
fn simgrid_of(text: &str) -> Result<(), String> {
    let found = read_simgrid("x", text).map_err(|error| error.to_string())?;
    found.lost.map_or(Ok(()), |lost| Err(lost.replacen("line ", "x:", 1)))
}

fn simgrid(speed: &str, bandwidth: &str, latency: &str) -> Result<(), String> {
    let text = format!(
        "<platform version='4.1'><zone id='z' routing='Full'><host id='a' speed='1Mf'/>\n<host id='b' speed='{speed}'/>\n\
         <link id='l' bandwidth='{bandwidth}' latency='{latency}'/>\n<route src='a' dst='b'><link_ctn id='l'/></route>\
         </zone></platform>"
    );
    simgrid_of(&text)
}

fn cluster(speed: &str, backbone: &str) -> Result<(), String> {
    let text = format!(
        "<platform version='4.1'>\n<cluster id='c' prefix='n' suffix='' radical='0-2' speed='{speed}' bw='1' lat='0' \
         bb_bw='{backbone}' bb_lat='0'/></platform>"
    );
    simgrid_of(&text)
}

fn native(speed: &str, bandwidth: &str, latency: &str) -> Result<(), String> {
    let json = format!(
        r#"{{"version": 1, "platform": {{"nodes": [{{"name": "r", "processors": 1}}, {{"name": "a", "processors": 1, "parent": "r",
          "speed": {speed}, "bandwidth": {bandwidth}, "latency": {latency}}}]}}, "jobs": [{{"name": "a", "work": 1}}]}}"#
    );
    let toml = format!(
        "version = 1\n[platform]\nnodes = [{{ name = 'r', processors = 1 }}, {{ name = 'a', processors = 1, parent = 'r', \
         speed = {speed}, bandwidth = {bandwidth}, latency = {latency} }}]\n[[jobs]]\nname = 'a'\nwork = 1\n"
    );
    let (json, toml) = (instance(&json, "x.json"), instance(&toml, "x.toml"));
    assert_eq!(json.is_ok(), toml.is_ok(), "{json:?} {toml:?}");
    json
}

fn interconnect(bandwidth: &str, latency: &str) -> Result<(), String> {
    let text = format!(
        r#"{{"version": 1, "platform": {{"nodes": 2, "processors_per_node": 1, "bandwidth": {bandwidth}, "latency": {latency}}},
          "jobs": [{{"name": "a", "work": 1}}]}}"#
    );
    instance(&text, "x.json")
}

fn batsim(flops: f64) -> Result<(), String> {
    let text = r#"{"nb_res": 8, "jobs": [{"id": 1, "subtime": 3, "res": 1, "profile": "h"}],
          "profiles": {"h": {"type": "parallel_homogeneous", "cpu": 1, "com": 0}}}"#;
    told(parse_replay(text.as_bytes(), "x", &ReplayOptions { flops, ..ReplayOptions::default() }))
}

/// Readers of floats: name, minimum, maximum, and function.
const FIGURES: [(&str, f64, f64, Read); 11] = [
    ("SimGrid speed", 1e-3, 1e24, |figure| simgrid(&format!("{}f", plain(figure)), "1", "0")),
    ("SimGrid bandwidth", 1e-9, 1e18, |figure| simgrid("1f", figure, "0")),
    ("SimGrid latency", 0.0, 31_536_000.0, |figure| simgrid("1f", "1", figure)),
    ("SimGrid speed of a cluster", 1e-3, 1e24, |figure| cluster(&plain(figure), "1")),
    ("SimGrid backbone", 1e-9, 1e18, |figure| cluster("1f", figure)),
    ("native speed", 1e-9, 1e18, |figure| native(figure, "1", "0")),
    ("native bandwidth", 1e-9, 1e18, |figure| native("1.0", figure, "0")),
    ("native latency", 0.0, 31_536_000.0, |figure| native("1.0", "1", figure)),
    ("bandwidth between nodes", 1e-9, 1e18, |figure| interconnect(figure, "0")),
    ("latency between nodes", 0.0, 31_536_000.0, |figure| interconnect("1", figure)),
    ("Batsim speed", 1e-9, 1e18, |figure| batsim(figure.parse().unwrap())),
];

#[test]
fn figures_out_of_range_are_refused_by_every_reader() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for (name, least, most, read) in FIGURES {
        for _ in 0..100 {
            let within =
                (f64::max(least, 1e-12).ln() + rng.random::<f64>() * (most / f64::max(least, 1e-12)).ln()).exp();
            // The limits themselves are tested in the core. Conversions of decimals with units are not exact, so this
            // test keeps a distance from the limits.
            let within = within.clamp(least * 1.01, most * 0.99);
            assert_eq!(read(&format!("{within:e}")), Ok(()), "{name}");
            let above = most * 10_f64.powf(rng.random_range(0.01..280.0));
            let below = least / 10_f64.powf(rng.random_range(0.01..280.0));
            for beyond in [above, below].into_iter().filter(|beyond| beyond.is_normal()) {
                let said = read(&format!("{beyond:e}")).expect_err(&format!("{name} accepts {beyond:e}"));
                // Other checks refuse a duration of centuries, and a speed that becomes 0 without its exponent.
                let others = ["longest time is 292 years", "write a positive number"];
                let clear = said.contains("out of range; write") || others.iter().any(|other| said.contains(other));
                assert!(said.starts_with('x') && clear, "{name}: {said}");
            }
        }
        for nonsense in ["-1", "1e400", "NaN", "inf"] {
            assert!(read(nonsense).is_err(), "{name} accepts {nonsense}");
        }
    }
    let said = simgrid("1f", "1e300", "0").unwrap_err();
    assert!(
        said.starts_with("x:3: a bandwidth of 1e300 bytes a second is out of range; write a value from 1e-9 to 1e18"),
        "{said}"
    );
}
