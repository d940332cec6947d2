//! Workflows with the real `snakemake`, which a script installs if the package registries provide it.

use std::path::Path;
use std::process::Command;

use crate::cli::sandbox::{Said, Sandbox};

const SNAKEFILE: &str = "\
rule all:
    input: \"report.txt\"
rule count:
    input: \"data/{s}.txt\"
    output: \"counts/{s}.n\"
    threads: 2
    resources: mem_mb=10
    benchmark: \"bench/{s}.tsv\"
    shell: \"wc -l < '{input}' > '{output}'; echo {wildcards.s} >> log\"
rule report:
    input: expand(\"counts/{s}.n\", s=[\"a\", \"b c\"])
    output: \"report.txt\"
    run:
        open(output[0], \"w\").write(\"\".join(open(name).read() for name in input))
";

/// Returns the folder of `snakemake`, which is installed on first use.
pub fn snakemake() -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/snakemake-for-tests");
    let output = Command::new(script).output().unwrap();
    if output.status.success() {
        return Some(String::from_utf8(output.stdout).unwrap().trim().to_owned());
    }
    eprintln!("SKIPPED: snakemake cannot be installed: {}", String::from_utf8_lossy(&output.stderr));
    None
}

#[test]
#[ignore = "long: Snakemake"]
fn a_workflow_is_run_job_by_job_and_learns_from_its_benchmarks() {
    let Some(folder) = snakemake() else { return };
    let sandbox = Sandbox::new();
    sandbox.write("Snakefile", SNAKEFILE);
    std::fs::create_dir(sandbox.path("data")).unwrap();
    sandbox.write("data/a.txt", "1\n");
    sandbox.write("data/b c.txt", "1\n2\n");
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let makespan = |line: &str| Said::new(line, &sandbox.command(line).env("PATH", &path).output().unwrap());
    let said = makespan("run Snakefile --processors 2 --oversubscribe --verbose").succeeds();
    for part in ["3 jobs on 2 processors", "all 3 run times are guesses", "count s=b c", "3 of 3 jobs succeeded"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let mut log: Vec<String> = sandbox.read("log").lines().map(str::to_owned).collect();
    log.sort();
    assert_eq!((log, sandbox.read("report.txt").as_str()), (vec!["a".to_owned(), "b c".into()], "1\n2\n"));
    // When the inputs are newer, the plan uses the measured times.
    sandbox.write("data/a.txt", "1\n2\n3\n");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(2);
    std::fs::File::options().append(true).open(sandbox.path("data/a.txt")).unwrap().set_modified(later).unwrap();
    let said = makespan("plan Snakefile --processors 2").succeeds();
    assert!(said.contains("2 jobs on 2 processors") && said.contains("1 of 2 run times is a guess"), "{said}");
    sandbox.write("bad.smk", "rule a:\n  nonsense\n");
    makespan("run bad.smk").refused(&[
        "bad.smk",
        "snakemake reports an error",
        "line 2",
        "Unexpected keyword nonsense",
    ]);
    sandbox.write("none.smk", "rule a:\n    input: \"nowhere\"\n    output: \"x\"\n    shell: \"touch {output}\"\n");
    makespan("run none.smk").refused(&[
        "none.smk",
        "snakemake reports an error",
        "Missing input files for rule a",
        "nowhere",
    ]);
}

#[test]
fn a_group_is_run_by_one_process_and_a_rule_without_action_by_none() {
    let Some(folder) = snakemake() else { return };
    let sandbox = Sandbox::new();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    sandbox.write(
        "Snakefile",
        "rule all:\n    input: \"b1\", \"b2\"\n\
         rule a:\n    output: \"a{s}\"\n    group: \"g\"\n    shell: \"echo $PPID >> a.log; touch {output}\"\n\
         rule b:\n    input: \"a{s}\"\n    output: \"b{s}\"\n    group: \"g\"\n    shell: \"echo $PPID >> b.log; touch {output}\"\n",
    );
    let run = |line: &str| Said::new(line, &sandbox.command(line).env("PATH", &path).output().unwrap());
    assert!(run("run Snakefile --folder f").succeeds().contains("1 of 1 job succeeded"));
    let parents = |name: &str| {
        let mut parents: Vec<String> = sandbox.read(name).lines().map(str::to_owned).collect();
        parents.sort();
        parents
    };
    let parents = [parents("a.log"), parents("b.log")].concat();
    assert_eq!(parents.len(), 4);
    assert!(parents.iter().all(|parent| *parent == parents[0]), "one process of Snakemake for the group: {parents:?}");
    assert!(run("run Snakefile --folder g").err.contains("there is nothing to do"));
}

#[test]
fn an_edited_rule_is_run_when_a_run_goes_on() {
    let Some(folder) = snakemake() else { return };
    let sandbox = Sandbox::new();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let makespan = |line: &str| Said::new(line, &sandbox.command(line).env("PATH", &path).output().unwrap());
    let workflow = |shell: &str| {
        format!(
            "rule all:\n    input: \"x\", \"y\"\nrule x:\n    output: \"x\"\n    shell: \"{shell}\"\nrule y:\n    output: \"y\"\n    shell: \"echo y >> log; false\"\n"
        )
    };
    sandbox.write("Snakefile", workflow("echo x >> log; false"));
    assert_eq!(makespan("run Snakefile --folder f").status, Some(2));
    sandbox.write("Snakefile", workflow("echo x >> log; touch {output}"));
    assert_eq!(makespan("run Snakefile --folder f --resume").status, Some(1));
    let log = sandbox.read("log");
    let count = |name: &str| log.lines().filter(|line| *line == name).count();
    assert_eq!((count("x"), count("y")), (2, 2), "{log}");
}

#[test]
fn a_workflow_without_its_program_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("Snakefile", SNAKEFILE);
    let said = Said::new("plan", &sandbox.command("plan Snakefile").env("PATH", "/nowhere").output().unwrap());
    said.refused(&["Snakefile", "cannot run `snakemake`"]);
    let said = Said::new("plan", &sandbox.command("plan Makefile.mk").env("PATH", "/nowhere").output().unwrap());
    said.refused(&["Makefile.mk", "No such file"]);
}
