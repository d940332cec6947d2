//! The checker of Makespan: bounds, the certificates that prove them, and the check of plan files.
//!
//! A [`Bound`] carries a certificate that [`Bound::verify`] checks in exact integers. [`native`] reads instances and
//! plan files in JSON. [`check`] checks a plan file: its placements, values and bounds. The program `makespan-verify`
//! checks a plan file against an instance file.
//!
//! The crate uses the model of [`makespan_core`] and libraries for integers and JSON. It has no solver, no search and
//! no thread, so that people can read the code that they must trust.
//!
//! ```
//! use makespan_core::{Instance, Job, JobId, Objective, Platform, Profile, Time};
//! use makespan_verify::proof::Alone;
//! use makespan_verify::{Bound, Proof};
//!
//! let job = Job::new("a", Profile::rigid(1, Time::from_seconds(6))?);
//! let instance = Instance::new(Platform::flat(4)?, vec![job], vec![])?;
//! let proof = Proof::Alone(Alone { job: JobId(0) });
//! let mut bound = Bound::proved_by(Objective::Makespan, proof, &instance)?;
//! assert_eq!((bound.ticks(), bound.verify(&instance)), (Time::from_seconds(6), Ok(())));
//! bound.value = (Time::from_seconds(6).ticks() as i128 + 1).into();
//! assert!(bound.verify(&instance).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

pub mod check;
pub mod native;
pub mod proof;

pub use proof::{Bound, CertificateError, Proof, Value};
