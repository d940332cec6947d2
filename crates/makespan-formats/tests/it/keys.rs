//! Each key, column and field that a format defines is used, named in a warning that `--strict` refuses, or listed in
//! `docs/formats.md` as ignored.

use makespan_formats::{NextflowTrace, ReadOptions, parse_instance, parse_machines};

/// An instance and the remarks on it, or an error.
type Found = Result<(String, String), String>;

/// A file of a format, and changes of it.
struct Base {
    /// The row of the format in the list of what is ignored.
    row: &'static str,
    read: fn(&str, bool) -> Found,
    text: &'static str,
    /// For each key a text of the file, the text that stands there with the key, and the key.
    keys: &'static [(&'static str, &'static str, &'static str)],
}

fn instance(text: &str, strict: bool) -> Found {
    read(text, ReadOptions { processors: Some(4), strict, ..ReadOptions::default() })
}

/// Reads a format that states its machines.
fn whole(text: &str, strict: bool) -> Found {
    read(text, ReadOptions { strict, ..ReadOptions::default() })
}

fn trace(text: &str, strict: bool) -> Found {
    drawn(DAG, text, strict)
}

fn drawn_alone(text: &str, strict: bool) -> Found {
    drawn(text, TRACE, strict)
}

fn drawn(graph: &str, trace: &str, strict: bool) -> Found {
    let trace = Some(NextflowTrace { file: "trace.txt".into(), text: trace.into() });
    read(graph, ReadOptions { processors: Some(4), strict, trace, ..ReadOptions::default() })
}

fn read(text: &str, options: ReadOptions) -> Found {
    let found = parse_instance(text.as_bytes(), "x", &options).map_err(|error| error.to_string())?;
    Ok((format!("{:?}", found.instance), found.remarks.join("; ")))
}

fn machines(text: &str, strict: bool) -> Found {
    let found = parse_machines(text.as_bytes(), "x.xml", strict).map_err(|error| error.to_string())?;
    Ok((format!("{:?}", found.instance), found.remarks.join("; ")))
}

const DAG: &str = "digraph { a [label=split]; b [label=align]; a -> b }";
const TRACE: &str =
    "name\tstatus\trealtime\tX\nsplit\tCOMPLETED\t1s\t2\nalign (a)\tCOMPLETED\t2s\t2\nalign (b)\tCOMPLETED\t3s\t2\n";

