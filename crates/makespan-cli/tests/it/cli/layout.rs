//! The layout of printed texts.

use crate::cli::sandbox::{Said, Sandbox};

/// Checks that no line is wider than 100 columns, ends in a space, or contains an escape sequence.
#[track_caller]
fn tidy(what: &str, text: &str) {
    for line in text.lines() {
        let width = line.chars().count();
        assert!(width <= 100, "{what}: {width} columns:\n{line}");
        assert_eq!(line, line.trim_end(), "{what}: spaces at the end");
        assert!(!line.contains('\x1b'), "{what}: an escape sequence in {line:?}");
    }
    assert!(text.ends_with('\n') && !text.contains("\n\n\n"), "{what}: empty lines in\n{text}");
}

#[test]
fn texts_fit_a_terminal() {
    let sandbox = Sandbox::with_small();
    sandbox.makespan("generate moldable --family cirne --jobs 60 --processors 200 --output big.toml").succeeds();
    sandbox.makespan("plan small.toml --output p.json").succeeds();
    let lines = [
        "plan small.toml",
        "plan big.toml",
        "bound small.toml",
        "bound big.toml",
        "verify small.toml p.json",
        "compare small.toml",
        "compare big.toml",
        "algorithms",
        "simulate small.toml --policy easy,fcfs --start-time-of law",
        "convert small.toml small.json",
        "profile --allotments 1,2 --repetitions 1 -- true",
    ];
    for line in lines {
        tidy(line, &sandbox.makespan(line).succeeds());
    }
}

#[test]
fn nothing_asks_for_a_terminal_or_for_input() {
    let sandbox = Sandbox::with_small();
    for variable in ["CLICOLOR_FORCE", "FORCE_COLOR"] {
        // Even if colours are forced, the output contains no escape sequences.
        let output = sandbox.command("plan small.toml").env(variable, "0").output().unwrap();
        tidy(variable, &Said::new("plan", &output).succeeds());
    }
    let closed = sandbox.command("compare small.toml").stdin(std::process::Stdio::null()).output().unwrap();
    Said::new("compare", &closed).succeeds();
}

#[test]
fn errors_are_plain_text() {
    let sandbox = Sandbox::with_small();
    for line in ["plan missing.toml", "plan small.toml -a nothing", "plan --nothing"] {
        let said = sandbox.makespan(line);
        assert!(!said.err.contains('\x1b') && said.err.is_ascii() | said.err.contains('×'), "{said:?}");
    }
}

#[test]
fn long_and_strange_names_stay_whole() {
    let sandbox = Sandbox::new();
    let name = "a job; with 'quotes', <b>&amp;</b> \\u001b[31m and ünïcödé";
    let job = format!("{{\"name\": \"{name}\", \"processors\": 1, \"time\": 1}}");
    sandbox.write("odd.json", format!("{{\"version\": 1, \"platform\": {{\"processors\": 2}}, \"jobs\": [{job}]}}"));
    let text =
        sandbox.makespan("plan odd.json -o p.json --report r.html --gantt g.svg --jobs j.csv --swf s.swf").succeeds();
    assert!(!text.contains('\x1b'), "a name cannot send escape sequences to the terminal: {text:?}");
    sandbox.makespan("verify odd.json p.json").succeeds();
    for file in ["r.html", "g.svg"] {
        let content = sandbox.read(file);
        assert!(!content.contains("<b>&amp;</b>") && !content.contains('\x1b'), "{file}");
    }
}

#[test]
fn progress_is_shown_on_a_terminal_only() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", crate::cli::run::shell_jobs(1, &[("lonely", "0.2", "sleep 0.2")]));
    assert!(!sandbox.makespan("run i.toml").succeeds().contains("elapsed"));
    let bin = assert_cmd::cargo_bin!("makespan").display().to_string();
    let mut terminal = std::process::Command::new("script");
    terminal.env("MAKESPAN_HISTORY", sandbox.history());
    terminal.args(["-qec", &format!("'{bin}' run i.toml"), "/dev/null"]).current_dir(sandbox.path(""));
    let Ok(output) = terminal.stdin(std::process::Stdio::null()).output() else {
        eprintln!("skipped: there is no program `script` to make a terminal");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    for part in ["0/1 jobs, ", "\x1b[", "1 of 1 job succeeded"] {
        assert!(text.contains(part), "`{part}` is missing in {text:?}");
    }
}
