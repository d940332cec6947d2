//! A table of proven bounds for the open projects of a folder, with a certificate for each bound.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use makespan::Planner;
use makespan::check::problems;
use makespan_core::{Instance, Objective, Time};
use makespan_formats::{PlanFile, ScheduleFile, write_atomic};

use super::files::File;
use super::known::{BestKnown, KnownValues};
use crate::LabError;
use crate::campaign::{failed, is_infeasible, markdown_table, refuse, table, texts, uses_up_too_much, write};

/// The columns of `bounds.csv`.
const HEADER: &str = "set,project,plan,bound,proof,certificate,published_bound,published_makespan,source,date,bound_is";
/// The folder of the certificates, in the folder of the page.
const CERTIFICATES: &str = "certificates";

/// The options of `makespan-lab bounds`.
#[derive(Args, Clone, Debug)]
pub struct BoundsOptions {
    /// Folder of the projects (.sm, .mm, .rcp), which may be in subfolders
    #[arg(long, value_name = "DIR")]
    instances: PathBuf,
    /// CSV file of the published values, with the columns `instance`, `best_known_makespan` and `best_known_lower_bound`
    #[arg(long, value_name = "FILE", requires_all = ["source", "date"])]
    best: Option<PathBuf>,
    /// Name of the publication of the values in --best, such as PSPLIB
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Date of the values in --best, such as 2026-02-01
    #[arg(long, value_name = "DATE")]
    date: Option<String>,
    /// Time for each project, in seconds
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS")]
    time_limit: f64,
    /// Folder of the page and the certificates
    #[arg(long, default_value = "bounds", value_name = "DIR")]
    output: PathBuf,
    /// Check all certificates of an existing page, and plan nothing
    #[arg(long, conflicts_with_all = ["best", "source", "date", "time_limit"])]
    check: bool,
}

/// A row of the page.
struct Row {
    project: File,
    answer: Answer,
    published: Option<BestKnown>,
}

/// The result for a project.
enum Answer {
    Planned {
        plan: i64,
        bound: i64,
        /// The name of the kind of proof.
        proof: &'static str,
    },
    /// Every choice of modes uses up more of a consumable than the project has.
    Infeasible,
    /// The search found no modes that leave enough of the consumables.
    Unplanned,
}

/// The text of [`Answer::Infeasible`] in the table.
const INFEASIBLE: &str = "infeasible";
/// The text of [`Answer::Unplanned`] in the table.
const UNPLANNED: &str = "no plan";

/// The result of [`BoundsOptions::checked`].
#[derive(Debug, Default)]
pub struct CheckedPage {
    /// The number of valid certificates.
    pub valid: usize,
    /// The number of projects that the table lists as infeasible and that the check proves infeasible. These projects
    /// have no certificate, so the check examines all choices of modes again.
    pub infeasible: usize,
    /// A sentence for each problem.
    pub problems: Vec<String>,
}

impl BoundsOptions {
    /// Returns true if certificates are checked.
    pub fn is_check(&self) -> bool {
        self.check
    }

    /// Writes the page: `bounds.csv`, `bounds.md`, and a plan file with certificates for each open project. A project is
    /// open if the published values do not state the same bound and makespan. Skips the planning of a project if its plan
    /// file exists and is valid. Calls `progress` with the number of projects before each project. Returns the page.
    ///
    /// # Errors
    /// An error if an option is invalid, or if a file cannot be read or written.
    pub fn publish(&self, mut progress: impl FnMut(usize)) -> Result<String, LabError> {
        if !(self.time_limit > 0.0 && self.time_limit.is_finite()) {
            refuse("time-limit", self.time_limit.to_string(), "it must be a positive number of seconds")?;
        }
        let known = self.best.as_deref().map_or_else(|| Ok(KnownValues::default()), KnownValues::read)?;
        let mut projects = self.projects()?;
        projects.retain(|file| {
            known.of(&file.set, &file.name).is_none_or(|known| known.bound.is_none_or(|bound| bound < known.makespan))
        });
        fs::create_dir_all(self.output.join(CERTIFICATES)).map_err(LabError::file(&self.output))?;
        let mut rows = Vec::new();
        let count = projects.len();
        for project in projects {
            progress(count);
            let answer = self.answer(&project)?;
            rows.push(Row { answer, published: known.of(&project.set, &project.name), project });
        }
        let (name, csv) = table("bounds.csv", HEADER, rows.iter().map(|row| self.cells(row)));
        write(&self.output, &name, &csv)?;
        let page = self.page(&rows);
        write(&self.output, "bounds.md", page.as_bytes())?;
        Ok(page)
    }

