use std::path::Path;

use proptest::prelude::*;

use super::*;

/// Commands, with their hashes in the logs of ninja 1.11 (version 5) and 1.13 (version 7).
const HASHES: [(&str, u64, u64); 3] = [
    ("true", 0x486a_3aca_dd11_6b47, 0x090a_52a5_dca2_ed61),
    ("gcc -MD -MF a.o.d -c a.c -o a.o", 0xed36_089e_3b2f_b971, 0xa4e9_afbe_b13d_95ec),
    (
        "echo 0123456789012345678901234567890123456789012345678901234567890123456789",
        0x2c18_dffe_530b_79d9,
        0x3198_56ee_72d8_3c8d,
    ),
];

struct NoFiles;

impl BuildFiles for NoFiles {
    fn read(&self, file: &str) -> Option<Vec<u8>> {
        (file == "b.d").then(|| b"b.o: gen.h\n".to_vec())
    }

    fn mtime(&self, _file: &str) -> i64 {
        5
    }
}

/// Output of `ninja -t graph`: `prog` is made from `a.o` and, through a phony edge, from `b.o`.
const GRAPH: &str = "digraph ninja {\nrankdir=\"LR\"\n\"1\" [label=\"prog\"]\n\"2\" [label=\"ln\", shape=ellipse]\n\"2\" -> \"1\"\n\
    \"3\" -> \"2\" [arrowhead=none]\n\"4\" -> \"2\" [arrowhead=none style=dotted]\n\"3\" [label=\"a.o\"]\n\"5\" -> \"3\" [label=\" cc\"]\n\
    \"5\" [label=\"a.c\"]\n\"4\" [label=\"all b\"]\n\"6\" -> \"4\" [label=\" phony\"]\n\"6\" [label=\"b.o\"]\n\"7\" [label=\"cc\", shape=ellipse]\n\
    \"7\" -> \"6\"\n\"7\" -> \"8\"\n\"8\" [label=\"b.map\"]\n\"9\" -> \"7\" [arrowhead=none]\n\"9\" [label=\"b.c\"]\n\
    \"10\" -> \"11\" [label=\" gen\"]\n\"10\" [label=\"in\"]\n\"11\" [label=\"gen.h\"]\n}\n";

fn instance(dry: &str) -> Result<Option<Instance>, FormatError> {
    let pools = [("p".to_owned(), 3), ("none".to_owned(), 0)].into_iter().collect();
    let mut deps = DepsLog::default();
    let bytes = deps.record("a.o", 5, &[b"a.c".to_vec(), b"gen.h".to_vec()]).unwrap();
    let output = NinjaOutput {
        file: "build.ninja",
        dry,
        graph: GRAPH,
        pools: &pools,
        log: "# ninja log v5\n10\t2510\t1\ta.o\tff\nbad line\n0\t0\t0\ta.o\t0\n0\t1\t1\tb.o\n",
        deps: &DepsLog::read(&bytes).unwrap(),
        words: &["makespan".to_owned(), "ninja-job".to_owned()],
    };
    read_ninja(output, &Platform::flat(2).unwrap(), &NoFiles)
}

fn edge(fields: [&str; 9]) -> String {
    format!("\x1e{}\x1f0\x1f\n", fields.join("\x1f"))
}

#[test]
fn edges_become_jobs() {
    let dry = edge(["gen.h", "gen", "p", "", "", "1", "", "", ""])
        + &edge(["a.o", "cc a", "none", "gcc", "'a '.d", "", "", "", ""])
        + &edge(["b.o", "cc b", "p", "", "b.d", "", "1", "", ""])
        + &edge(["prog", "ln @r", "", "", "", "", "", "r", "a.o\nb.o"]);
    let instance = instance(&dry).unwrap().unwrap();
    let jobs: Vec<(&str, Vec<&str>)> =
        instance.jobs().iter().map(|job| (job.name.as_str(), job.after.iter().map(|name| &**name).collect())).collect();
    assert_eq!(jobs, [("gen.h", vec![]), ("a.o", vec!["gen.h"]), ("b.o", vec!["gen.h"]), ("prog", vec!["a.o", "b.o"])]);
    let command = |job: usize| instance.command(instance.jobs()[job].first())[2..].join(" ");
    assert_eq!(command(0), "--output gen.h --restat -- gen");
    assert_eq!(command(1), "--output a.o --depfile a .d --deps -- cc a");
    assert_eq!(command(2), "--output b.o --output b.map --depfile b.d --generator -- cc b");
    assert_eq!(command(3), "--output prog --rspfile r --rspfile-content a.o\nb.o -- ln @r");
    let times: Vec<bool> = (0..4).map(|job| instance.task(instance.jobs()[job].first()).estimate.is_guess()).collect();
    assert_eq!(times, [true, false, true, true]);
    assert_eq!(instance.profile(instance.jobs()[1].first()).time(1), Time::parse("2.5").unwrap());
    assert_eq!(instance.platform().licences().iter().collect::<Vec<_>>(), [("pool p", 3)]);
}

