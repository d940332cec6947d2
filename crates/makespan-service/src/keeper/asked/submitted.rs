//! Checks of submissions, before the thread that writes the store receives them.

use sha2::{Digest, Sha256};

use super::super::writer::at_position;
use super::super::{Keeper, shared::StoreRequest, what_if};
use crate::clock::wall;
use crate::prepare::{check_count, refusal};
use crate::store::JobRow;
use crate::words::{JobNumber, Receipt, Refusal, RefusalKind, Role, State, Submission, WhatIf, Who};

/// Maximum number of tasks of a submission for which the effect is predicted.
const MAX_TRIED: u64 = 2000;
/// Maximum length of an idempotency key, in bytes.
const LONGEST_KEY: usize = 200;

impl Keeper {
    /// Accepts all submissions, or none.
    pub(super) fn submit_all(
        &self,
        who: &Who,
        submissions: Vec<Submission>,
        key: Option<&str>,
    ) -> Result<Vec<Receipt>, Refusal> {
        check_role(who)?;
        if key.is_some_and(|key| key.is_empty() || key.len() > LONGEST_KEY) {
            let message = format!("the key is empty, or has more than {LONGEST_KEY} characters");
            return Err(refusal(
                RefusalKind::BadInput,
                "Idempotency-Key",
                message,
                &format!("write a key of 1 to {LONGEST_KEY} characters"),
            ));
        }
        let digest = key.map(|_| {
            let text = serde_json::to_vec(&submissions).unwrap_or_default();
            Sha256::digest(text).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
        });
        check_count(submissions.len())?;
        let (count, mut jobs, mut all) = (submissions.len(), 0, Vec::with_capacity(submissions.len()));
        for (at, submission) in submissions.into_iter().enumerate() {
            let (submission, prepared) = self.checked(submission).map_err(|refused| at_position(refused, at, count))?;
            jobs += prepared.jobs.len();
            check_count(jobs)?;
            all.push((submission, prepared));
        }
        let key = key.map(str::to_owned).zip(digest);
        self.ask(|reply| StoreRequest::Submit { who: who.clone(), all, key, reply })
    }

    /// Predicts the effect of a submission on the plan.
    pub(super) fn effect_of(&self, who: &Who, submission: Submission) -> Result<WhatIf, Refusal> {
        check_role(who)?;
        let (submission, prepared) = self.checked(submission)?;
        if submission.hold {
            let message = "a held submission starts only after its release";
            return Err(refusal(
                RefusalKind::BadInput,
                "hold",
                message,
                "to predict the effect of an immediate release, remove `hold`",
            ));
        }
        self.check_after(who, &submission.after)?;
        let tasks: u64 = prepared.jobs.iter().map(|one| one.tasks).sum();
        if tasks > MAX_TRIED {
            let message =
                format!("there are {tasks} tasks, and the effect of at most {MAX_TRIED} tasks can be predicted");
            return Err(refusal(RefusalKind::BadInput, "content", message, "submit fewer tasks at once"));
        }
        // The plan is older than the attempt, so the new numbers are larger than all numbers in the plan.
        let without = self.current_outlook()?;
        let submitted = Box::new((submission, prepared));
        let tried = self.ask(|reply| StoreRequest::TryOut(who.clone(), submitted, reply))?;
        let (rows, weights): (Vec<JobRow>, Vec<f64>) = tried.into_iter().unzip();
        let new: Vec<JobNumber> = rows.iter().map(|row| row.summary.number).collect();
        let jobs = rows.into_iter().map(|row| self.explained(row, &new)).collect::<Result<Vec<_>, _>>()?;
        let with = what_if::with_new_jobs(&without, &jobs, &weights, wall())?;
        let (waiting, ranges) = self.outlooks(who, Some(&with), &jobs);
        let others = what_if::others(&without, &with, who);
        Ok(WhatIf { waiting, ranges, others, before: without.bounds.clone(), after: with.bounds })
    }

    /// Refuses jobs that are held or did not succeed.
    fn check_after(&self, who: &Who, jobs: &[JobNumber]) -> Result<(), Refusal> {
        for &job in jobs {
            let row = self.row(who, job).map_err(|refused| Refusal { place: Some("after".into()), ..refused })?;
            let bad = |message: String, remedy: &str| Err(refusal(RefusalKind::BadInput, "after", message, remedy));
            match row.summary.state {
                State::Held => {
                    let message = format!("job {job} is held, so its end is unknown");
                    return bad(message, "release this job first, or remove it from `after`");
                }
                state if state.is_final() && state != State::Succeeded => {
                    let message =
                        format!("job {job} has ended: {}; so this submission would never start", state.words());
                    return bad(message, "remove this job from `after`");
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn check_role(who: &Who) -> Result<(), Refusal> {
    if who.role == Role::Reader {
        return Err(refusal(
            RefusalKind::Forbidden,
            "",
            "a reader may not submit jobs",
            "use the token of a submitter",
        ));
    }
    Ok(())
}