    /// Checks all certificates of a page, and compares them with its table.
    ///
    /// # Errors
    /// An error if there is no page, or if a project cannot be read.
    pub fn checked(&self, mut progress: impl FnMut(usize)) -> Result<CheckedPage, LabError> {
        let path = self.output.join("bounds.csv");
        let wrong = |error: csv::Error| LabError::File { path: path.clone(), source: error.into() };
        let mut reader = csv::Reader::from_path(&path).map_err(wrong)?;
        let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().map_err(wrong)?;
        let projects = self.projects()?;
        let mut checked = CheckedPage::default();
        for row in &rows {
            progress(rows.len());
            let cell = |at: usize| row.get(at).unwrap_or_default();
            let Some(project) = projects.iter().find(|file| file.set == cell(0) && file.name == cell(1)) else {
                let name = format!("{}/{}", cell(0), cell(1));
                checked.problems.push(format!("{name}: the folder of the projects does not contain this project"));
                continue;
            };
            let instance = project.instance()?;
            let found = match cell(2) {
                UNPLANNED => continue,
                INFEASIBLE => still_infeasible(&instance),
                _ => self.valid(project, &instance).map_or_else(|found| found, |file| stated_otherwise(&file, cell(3))),
            };
            let count = if cell(2) == INFEASIBLE { &mut checked.infeasible } else { &mut checked.valid };
            *count += usize::from(found.is_empty());
            checked.problems.extend(found.into_iter().map(|problem| format!("{project}: {problem}")));
        }
        Ok(checked)
    }

    fn projects(&self) -> Result<Vec<File>, LabError> {
        let projects = File::all(&self.instances);
        if projects.is_empty() {
            let expected = "name a folder that contains files .sm, .mm or .rcp, possibly in subfolders";
            refuse("instances", self.instances.display().to_string(), expected)?;
        }
        Ok(projects)
    }

    fn certificate(project: &File) -> PathBuf {
        Path::new(CERTIFICATES).join(format!("{}-{}.json", project.set.replace(' ', "-"), project.name))
    }

    /// Returns the plan file of a project, or the problems of this file.
    fn valid(&self, project: &File, instance: &Instance) -> Result<Box<ScheduleFile>, Vec<String>> {
        let path = self.output.join(Self::certificate(project));
        let bytes = fs::read(&path).map_err(|error| vec![format!("{}: {error}", path.display())])?;
        let file =
            PlanFile::read(&path.display().to_string(), &bytes, instance).map_err(|error| vec![error.to_string()])?;
        let found = problems(instance, &file);
        match file {
            PlanFile::Schedule(file) if found.is_empty() => Ok(file),
            _ => Err(found),
        }
    }

    /// Returns the result for a project.
    fn answer(&self, project: &File) -> Result<Answer, LabError> {
        let file = match self.planned(project, &project.instance()?) {
            Ok(file) => file,
            Err(error) if is_infeasible(&error) => return Ok(Answer::Infeasible),
            Err(error) if uses_up_too_much(&error) => return Ok(Answer::Unplanned),
            Err(error) => return Err(error),
        };
        let bound = file.bound(Objective::Makespan).ok_or_else(|| without_bound(project))?;
        let [plan, proved] = [file.makespan, bound.value.integer()].map(units_up);
        Ok(Answer::Planned {
            plan: i64::try_from(plan).unwrap_or(i64::MAX),
            bound: i64::try_from(proved).unwrap_or(i64::MAX),
            proof: bound.proof.name(),
        })
    }

    /// Returns the plan file of a project. If there is no valid file yet, plans the project and writes the file.
    fn planned(&self, project: &File, instance: &Instance) -> Result<ScheduleFile, LabError> {
        if let Ok(file) = self.valid(project, instance) {
            return Ok(*file);
        }
        let spec = format!("optimise[objective=makespan,time-limit={}]", self.time_limit);
        let wrong = |error: makespan::PlanError| failed(&spec, project, error.to_string());
        let planned = Planner::new().algorithm(spec.as_str()).plan(instance).map_err(wrong)?;
        let (algorithm, bounds, remarks) = (planned.algorithm.clone(), planned.bounds.clone(), planned.remarks.clone());
        let schedule = planned.into_schedule().map_err(wrong)?;
        let mut file = ScheduleFile::new(instance, algorithm, schedule).with_bounds(instance, &bounds);
        file.remarks = remarks;
        write_atomic(&self.output.join(Self::certificate(project)), |out| file.write(instance, out))?;
        Ok(file)
    }

