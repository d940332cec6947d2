//! Tests of `--strict`, which turns each warning about a file into an error, in every command that reads the file.

use crate::cli::makefiles::has_make;
use crate::cli::sandbox::Sandbox;

const GRAPH: &str = "digraph { a [time=1, command=true]; b [time=2, command=true]; a -> b [data=5] }\n";

/// Two platform files. The reader ignores the disk of the first file and the network of the second file.
const PLATFORMS: [(&str, &str, &str); 2] = [
    (
        "disk.xml",
        "<platform version='4.1'><zone id='w' routing='Full'><host id='master_host' speed='1Mf'/><host id='a' speed='1Mf'><disk id='d'/>\
         </host></zone></platform>",
        "<disk> (1)",
    ),
    (
        "torus.xml",
        "<platform version='4.1'><cluster id='c' prefix='n' suffix='' radical='0-1' speed='1Mf' bw='1MBps' lat='1us' topology='TORUS' \
         topo_parameters='2,1'/></platform>",
        "the topology TORUS",
    ),
];

#[test]
fn parts_of_a_platform_that_are_ignored_are_refused_in_every_command() {
    let sandbox = Sandbox::new();
    sandbox.write("list.txt", "true\n");
    sandbox.write("log.dot", GRAPH.replace(" [data=5]", ""));
    for (platform, text, part) in PLATFORMS {
        sandbox.write(platform, text);
        for line in [
            "plan list.txt",
            "bound list.txt",
            "compare list.txt",
            "convert list.txt out.json",
            "simulate log.dot",
            "run list.txt",
            "run --folder r",
        ] {
            let words = if line.ends_with("--folder r") { " -- 'echo {}' ::: 1" } else { "" };
            sandbox.makespan(&format!("{line} --platform {platform} --strict{words}")).refused(&[
                platform,
                part,
                "--strict does not allow this",
            ]);
        }
        let report = sandbox.makespan(&format!("plan list.txt --platform {platform}")).succeeds();
        assert!(report.contains(platform), "the remark lacks the file: {report}");
    }
}

#[test]
fn errors_of_a_platform_name_its_file() {
    let sandbox = Sandbox::new();
    sandbox.write("graph.dot", GRAPH);
    sandbox.write("torus.xml", PLATFORMS[1].1);
    sandbox.write("bad.xml", "<x/>");
    for line in ["plan", "bound", "simulate", "run"] {
        sandbox
            .makespan(&format!("{line} graph.dot --platform torus.xml"))
            .refused(&["torus.xml: line 1: the topology TORUS", "the jobs send data"]);
        sandbox.makespan(&format!("{line} graph.dot --platform bad.xml")).refused(&["bad.xml:1: the file is no"]);
    }
}

#[test]
fn warnings_of_make_are_refused() {
    if !has_make() {
        return;
    }
    let warnings = [
        ("said.mk", "$(warning old compiler)\nall:\n\ttouch all\n", "old compiler"),
        ("twice.mk", "all: b\n\ttouch all\nb:\n\ttouch b\nb:\n\ttouch b c\n", "overriding recipe for target 'b'"),
        (
            "circle.mk",
            "all: a b\n\ttouch all\na: b\n\ttouch a\nb: a\n\ttouch b\n",
            "Circular b <- a dependency dropped",
        ),
    ];
    let sandbox = Sandbox::new();
    for (name, text, part) in warnings {
        sandbox.write(name, text);
        let report = sandbox.makespan(&format!("plan {name}")).succeeds();
        assert!(report.contains(part), "{report}");
        for line in ["plan", "bound", "run"] {
            sandbox.makespan(&format!("{line} {name} --strict")).refused(&[name, part, "--strict does not allow this"]);
        }
    }
    sandbox.write("plain.mk", "all: b\n\ttouch all\nb:\n\ttouch b\n");
    sandbox.makespan("run plain.mk --strict").succeeds();
}