#[test]
fn other_outputs_are_refused() {
    assert!(instance("ninja: no work to do.\n").unwrap().is_none());
    let msvc = instance(&edge(["a.o", "cc", "", "msvc", "", "", "", "", ""])).unwrap_err().to_string();
    assert!(msvc.contains("`a.o`: dependencies of the kind `msvc`"), "{msvc}");
    let stranger = edge(["other", "cc", "", "", "", "", "", "", ""]);
    assert!(instance(&stranger).unwrap_err().to_string().contains("does not contain all edges"));
    assert!(instance("\x1ea.o\x1fcc").unwrap_err().to_string().contains("incomplete edge"));
    let long = "x".repeat(MAX_COMMAND);
    let long = instance(&edge(["a.o", "cc", "", "", "", "", "", "r", &long])).unwrap_err().to_string();
    assert!(long.contains("more than 1048576 bytes"), "{long}");
}

#[test]
fn hashes_are_those_of_ninja() {
    let [five, seven] = [5, 7].map(|number| BuildLogVersion::of_number(number).unwrap());
    for (command, old, new) in HASHES {
        assert_eq!((five.hash(command, ""), seven.hash(command, "")), (old, new), "{command}");
    }
    assert_eq!(five.hash("a", "b"), five.hash("a;rspfile=b", ""));
    let versions = ["1.10.2", "1.11.1", "1.12.0", "1.13.2.git", "2.0", "x"].map(BuildLogVersion::of_ninja);
    assert_eq!(
        versions.map(|version| version.map(BuildLogVersion::number)),
        [None, Some(5), Some(6), Some(7), Some(7), None]
    );
    assert_eq!((BuildLogVersion::stated("# ninja log v4\n"), BuildLogVersion::stated("x")), (Some(4), None));
    let entry = BuildLogEntry { times: [1, 2], mtime: 3, hash: 255 };
    assert_eq!(entry.lines(&["a".into(), "b".into()]), "1\t2\t3\ta\tff\n1\t2\t3\tb\tff\n");
}

#[test]
fn a_manifest_is_copied_with_descriptions() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "build.ninja",
        "pool p\n  depth = 4\ninclude my$ rules\nbuild a: cc b $\n  c\n  description = $\n    x\n  y = 1\n  pool = p\nsubninja sub\ndefault a $\n a\n",
    );
    write("my rules", "rule cc # x\n\n  # description = y\n  command = x\n  description = CC $out\n");
    write("sub", "rule cc\n  command = y");
    let copy = ManifestCopy::new(folder.path(), Path::new("build.ninja")).unwrap();
    let text = |name: &str| std::fs::read_to_string(copy.path().with_file_name(name)).unwrap();
    assert!(text("build.ninja").ends_with("default a $\n a\n"));
    let own = format!("  description = {}\n", dry::description(""));
    assert_eq!(text("2.ninja"), format!("rule cc # x\n{own}\n  # description = y\n  command = x\n"));
    assert_eq!(text("3.ninja"), format!("rule cc\n{own}  command = y"));
    let names = ["2", "3"].map(|name| copy.path().with_file_name(format!("{name}.ninja")).display().to_string());
    assert_eq!(
        text("1.ninja"),
        format!(
            "pool p\n  depth = 4\ninclude {}\nbuild a: cc b $\n  c\n  makespan_statement = 0\n  y = 1\n  msvc_deps_prefix = p\nsubninja {}\n",
            names[0], names[1]
        )
    );
    assert_eq!((copy.left(), copy.pools()["p"], copy.pools()["console"]), (None, 4, 1));
    for (text, reason) in [
        ("build a: cc\n  dyndep = x\n", "build.ninja:2: it uses dyndep"),
        ("\ninclude $x\n", "build.ninja:2: the path after `include` contains a variable"),
        ("rule r\n  command = echo ${pool}\n", "build.ninja:2: it uses the variable `pool`"),
        ("default $\n  $x\n", "build.ninja:2: a default target contains a variable"),
        ("default $x\n", "build.ninja:1: a default target contains a variable"),
        ("pool p\n  depth = $x\n", "build.ninja:2: the depth of the pool `p` is not a number"),
    ] {
        write("build.ninja", text);
        assert_eq!(ManifestCopy::new(folder.path(), Path::new("build.ninja")).unwrap().left(), Some(reason));
    }
    write("build.ninja", "include build.ninja\n");
    let endless = ManifestCopy::new(folder.path(), Path::new("build.ninja")).unwrap_err().to_string();
    assert!(endless.contains("include each other"), "{endless}");
}