    /// Returns the cells of a row of `bounds.csv`.
    fn cells(&self, row: &Row) -> Vec<String> {
        let Row { project, published, .. } = row;
        let whole = |value: Option<i64>| value.map_or_else(String::new, |value| value.to_string());
        let [lower, upper] = [published.and_then(|known| known.bound), published.map(|known| known.makespan)];
        let certificate = match row.answer {
            Answer::Planned { .. } => Self::certificate(project).display().to_string(),
            Answer::Infeasible | Answer::Unplanned => String::new(),
        };
        let [plan, bound, proof] = row.answered();
        let text = |option: &Option<String>| option.clone().filter(|_| published.is_some()).unwrap_or_default();
        let own = texts(&[&project.set, &project.name, &plan, &bound, &proof, &certificate]);
        [own, vec![whole(lower), whole(upper), text(&self.source), text(&self.date), row.compared().to_owned()]]
            .concat()
    }

    fn page(&self, rows: &[Row]) -> String {
        let above = rows.iter().filter(|row| row.compared() == "above").count();
        let is_closed = |row: &&Row| matches!(row.answer, Answer::Planned { plan, bound, .. } if plan == bound);
        let closed = rows.iter().filter(is_closed).count();
        let infeasible = rows.iter().filter(|row| matches!(row.answer, Answer::Infeasible)).count();
        let mut text = format!("# Bounds of open projects\n\n{} projects, {closed} of them proved optimal", rows.len());
        if infeasible > 0 {
            text += &format!(", {infeasible} infeasible");
        }
        if let (Some(source), Some(date)) = (&self.source, &self.date) {
            text += &format!("; {above} bounds are above the values in {source} of {date}");
        }
        text += &format!(
            ".\nEach plan file in `{CERTIFICATES}` contains the certificate of a bound. `makespan-lab bounds --check` checks all \
             certificates.\n\n"
        );
        let header = ["project", "plan", "bound", "published bound", "published makespan", "proof"];
        let cells = |row: &Row| {
            let whole = |value: Option<i64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
            let known = row.published;
            let published = [whole(known.and_then(|known| known.bound)), whole(known.map(|known| known.makespan))];
            let [plan, bound, proof] = row.answered();
            [texts(&[&row.project, &plan, &bound]), published.to_vec(), vec![proof]].concat()
        };
        text += &markdown_table(&header, rows.iter().map(cells));
        text
    }
}

impl Row {
    /// Returns the texts of the plan, of the bound and of the proof.
    fn answered(&self) -> [String; 3] {
        match self.answer {
            Answer::Planned { plan, bound, proof } => [plan.to_string(), bound.to_string(), proof.to_owned()],
            Answer::Infeasible => [INFEASIBLE.into(), "-".into(), "all choices of modes".into()],
            Answer::Unplanned => [UNPLANNED.into(), "-".into(), "-".into()],
        }
    }

    /// Returns the position of the proved bound relative to the published bound. Returns an empty text if either bound is
    /// missing.
    fn compared(&self) -> &'static str {
        let Answer::Planned { bound, .. } = self.answer else { return "" };
        match self.published.and_then(|known| known.bound).map(|published| bound.cmp(&published)) {
            Some(std::cmp::Ordering::Greater) => "above",
            Some(std::cmp::Ordering::Equal) => "equal",
            Some(std::cmp::Ordering::Less) => "below",
            None => "",
        }
    }
}

/// Returns a problem if the bound of a plan file is not the bound in the table.
fn stated_otherwise(file: &ScheduleFile, stated: &str) -> Vec<String> {
    let Some(bound) = file.bound(Objective::Makespan) else { return vec!["the plan file has no bound".into()] };
    let proved = units_up(bound.value.integer()).to_string();
    let problem = format!("the table states the bound {stated}, but the plan file proves {proved}");
    (proved != stated).then_some(problem).into_iter().collect()
}

/// Returns a problem if the planner does not prove that every choice of modes uses up more of a consumable than the
/// project has.
fn still_infeasible(instance: &Instance) -> Vec<String> {
    let planned = Planner::new().algorithm("optimise[objective=makespan,steps=1,searches=1]").plan_unproved(instance);
    let is_proved = planned.is_err_and(|error| is_infeasible(&error));
    let problem = "the table states that the project is infeasible, but this is not proved";
    (!is_proved).then(|| problem.to_owned()).into_iter().collect()
}

fn without_bound(project: &File) -> LabError {
    LabError::Bound { bound: Objective::Makespan.name(), instance: project.to_string(), reason: "it is missing".into() }
}

/// Converts ticks to time units of a project, which are seconds. Rounds up, because a makespan is whole.
fn units_up(ticks: i128) -> i128 {
    let unit = i128::from(Time::TICKS_PER_SECOND);
    (ticks + unit - 1).div_euclid(unit)
}