const BASES: [Base; 17] = [
    Base {
        row: "DAX",
        read: instance,
        text: "<adag version='3.6'><job id='A' runtime='14'><uses name='f' link='output' size='5'/></job>\
            <job id='B' runtime='3'><uses name='f' link='input' size='5'/></job><child ref='B'><parent ref='A'/></child></adag>",
        keys: &[
            ("'3.6'", "'3.6' jobCount='2'", "jobCount"),
            ("'3.6'", "'3.6' fileCount='2'", "fileCount"),
            ("'3.6'", "'3.6' childCount='2'", "childCount"),
            ("'3.6'", "'3.6' index='0' count='1'", "count"),
            ("'3.6'", "'3.6' deadline='9'", "deadline"),
            ("runtime='3'", "runtime='3' name='x'", "name"),
            ("runtime='3'", "runtime='3' namespace='x'", "namespace"),
            ("runtime='3'", "runtime='3' version='x'", "version"),
            ("runtime='3'", "runtime='3' level='2'", "level"),
            ("runtime='3'", "runtime='3' node-label='x'", "node-label"),
            ("runtime='3'", "runtime='3' dv-name='x'", "dv-name"),
            ("runtime='3'", "runtime='3' priority='x'", "priority"),
            ("link='input'", "link='input' register='false'", "register"),
            ("link='input'", "link='input' transfer='true'", "transfer"),
            ("link='input'", "link='input' optional='true'", "optional"),
            ("link='input'", "link='input' temporaryHint='true'", "temporaryHint"),
            ("link='input'", "link='input' rate='5'", "rate"),
            ("link='input'", "link='none'", "none"),
            ("link='input'", "link='checkpoint'", "checkpoint"),
            ("ref='A'", "ref='A' edge-label='x'", "edge-label"),
            ("</job><child", "<argument>-x</argument></job><child", "argument"),
            ("</job><child", "<metadata key='x'>y</metadata></job><child", "metadata"),
            ("</job><child", "<stdout name='x'/></job><child", "stdout"),
            ("</job><child", "<invoke when='end'/></job><child", "invoke"),
            ("</job><child", "<needs gpus='1'/></job><child", "needs"),
            ("</adag>", "<executable name='x'/></adag>", "executable"),
            ("</adag>", "<transformation name='x'/></adag>", "transformation"),
            ("</adag>", "<filename file='x' link='input'/></adag>", "filename"),
            ("</adag>", "<limit jobs='1'/></adag>", "limit"),
            (
                "</adag>",
                "<executable name='x'><profile namespace='pegasus' key='cores'>4</profile></executable></adag>",
                "cores",
            ),
            ("</job><child", "<profile namespace='env' key='x'>1</profile></job><child", "env"),
            ("</job><child", "<profile namespace='globus' key='maxwalltime'>1</profile></job><child", "maxwalltime"),
            ("</job><child", "<profile namespace='pegasus' key='nodes'>4</profile></job><child", "nodes"),
            ("</job><child", "<profile namespace='pegasus' key='runtime'>4</profile></job><child", "runtime"),
            ("</job><child", "<profile namespace='pegasus' key='cores'>4</profile></job><child", "cores"),
            ("</job><child", "<profile namespace='pegasus' key='cores'>x</profile></job><child", "cores"),
            ("</job><child", "<profile namespace='pegasus' key='memory'>4</profile></job><child", "memory"),
        ],
    },
    Base {
        row: "WfFormat",
        read: instance,
        text: r#"{"schemaVersion": "1.5", "workflow": {"specification": {"tasks": [{"id": "a"}, {"id": "b"}],
            "files": [{"id": "f", "sizeInBytes": 3}]}, "execution": {"tasks": [{"id": "a", "runtimeInSeconds": 5}, {"id": "b", "runtimeInSeconds": 5}]}}}"#,
        keys: &[
            (r#"{"id": "b"}"#, r#"{"id": "b", "name": "x"}"#, "name"),
            (r#"{"id": "b"}"#, r#"{"id": "b", "parents": ["a"]}"#, "parents"),
            (r#""id": "b", "r"#, r#""id": "b", "priority": 3, "r"#, "priority"),
            (r#""id": "b", "r"#, r#""id": "b", "avgCPU": 3, "r"#, "avgCPU"),
            (r#""id": "b", "r"#, r#""id": "b", "energyInKWh": 3, "r"#, "energyInKWh"),
            (r#""id": "b", "r"#, r#""id": "b", "readBytes": 3, "r"#, "readBytes"),
            (r#""id": "b", "r"#, r#""id": "b", "coreCount": 2, "r"#, "coreCount"),
            (r#""id": "b", "r"#, r#""id": "b", "coreCount": -2, "r"#, "cores"),
            (r#""id": "b", "r"#, r#""id": "b", "memoryInBytes": 2, "r"#, "memory"),
            (r#""workflow""#, r#""author": {"name": "x"}, "workflow""#, "author"),
        ],
    },
    Base {
        row: "DOT",
        read: instance,
        text: "digraph { a [time=3]; b [time=2]; a -> b [data=5] }",
        keys: &[
            ("time=2", "time=2, label=x", "label"),
            ("time=2", "time=2, runtime=3", "runtime"),
            ("time=2", "time=2, duration=3", "duration"),
            ("time=2", "time=2, cost=3", "cost"),
            ("data=5", "data=5, time=3", "`time` of edges"),
            ("data=5", "data=5, bytes=3", "bytes"),
            ("time=2", "time=2, work=3", "work"),
            ("{ a", "{ rankdir=LR; a", "rankdir"),
            ("{ a", "{ deadline=9; a", "deadline"),
            ("{ a", "{ graph [deadline=9]; a", "deadline"),
            ("{ a", "{ node [duration=9]; a", "duration"),
        ],
    },
    Base {
        row: "Batsim",
        read: instance,
        text: r#"{"nb_res": 4, "jobs": [{"id": "a", "subtime": 5, "res": 2, "profile": "d", "walltime": 90}],
            "profiles": {"d": {"type": "delay", "delay": 5}, "e": {"type": "parallel", "cpu": 5, "com": 0}}}"#,
        keys: &[
            (r#""res": 2"#, r#""res": 2, "user": "x""#, "user"),
            (r#""res": 2"#, r#""res": 2, "extra_data": "x""#, "extra_data"),
            (r#""res": 2"#, r#""res": 2, "dependencies": ["b"]"#, "dependencies"),
            (r#""delay": 5"#, r#""delay": 5, "real_size": 3"#, "real_size"),
            (r#""delay": 5"#, r#""delay": 5, "ret": 1"#, "ret"),
            (r#""type": "delay""#, r#""type": "smpi""#, "guess"),
            (r#""profile": "d""#, r#""profile": "e""#, "profile"),
            (r#""d", "walltime": 90"#, r#""d", "walltime": 91"#, "walltime"),
            (r#""nb_res""#, r#""description": "x", "nb_res""#, "description"),
            (r#""nb_res""#, r#""command": "x", "nb_res""#, "command"),
            (r#""nb_res""#, r#""date": "x", "nb_res""#, "date"),
        ],
    },
    Base {
        row: "Batsim",
        read: instance,
        text: r#"{"nb_res": 4, "jobs": [{"id": "a", "subtime": 5, "res": 2, "profile": "e"}],
            "profiles": {"d": {"type": "delay", "delay": 7}, "e": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 0}}}"#,
        keys: &[
            (r#""com": 0"#, r#""com": 9"#, "communicates"),
            (
                r#""com": 0"#,
                r#""com": 0, "generation_strategy": "defined_amount_spread_uniformly""#,
                "generation_strategy",
            ),
            (r#""parallel_homogeneous""#, r#""composed", "seq": ["d"]"#, "seq"),
            (r#""parallel_homogeneous""#, r#""composed", "seq": ["d"], "repeat": 3"#, "repeat"),
            (r#""parallel_homogeneous""#, r#""parallel_homogeneous_pfs", "bytes_to_read": 3"#, "guess"),
            (r#""parallel_homogeneous""#, r#""data_staging", "nb_bytes": 3, "from": "a""#, "guess"),
        ],
    },
    Base {
        row: "sacct",
        read: instance,
        text: "JobID|Submit|Start|End|Elapsed|AllocCPUS|X\n\
            1|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:10:05|00:10:00|1|COMPLETED\n",
        keys: &[
            ("|X\n", "|JobName\n", "JobName"),
            ("|X\n", "|ConsumedEnergy\n", "ConsumedEnergy"),
            ("|X\n", "|Priority\n", "Priority"),
            ("|X\n", "|MaxRSS\n", "MaxRSS"),
            ("|X\n", "|ExitCode\n", "ExitCode"),
            ("|X\n", "|NodeList\n", "NodeList"),
        ],
    },
    Base {
        row: "SWF",
        read: instance,
        text: "; MaxProcs: 4\n1 0 5 100 2 -1 -1 2 200 -1 1 -1 -1 -1 -1 -1 -1 -1\n",
        keys: &[
            ("-1 -1 -1\n", "-1 1 -1\n", "fields 17 and 18"),
            ("-1 -1 -1\n", "-1 -1 30\n", "fields 17 and 18"),
            ("-1 -1 -1 -1 -1\n", "7 -1 -1 -1 -1\n", "the executable"),
            ("2 200 -1", "2 200 4000", "memory"),
        ],
    },
    Base {
        row: "ETC",
        read: whole,
        text: "2 2\n1 2\n3 4\n",
        keys: &[("2 2\n", "2 2 1\n", "class"), ("1 2", "0 2", "one nanosecond")],
    },
    Base {
        row: "STG",
        read: instance,
        text: "2\n0 0 0\n1 4 1 0\n2 5 1 1\n3 0 1 2\n",
        keys: &[("3 0 1 2\n", "3 0 1 2\n# Critical path 9\n", "#"), ("2 5", "2 0", "0 s")],
    },
    Base {
        row: "PSPLIB",
        read: whole,
        text: include_str!("../../../../fuzz/corpus/psplib/own.mm"),
        keys: &[
            ("basedata            : own", "basedata            : other", "file with basedata"),
            ("generator: 7", "generator: 8", "initial value random generator"),
            (":  20", ":  21", "horizon"),
            ("    1      3      2", "    2      3      2", "pronr."),
            ("    1      3      2", "    1      4      2", "#jobs"),
            ("    1      3      2", "    1      3      1", "rel.date"),
            ("      2       18", "      2       19", "duedate"),
            ("12       7", "13       7", "tardcost"),
            ("12       7", "12       8", "MPM-Time"),
            ("   3        2          1", "   3        3          1", "announces 3 modes, and 2 follow"),
        ],
    },
    Base {
        row: "moldable sets",
        read: whole,
        text: r#"{"cpudata": {"nb_p": [1, 2], "t1": [3, 2]}}"#,
        keys: &[
            (r#"}}"#, r#"}, "meta": {"n": 1}}"#, "meta"),
            (r#"}}"#, r#"}, "gpudata": {"t1": [1]}}"#, "gpudata"),
            (r#"}}"#, r#"}, "data": {}}"#, "data"),
            (r#"}}"#, r#", "t2": [4, 3]}}"#, "t2"),
        ],
    },
    Base {
        row: "XML of compound jobs",
        read: instance,
        text: "<compound-jobs version='1'><job name='j'><task name='a' volume='2'><command><word>x</word></command></task><task name='b' \
            volume='3'/><transfer from='a' to='b' data='5'/></job></compound-jobs>",
        keys: &[
            ("version='1'", "version='1' x='1'", "`x`"),
            ("name='j'", "name='j' release='1'", "release"),
            ("name='j'", "name='j' deadline='100'", "deadline"),
            ("name='j'", "name='j' walltime='100'", "walltime"),
            ("name='j'", "name='j' weight='2'", "weight"),
            ("name='j'", "name='j' priority='2'", "priority"),
            ("name='j'", "name='j' x='2'", "`x`"),
            ("volume='3'", "volume='3' x='2'", "`x`"),
            ("<command>", "<command shell='y'>", "`shell`"),
            ("<word>", "<word shell='y'>", "`shell`"),
            ("x</word>", "x<y/></word>", "<y>"),
            ("</command>", "<y/></command>", "<y>"),
            ("data='5'/>", "data='5'><y/></transfer>", "<y>"),
            ("data='5'/>", "data='5' x='1'/>", "`x`"),
            ("</job>", "<y/></job>", "<y>"),
        ],
    },
    Base {
        row: "traces of Nextflow",
        read: trace,
        text: TRACE,
        keys: &[
            ("X\n", "task_id\n", "task_id"),
            ("X\n", "hash\n", "hash"),
            ("X\n", "native_id\n", "native_id"),
            ("X\n", "process\n", "process"),
            ("X\n", "tag\n", "tag"),
            ("X\n", "exit\n", "exit"),
            ("X\n", "module\n", "module"),
            ("X\n", "container\n", "container"),
            ("X\n", "cpus\n", "cpus"),
            ("X\n", "time\n", "time"),
            ("X\n", "disk\n", "disk"),
            ("X\n", "memory\n", "memory"),
            ("X\n", "attempt\n", "attempt"),
            ("X\n", "submit\n", "submit"),
            ("X\n", "start\n", "start"),
            ("X\n", "complete\n", "complete"),
            ("X\n", "duration\n", "duration"),
            ("X\n", "queue\n", "queue"),
            ("X\n", "%cpu\n", "%cpu"),
            ("X\n", "peak_rss\n", "peak_rss"),
            ("X\n", "rchar\n", "rchar"),
            ("X\n", "workdir\n", "workdir"),
            ("X\n", "script\n", "script"),
            ("X\n", "error_action\n", "error_action"),
            ("X\n", "hostname\n", "hostname"),
            ("X\nsplit\tCOMPLETED\t1s\t2", "cpus\nsplit\tCOMPLETED\t1s\tx", "amount"),
            ("align (b)\tCOMPLETED", "align (b)\tFAILED", "not completed"),
            ("align (b)", "sort (b)", "lacks the processes"),
        ],
    },
    Base {
        row: "DOT",
        read: drawn_alone,
        text: DAG,
        keys: &[
            ("=align", "=align, shape=circle", "shape"),
            ("=align", "=align, time=3", "time"),
            ("=align", "=align, runtime=3", "runtime"),
            ("a -> b", "a -> b [label=x]", "label"),
            ("a -> b", "a -> b [data=3]", "data"),
        ],
    },
    Base {
        row: "SimGrid",
        read: machines,
        text: "<platform version='4.1'><zone id='w' routing='Full'><host id='a' speed='1Mf,2Mf'/><host id='b' speed='1Mf'/>\
            <link id='l' bandwidth='1MBps' latency='1us'/><route src='a' dst='b'><link_ctn id='l'/></route></zone></platform>",
        keys: &[
            ("2Mf'", "2Mf' core='2'", "core"),
            ("2Mf'", "2Mf' pstate='1'", "pstate"),
            ("2Mf'", "2Mf' pstate='2'", "pstate"),
            ("2Mf'", "2Mf' pstate='x'", "pstate"),
            ("2Mf'", "2Mf' power='1Mf'", "power"),
            ("2Mf'", "2Mf' coordinates='1 2'", "coordinates"),
            ("2Mf'", "2Mf' speed_file='x'", "speed_file"),
            ("2Mf'", "2Mf' state_file='x'", "state_file"),
            ("2Mf'/>", "2Mf'><prop id='x' value='y'/></host>", "prop"),
            ("2Mf'/>", "2Mf'><prop id='role' value='master'/></host>", "role"),
            ("2Mf'/>", "2Mf'><disk id='x' read_bw='1MBps' write_bw='1MBps'/></host>", "disk"),
            ("2Mf'/>", "2Mf'><mount storageId='x' name='/'/></host>", "mount"),
            ("1us'", "1us' sharing_policy='FATPIPE'", "FATPIPE"),
            ("1us'", "1us' bandwidth_file='x'", "bandwidth_file"),
            ("1us'", "1us' latency_file='x'", "latency_file"),
            ("dst='b'", "dst='b' symmetrical='NO'", "symmetrical"),
            ("link_ctn id='l'", "link_ctn id='l' direction='UP'", "direction"),
            ("link_ctn id='l'", "link_ctn id='l' weight='2'", "weight"),
            ("dst='b'", "dst='b' weight='2'", "weight"),
            ("'Full'", "'Floyd'", "routing"),
            ("</zone>", "<bypassRoute src='a' dst='b'/></zone>", "bypassRoute"),
            ("</zone>", "<backbone id='x' bandwidth='1' latency='0'/></zone>", "backbone"),
            ("</zone>", "<peer id='p' speed='1Mf' bw_in='1' bw_out='1'/></zone>", "peer"),
            ("</zone>", "<include file='x'/></zone>", "include"),
            ("<zone", "<config id='General'><prop id='x' value='1'/></config><zone", "config"),
            ("<zone", "<trace id='t' periodicity='1'>0 1</trace><zone", "trace"),
            ("</zone>", "</zone><actor host='a' function='f'/>", "actor"),
        ],
    },
    Base {
        row: "SimGrid",
        read: machines,
        text: "<platform version='4.1'><cluster id='c' prefix='n' suffix='' radical='0-1' speed='1Mf' bw='1MBps' lat='1us'/></platform>",
        keys: &[
            ("lat='1us'", "lat='1us' core='2'", "core"),
            ("lat='1us'", "lat='1us' bb_bw='1MBps'", "bb_bw"),
            ("lat='1us'", "lat='1us' router_id='r'", "router_id"),
            ("lat='1us'", "lat='1us' limiter_link='1MBps'", "limiter_link"),
            ("lat='1us'", "lat='1us' loopback_bw='1MBps' loopback_lat='1us'", "loopback_bw"),
            ("lat='1us'", "lat='1us' topology='TORUS' topo_parameters='2,1'", "TORUS"),
            ("lat='1us'", "lat='1us' sharing_policy='FATPIPE'", "FATPIPE"),
            ("lat='1us'", "lat='1us' bb_bw='1MBps' bb_sharing_policy='FATPIPE'", "FATPIPE"),
            ("lat='1us'", "lat='1us' state_file='x'", "state_file"),
        ],
    },
    Base {
        row: "SimGrid",
        read: machines,
        text: "<platform version='3'><AS id='w' routing='Full'><host id='a' power='1Mf'/><host id='b' power='1Mf'/></AS></platform>",
        keys: &[
            ("id='a' power='1Mf'", "id='a' power='1Mf' availability='0.5'", "availability"),
            ("id='a'", "id='master_host'", "master_host"),
        ],
    },
];

/// The list of what is ignored in `docs/formats.md`: the row of a format, and the row of all.
fn ignored(row: &str) -> String {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md")).unwrap();
    let (_, list) = docs.split_once("## Keys that are ignored").unwrap();
    let (list, _) = list.split_once("\n## ").unwrap();
    let rows: Vec<&str> = [row, "all"]
        .map(|row| {
            list.lines().find(|line| line.starts_with(&format!("| {row} |"))).unwrap_or_else(|| panic!("no row {row}"))
        })
        .into();
    rows.join("\n")
}

#[test]
fn each_key_is_used_named_in_a_warning_or_listed_as_ignored() {
    let mut dropped = Vec::new();
    for Base { row, read, text, keys } in BASES {
        let docs = ignored(row);
        let without = read(text, false).unwrap_or_else(|error| panic!("{text}: {error}"));
        for (from, to, key) in keys {
            assert!(text.contains(from), "{from}");
            let changed = text.replacen(from, to, 1);
            let (instance, remarks) = match read(&changed, false) {
                Ok(found) => found,
                // A contradiction is refused by name.
                Err(error) => {
                    assert!(error.contains(key), "{row}: {key}: {error}");
                    continue;
                }
            };
            let is_listed = docs.contains(&format!("`{key}`")) || docs.contains(&format!("({key})"));
            let is_named = remarks.contains(key) && !without.1.contains(key);
            if instance == without.0 && !is_named && !is_listed {
                dropped.push(format!("{row}: `{key}` is dropped: {to}: {remarks}"));
            }
            let strict = read(&changed, true);
            if is_named && !is_listed && strict.is_ok() {
                dropped.push(format!("{row}: --strict accepts `{key}`: {to}: {remarks}"));
            } else if is_listed {
                assert!(strict.is_ok(), "{row}: --strict refuses `{key}`, which is listed as ignored: {strict:?}");
            }
        }
        assert!(read(text, true).is_ok(), "{row}: --strict refuses {text}");
    }
    assert!(dropped.is_empty(), "{}", dropped.join("\n"));
}

/// Files of numbers alone have no keys: each number changes the instance or is refused.
#[test]
fn each_number_counts() {
    let modes = include_str!("../../../../fuzz/corpus/psplib/own.mm");
    let modes =
        modes.replacen("         3     4       6    1    0\n", "", 1).replacen("   2        3 ", "   2        2 ", 1);
    // What takes no time holds nothing.
    let modes = modes.replace("1     0       0    0    0", "1     6       0    0    0");
    let sections = modes.find("PRECEDENCE").unwrap();
    let files = [
        (whole as fn(&str, bool) -> Found, "2 2\n1 2\n3 4\n".to_owned(), 0),
        (instance, "2\n0 0 0\n1 4 1 0\n2 5 1 1\n3 0 1 2\n".to_owned(), 0),
        (whole, "4 1\n4\n3 0 1 2\n1 1 1 3\n2 1 1 4\n5 0 0\n".to_owned(), 0),
        (whole, modes, sections),
    ];
    for (read, text, from) in files {
        let without = read(&text, false).unwrap();
        let digit = |at: &usize| text.as_bytes()[*at].is_ascii_digit();
        for at in (from..text.len()).filter(digit).filter(|at| *at == 0 || !digit(&(at - 1))) {
            let number: String = text[at..].chars().take_while(char::is_ascii_digit).collect();
            let more = number.parse::<u64>().unwrap() + 1;
            let changed = format!("{}{more}{}", &text[..at], &text[at + number.len()..]);
            let found = read(&changed, false);
            assert!(found.is_err() || found != Ok(without.clone()), "{at}: {changed}");
        }
    }
}
