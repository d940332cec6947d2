//! Tests of the page of bounds and of the check of its certificates.

use std::fs;

use crate::sandbox::Sandbox;

/// A project of three activities on one resource of capacity 2. Two activities of 2 time units can run at the same
/// time. One activity of 3 time units starts after both. The minimum makespan is 5.
const PROJECT: &str = "5 1\n2\n0 0 2 2 3\n2 1 1 4\n2 1 1 4\n3 2 1 5\n0 0 0\n";

fn with_projects() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("projects")).unwrap();
    for name in ["j30_1_1.rcp", "j30_1_2.rcp", "j30_1_3.rcp"] {
        sandbox.write(&format!("projects/{name}"), PROJECT);
    }
    let header = "instance,best_known_lower_bound,best_known_makespan\n";
    sandbox.write("best.csv", &format!("{header}j30_1_1,4,6\nj30_1_2,5,5\nj30_1_3,,7\n"));
    sandbox
}

const PAGE: &str = "bounds --instances projects --best best.csv --source Table --date 2026-01-31 --time-limit 0.2";

#[test]
fn bounds_of_open_projects_are_listed_with_certificates() {
    let sandbox = with_projects();
    let page = sandbox.lab(PAGE).succeeds();
    assert!(
        page.contains("2 projects, 2 of them proved optimal; 1 bounds are above the values in Table of 2026-01-31"),
        "{page}"
    );
    assert!(page.contains("| j30/j30_1_1 | 5 | 5 | 4 | 6 | "), "{page}");
    assert_eq!(sandbox.read("bounds/bounds.md"), page);
    let csv = sandbox.read("bounds/bounds.csv");
    let row = csv.lines().nth(1).unwrap();
    assert!(row.starts_with("j30,j30_1_1,5,5,") && row.ends_with(",4,6,Table,2026-01-31,above"), "{csv}");
    assert!(csv.lines().nth(2).unwrap().starts_with("j30,j30_1_3,5,5,") && csv.lines().count() == 3, "{csv}");
    let certificate = sandbox.read("bounds/certificates/j30-j30_1_1.json");
    assert_eq!(sandbox.lab(PAGE).succeeds(), page);
    assert_eq!(sandbox.read("bounds/certificates/j30-j30_1_1.json"), certificate, "a valid plan is kept");
    let check = "bounds --instances projects --check";
    assert_eq!(sandbox.lab(check).succeeds(), "valid certificates: 2, problems: 0\n");
}

/// A project of two activities in a row. In one mode, an activity uses up 3 units of N1 and 1 unit of N2. In the other
/// mode, the amounts are exchanged. So 3 units of N1 and 3 units of N2 do not suffice, but 4 units of each do. The
/// minimum makespan is 3.
const WITH_MODES: &str = "jobs (incl. supersource/sink ):  4
  - renewable                 :  1   R
  - nonrenewable              :  2   N
PRECEDENCE RELATIONS:
jobnr.    #modes  #successors   successors
   1        1          1           2
   2        2          1           3
   3        2          1           4
   4        1          0
************************************************************************
REQUESTS/DURATIONS:
jobnr. mode duration  R 1  N 1  N 2
------------------------------------------------------------------------
  1      1     0       0    0    0
  2      1     1       1    3    1
         2     2       1    1    3
  3      1     1       1    3    1
         2     2       1    1    3
  4      1     0       0    0    0
************************************************************************
RESOURCEAVAILABILITIES:
  R 1  N 1  N 2
    1    BUDGET    BUDGET
";

#[test]
fn infeasible_projects_are_listed_and_checked() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("projects")).unwrap();
    for (name, budget) in [("j101_1.mm", "3"), ("j101_2.mm", "4")] {
        sandbox.write(&format!("projects/{name}"), &WITH_MODES.replace("BUDGET", budget));
    }
    let page = sandbox.lab("bounds --instances projects --time-limit 0.2").succeeds();
    assert!(page.contains("2 projects, 1 of them proved optimal, 1 infeasible.\n"), "{page}");
    assert!(page.contains("| j10 mm/j101_1 | infeasible | - | - | - | all choices of modes |"), "{page}");
    assert!(page.contains("| j10 mm/j101_2 | 3 | 3 | - | - | "), "{page}");
    let check = "bounds --instances projects --check";
    assert_eq!(sandbox.lab(check).succeeds(), "valid certificates: 1, infeasible projects: 1, problems: 0\n");
    sandbox.write("projects/j101_1.mm", &WITH_MODES.replace("BUDGET", "4"));
    let said = sandbox.lab(check);
    assert!(
        said.status == Some(1) && said.out.contains("the project is infeasible, but this is not proved"),
        "{said:?}"
    );
}

#[test]
fn changed_certificates_and_tables_are_found() {
    let sandbox = with_projects();
    sandbox.lab(PAGE).succeeds();
    let check = "bounds --instances projects --check";
    let path = "bounds/certificates/j30-j30_1_1.json";
    let certificate = sandbox.read(path);
    sandbox.write(path, &certificate.replace("\"makespan\": {\"value\": 5", "\"makespan\": {\"value\": 6"));
    let said = sandbox.lab(check);
    assert!(said.status == Some(1) && said.out.contains("valid certificates: 1, problems: "), "{said:?}");
    sandbox.write(path, &certificate);
    let csv = sandbox.read("bounds/bounds.csv");
    sandbox.write("bounds/bounds.csv", &csv.replace("j30_1_1,5,5,", "j30_1_1,5,6,"));
    let said = sandbox.lab(check);
    assert!(said.out.contains("the table states the bound 6, but the plan file proves 5"), "{said:?}");
    fs::remove_file(sandbox.path(path)).unwrap();
    assert!(sandbox.lab(check).out.contains("j30-j30_1_1.json: "));
    fs::remove_file(sandbox.path("projects/j30_1_3.rcp")).unwrap();
    assert!(sandbox.lab(check).out.contains("does not contain this project"));
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let sandbox = with_projects();
    sandbox.lab("bounds --instances projects --best best.csv").misused(&["--source"]);
    sandbox.lab("bounds --instances projects --check --time-limit 3").misused(&["--check"]);
    for (line, part) in [
        ("bounds --instances none", "name a folder that contains files"),
        ("bounds --instances projects --time-limit 0", "positive number of seconds"),
        ("bounds --instances projects --check", "bounds.csv"),
    ] {
        let said = sandbox.lab(line);
        assert!(said.status == Some(1) && said.err.contains(part), "{line}: {said:?}");
    }
}
