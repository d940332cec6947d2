use super::*;
use crate::packing::{bzip2, gzip};

const JSON: &str = r#"{"version": 1, "platform": {"processors": 2}, "jobs": [{"name": "a", "work": 1}]}"#;
const TOML: &str = "version = 1\nplatform.processors = 2\n[[jobs]]\nname = 'a'\nwork = 1\n";
const SWF: &str = "; MaxProcs: 2\n1 0 -1 1 1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n";
const ETC: &str = "1 2\n3.5 4\n";
const SET: &str = r#"{"cpudata": {"nb_p": [1, 2], "t1": [1, 0.5]}}"#;

#[test]
fn formats_are_known_by_content_whatever_the_name() {
    let formats = [
        (JSON, Format::Json),
        (TOML, Format::Toml),
        (SWF, Format::Swf),
        (SET, Format::MoldableSet),
        (ETC, Format::Etc),
    ];
    for (text, format) in formats {
        let marked = [b"\xef\xbb\xbf".as_slice(), text.as_bytes()].concat();
        for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes()), bzip2(text.as_bytes()), marked] {
            for name in ["x", "x.data"] {
                let read = parse_instance(&bytes, name, &ReadOptions::default()).unwrap();
                assert_eq!((read.format, read.instance.jobs().len()), (format, 1));
            }
        }
    }
}

#[test]
fn bad_files_are_one_clear_error() {
    let check = |bytes: &[u8], options: &ReadOptions, expect: &str| {
        let error = parse_instance(bytes, "x", options).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    let plain = ReadOptions::default();
    check(b"", &plain, "x: the file is empty");
    check(b" \n", &plain, "x: the file contains only white space (2 bytes)");
    check(&gzip(&vec![b' '; 300_000]), &plain, "the file contains only white space (300000 bytes)");
    check(&gzip(&vec![b'\n'; 40 << 20]), &plain, "the first 16777216 bytes of the file are only white space");
    let late = [&b" ".repeat(300_000)[..], JSON.as_bytes()].concat();
    check(&late, &plain, "begins with more than 262144 bytes of white space; remove them");
    check(&gzip(b""), &plain, "the file is empty");
    for json in [
        r#"{"meta": {"plugin": {"type": "openapi/dbv0.0.38"}}, "jobs": []}"#,
        r#"{"jobs": [{"account": "a", "allocation_nodes": 1}]}"#,
        "{\n \"jobs\": [\n {\"job_id\": 201, \"state\": [\"RUNNING\"]}]}",
    ] {
        check(json.as_bytes(), &plain, "this is JSON of Slurm");
    }
    check(b"hello", &plain, "a list of commands states no machines");
    check(b"a = \"\xff\"", &plain, "x:1: the text is not UTF-8");
    check(&gzip(SWF.as_bytes())[..30], &plain, "x: cannot read");
    check(SWF.as_bytes(), &ReadOptions { max_bytes: 20, ..plain.clone() }, "larger than the limit of 20 bytes");
    check(JSON.as_bytes(), &ReadOptions { max_bytes: 20, ..plain.clone() }, "larger than the limit of 20 bytes");
    let speedup = ReadOptions { speedup: "linear".parse().ok(), ..plain.clone() };
    check(
        JSON.as_bytes(),
        &speedup,
        "allowed only for logs (SWF, Batsim, sacct --parsable2), but this file is native JSON",
    );
    assert!(read_instance(Path::new("/does/not/exist"), &plain).unwrap_err().to_string().contains("cannot open"));
    assert!(read_instance(Path::new("/"), &plain).unwrap_err().to_string().contains("cannot read"));
}

#[test]
fn a_line_of_stars_is_no_project_without_its_headings() {
    let stars = "****************\n";
    for (inner, expect) in [
        ("sdiag output at Sat Nov 28 07:00:00 2026\n", "this is output of Slurm"),
        ("Welcome\n", "begins with a line of `*` like a project of PSPLIB, but has none of its headings"),
        ("", "begins with a line of `*` like a project of PSPLIB, but has none of its headings"),
    ] {
        for name in ["sdiag", "sdiag.txt", "sdiag.list"] {
            let text = format!("{stars}{inner}{stars}Server thread count: 3\n");
            let error = parse_instance(text.as_bytes(), name, &ReadOptions::default()).unwrap_err().to_string();
            assert!(error.contains(expect), "{inner}: {error}");
        }
    }
}

/// Checks that graphs, projects and platforms can be read even if their labels are not UTF-8.
#[test]
fn texts_in_other_encodings_are_read() {
    let dot = |graph: &str| [b"digraph { ", graph.as_bytes(), b" a [label=\"\xe9\"] a -> b }"].concat();
    let dax = |declared: &str| {
        let begin = format!("<?xml version='1.0'{declared}?><adag><!-- ");
        [begin.as_bytes(), b"\xe9 --><job id='a' runtime='5'/></adag>"].concat()
    };
    for (name, bytes, is_remarked) in [
        ("a.dot", dot(""), true),
        ("a.dot", dot("graph [charset=latin1];"), false),
        ("a.dax", dax(""), true),
        ("a.dax", dax(" encoding='iso-8859-1'"), false),
        ("a.stg", b"1\n0 0 0\n1 5 1 0\n2 0 1 1\n# \xe9\n".to_vec(), true),
    ] {
        let options = ReadOptions { processors: Some(1), ..ReadOptions::default() };
        let read = parse_instance(&bytes, name, &options).unwrap();
        let is_said = read.remarks.iter().any(|remark| remark.contains("the text is not UTF-8 (first on line "));
        assert_eq!(is_said, is_remarked, "{name}: {:?}", read.remarks);
        let strict = ReadOptions { strict: true, ..options };
        let refused = parse_instance(&bytes, name, &strict).map(drop).map_err(|error| error.to_string());
        let is_refused = refused.as_ref().is_err_and(|error| error.contains("the text is not UTF-8"));
        assert_eq!(is_refused, is_remarked, "{name}: {refused:?}");
    }
    let machines = b"<!-- \xe9 --><platform><host id='a' speed='1Gf'/></platform>";
    let found = crate::parse_machines(machines, "p.xml", false).unwrap();
    assert!(found.remarks.iter().any(|remark| remark.contains("not UTF-8")), "{:?}", found.remarks);
    assert!(crate::parse_machines(machines, "p.xml", true).is_err());
}
