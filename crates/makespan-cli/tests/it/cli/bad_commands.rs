//! Invalid command lines are refused.

use crate::cli::sandbox::Sandbox;

#[test]
fn algorithms_that_do_not_exist() {
    let sandbox = Sandbox::with_small();
    let case = |spec: &str, parts: &[&str]| {
        sandbox.makespan(&format!("plan small.toml --output out.json --algorithm '{spec}'")).refused(parts);
        sandbox.makespan(&format!("compare small.toml --algorithms '{spec}'")).refused(parts);
        sandbox.makespan(&format!("run small.toml --algorithm '{spec}'")).refused(&[]);
    };
    case("demtt", &["unknown algorithm `demtt`", "did you mean `demt`?"]);
    case("zzz", &["unknown algorithm `zzz`", "demt, dual, list"]);
    case("demt[shuffles=x]", &["shuffles=x", "a number from 0 to 1000000"]);
    case("demt[shuffles=-1]", &["shuffles=-1", "a number from 0 to 1000000"]);
    case("demt[shuffels=3]", &["`shuffels`", "did you mean `shuffles`?"]);
    case("list[order=foo]", &["order=foo", "shelf, weighted-lptf, smith, saf or edd"]);
    case("demt[", &["`demt[`", "name[key=value,..]"]);
    case("", &["does not name an algorithm"]);
    sandbox.makespan("compare small.toml -a demt,,gang").refused(&["does not name an algorithm"]);
    assert_eq!(sandbox.entries(), ["small.toml"]);
}

#[test]
fn options_that_cannot_be_read_are_misuse() {
    let sandbox = Sandbox::with_small();
    let case = |line: &str, parts: &[&str]| sandbox.makespan(line).misused(parts);
    case("plan small.toml --speedup foo", &["'foo'", "amdahl:SERIAL"]);
    case("plan small.toml --speedup amdahl:2", &["serial is 2", "from 0 to 1"]);
    case("plan small.toml --seed -1", &["-1", "--seed"]);
    case("plan small.toml --seed 1.5", &["1.5", "--seed"]);
    case("plan small.toml --format xml", &["xml", "text, json"]);
    case("plan small.toml --output ''", &["--output"]);
    case("plan", &["<INSTANCE>"]);
    case("plan small.toml more.toml", &["more.toml"]);
    case("verify small.toml", &["<SCHEDULE>"]);
    case("convert small.toml", &["<OUTPUT>"]);
    case("run small.toml --retry-failed", &["--resume"]);
    case("frobnicate", &["frobnicate"]);
    case("plna small.toml", &["plna", "plan"]);
    for line in ["reproduce", "reproduce demt --runs 1", "help reproduce"] {
        case(line, &["'reproduce'", "is now `makespan-lab NAME`"]);
    }
    case("completions tcsh", &["tcsh", "bash"]);
}

#[test]
fn options_of_logs_are_refused_for_native_files() {
    let sandbox = Sandbox::with_small();
    for command in ["plan small.toml", "bound small.toml", "compare small.toml", "convert small.toml out.json"] {
        let case = |option: &str, part| sandbox.makespan(&format!("{command} {option}")).refused(&["small.toml", part]);
        case("--processors 7", "files without machines");
        case("--speedup linear", "only for logs (SWF, Batsim, sacct --parsable2)");
    }
    sandbox.write("log.swf", "1 0 0 5 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n");
    sandbox.makespan("plan log.swf --processors 0").refused(&["log.swf", "no processors"]);
}

#[test]
fn generators_refuse_what_gives_no_instance() {
    let sandbox = Sandbox::new();
    let case = |options: &str, parts: &[&str]| {
        sandbox.makespan(&format!("generate moldable --family high {options} --output g.toml")).refused(parts);
    };
    case("--jobs 0 --processors 4", &["--jobs is 0", "at least 1"]);
    case("--jobs 3 --processors 0", &["processors is 0", "at least 1"]);
    case("--jobs 1000000000000 --processors 4", &["jobs", "at most"]);
    case("--jobs 3 --processors 4 --arrival-rate nan", &["arrival rate", "positive"]);
    case("--jobs 3 --processors 4 --arrival-rate 0", &["arrival rate", "positive"]);
    case("--jobs 3 --processors 4 --arrival-rate 1e-30", &["arrival rate", "292 years"]);
    case("--jobs 3 --processors 4 --arrival-rate -1", &["arrival rate", "positive"]);
    sandbox.makespan("generate moldable --family foo --jobs 3 --processors 4").misused(&["weak, high, mixed or cirne"]);
    assert!(sandbox.entries().is_empty());
}