#[test]
fn depfiles_are_read_as_ninja_reads_them() {
    let read = |text: &str| {
        depfile_inputs(text.as_bytes())
            .map(|inputs| inputs.into_iter().map(|one| String::from_utf8(one).unwrap()).collect::<Vec<_>>())
    };
    for (text, inputs) in [
        ("a.o: a.c ./b.h x/../c.h \\\n  //d//e.h a.c\n\nb.h:\n", &["a.c", "b.h", "c.h", "/d/e.h"][..]),
        ("a.o a.d : a\\ b.h c\\#d e$$f g\\:h i\\\\ c:\\x\r\n", &["a b.h", "c#d", "e$f", "g:h", "i\\\\", "c:\\x"]),
        ("a.o:\\\r\n b", &["b"]),
        ("", &[]),
        ("a.o:\n", &[]),
        ("a: ../../x /../y . z/..\n", &["../../x", "/y", "."]),
    ] {
        let mut expected: Vec<String> = inputs.iter().map(|&one| one.to_owned()).collect();
        if text.contains("z/..") {
            expected.push(".".to_owned());
        }
        assert_eq!(read(text).unwrap(), expected, "{text}");
    }
    assert!(read("no colon\n").unwrap_err().contains("expected a colon"));
    assert!(read("a: b\nb: c\n").unwrap_err().contains("inputs of its own"));
}

proptest! {
    /// A log that was written in several parts, and cut anywhere, contains the complete records.
    #[test]
    fn a_log_of_dependencies_is_read_as_it_was_written(
        records in prop::collection::vec(("[a-d]{1,5}", any::<i64>(), prop::collection::vec("[a-f/]{1,9}", 0..5)), 1..9),
        cut in any::<prop::sample::Index>(),
    ) {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for (output, mtime, inputs) in &records {
            let inputs: Vec<Vec<u8>> = inputs.iter().map(|input| input.clone().into_bytes()).collect();
            let mut log = DepsLog::read(&bytes).unwrap();
            prop_assert_eq!(log.complete(), bytes.len());
            bytes.extend(log.record(output, *mtime, &inputs).unwrap());
            ends.push(bytes.len());
            let log = DepsLog::read(&bytes).unwrap();
            let (found, read) = log.inputs(output).unwrap();
            prop_assert_eq!(found, *mtime);
            prop_assert_eq!(read.map(<[u8]>::to_vec).collect::<Vec<_>>(), inputs);
        }
        let length = 16 + cut.index(bytes.len() - 15);
        let log = DepsLog::read(&bytes[..length]).unwrap();
        prop_assert!(log.complete() <= length);
        let whole = ends.iter().filter(|&&end| end <= length).count();
        if let Some((output, ..)) = records[..whole].last() {
            prop_assert!(log.inputs(output).is_some());
        }
    }

    #[test]
    fn no_file_makes_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[ab\\\\:#$ \n\"\\[\\]=->]{0,80}") {
        let _ = (DepsLog::read(&bytes), depfile_inputs(&bytes), depfile_inputs(text.as_bytes()));
        let _ = DepsLog::read(&[&b"# ninjadeps\n\x04\0\0\0"[..], &bytes].concat());
        let _ = (BuildGraph::read(&text), BuildLog::read(&text), dirty_edges(&text.replace('a', "\x1e").replace('b', "\x1f")));
    }
}

#[test]
fn a_log_of_dependencies_of_another_version_is_refused() {
    let error = DepsLog::read(b"# ninjadeps\n\x03\0\0\0").unwrap_err();
    assert!(error.contains("version 3, but only version 4"), "{error}");
    assert!(DepsLog::read(b"x").unwrap_err().contains("no version"));
}
