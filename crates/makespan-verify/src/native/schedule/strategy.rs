//! Reads and writes the variants of a strategy in Schedule JSON. A strategy consists of alternative schedules with
//! different costs.

use std::io::{self, Write};

use makespan_core::{Area, ChainReport, Instance, Objective, Schedule, Strategy, Variant, validate};
use serde::Deserialize;

use super::bound::value;
use super::chains::{self, ChainEntry, CollisionEntry};
use super::placements::{PlacementEntry, placements};
use super::write::write_placements;
use crate::native::error::{FilePlace, FormatError};
use crate::native::scalar::{Count, Scalar};

/// Variants of a strategy, with the values that their file states.
#[derive(Clone, Debug, PartialEq)]
pub struct StrategyEntry {
    /// Index of the chosen variant.
    pub chosen: usize,
    /// Variants, in ascending order of finish.
    pub variants: Vec<VariantEntry>,
    /// The chains and collisions of the chosen variant. Empty if the file states none.
    pub chains: ChainReport,
}

/// A variant of a strategy. Its stated values are not checked.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantEntry {
    /// Stated end of the last task, in ticks.
    pub finish: i128,
    /// Stated cost, in thousandths.
    pub cost: i128,
    /// Stated sum of the busy times of all processors, in ticks.
    pub busy: Area,
    /// Stated last instant at which the variant can begin, in ticks, if the file states it.
    pub until: Option<i128>,
    /// The schedule of the variant.
    pub schedule: Schedule,
}

impl StrategyEntry {
    /// Returns the entry for a strategy, with the true values of its variants.
    pub fn new(strategy: &Strategy) -> Self {
        let entry = |variant: &Variant| VariantEntry {
            finish: variant.finish.ticks().into(),
            cost: variant.cost,
            busy: variant.busy,
            until: variant.until.map(|until| until.ticks().into()),
            schedule: variant.schedule.clone(),
        };
        let variants = strategy.variants().iter().map(entry).collect();
        Self { chosen: strategy.chosen(), variants, chains: strategy.chains().clone() }
    }

    /// Checks the variants, but not `schedule`, the main schedule of the file. Returns one sentence for each problem.
    /// The problems are variants that violate a rule, stated values that contradict the placements, a wrong order of
    /// the variants, a chosen variant that differs from `schedule`, chains that are no paths, and tasks of the chosen
    /// variant that run outside their windows.
    pub fn problems(&self, instance: &Instance, schedule: &Schedule) -> Vec<String> {
        let mut problems = Vec::new();
        for (at, variant) in self.variants.iter().enumerate() {
            if let Err(violations) = validate(instance, &variant.schedule) {
                problems.extend(violations.iter().map(|violation| format!("strategy.variants[{at}]: {violation}")));
            }
            let real = Variant::new(instance, variant.schedule.clone());
            let figures = [
                ("finish", Objective::Makespan, variant.finish, real.finish.ticks().into()),
                ("cost", Objective::Cost, variant.cost, real.cost),
                ("busy time", Objective::Makespan, variant.busy, real.busy),
            ];
            let until = variant.until.map(|stated| {
                // If the variant has no last possible start, any stated instant is wrong.
                ("possible_until", Objective::Makespan, stated, real.until.map_or(-1, |real| real.ticks().into()))
            });
            for (name, unit, stated, real) in
                figures.into_iter().chain(until).filter(|(_, _, stated, real)| stated != real)
            {
                let (stated, real) = (unit.decimal(stated), unit.decimal(real));
                problems.push(format!(
                    "strategy.variants[{at}]: the stated {name} is {stated}, but the placements have {real}"
                ));
            }
        }
        if !self.variants.is_sorted_by_key(|variant| variant.finish) {
            problems.push("strategy.variants: the variants are not in the order of their ends (`finish`)".into());
        }
        match self.variants.get(self.chosen) {
            None => problems.push(format!("strategy.chosen is {}, but no variant has this position", self.chosen)),
            Some(chosen) if chosen.schedule != *schedule => {
                problems.push(
                    "the schedule of the plan differs from the schedule of the variant that `strategy.chosen` selects"
                        .into(),
                );
            }
            Some(_) => problems.extend(self.chains.problems(instance, schedule)),
        }
        problems
    }

    pub(super) fn write(&self, instance: &Instance, writer: &mut dyn Write) -> io::Result<()> {
        write!(writer, "{{\"chosen\": {}, \"variants\": [", self.chosen)?;
        for (at, variant) in self.variants.iter().enumerate() {
            writer.write_all(if at == 0 { b"\n  " } else { b",\n  " })?;
            let (finish, busy) =
                (Objective::Makespan.decimal(variant.finish), Objective::Makespan.decimal(variant.busy));
            let cost = Objective::Cost.decimal(variant.cost);
            write!(writer, "{{\"finish\": {finish}, \"cost\": {cost}, \"busy\": {busy}")?;
            if let Some(until) = variant.until {
                write!(writer, ", \"possible_until\": {}", Objective::Makespan.decimal(until))?;
            }
            writer.write_all(b",\n   ")?;
            write_placements(instance, &variant.schedule, writer)?;
            write!(writer, "}}")?;
        }
        write!(writer, "]")?;
        chains::write(&self.chains, instance, writer)?;
        write!(writer, "}}")
    }
}

/// A strategy in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    chosen: Scalar<Count>,
    variants: Vec<EntryVariant>,
    #[serde(default)]
    chains: Vec<ChainEntry>,
    #[serde(default)]
    collisions: Vec<CollisionEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryVariant {
    finish: Scalar<String>,
    cost: Scalar<String>,
    busy: Scalar<String>,
    #[serde(default)]
    possible_until: Option<Scalar<String>>,
    placements: Vec<PlacementEntry>,
}

/// Reads a strategy.
pub(super) fn read(file: &str, entry: Entry, instance: &Instance) -> Result<StrategyEntry, FormatError> {
    let variant = |(at, variant): (usize, EntryVariant)| {
        let path = format!("strategy.variants[{at}]");
        let figure = |name: &str, unit, text: &Scalar<String>| value(file, &format!("{path}.{name}"), unit, &text.0);
        Ok(VariantEntry {
            finish: figure("finish", Objective::Makespan, &variant.finish)?,
            cost: figure("cost", Objective::Cost, &variant.cost)?,
            busy: figure("busy", Objective::Makespan, &variant.busy)?,
            until: variant
                .possible_until
                .as_ref()
                .map(|until| figure("possible_until", Objective::Makespan, until))
                .transpose()?,
            schedule: Schedule::with_groups(placements(
                file,
                &format!("{path}.placements"),
                variant.placements,
                instance,
            )?),
        })
    };
    let variants: Vec<VariantEntry> = entry.variants.into_iter().enumerate().map(variant).collect::<Result<_, _>>()?;
    let chosen = entry.chosen.0.0 as usize;
    if chosen >= variants.len() {
        let problem = format!("there are {} variants; write the position of a variant, counted from 0", variants.len());
        return Err(FormatError::content(file, FilePlace::field("strategy.chosen"), problem));
    }
    let chains = chains::read(file, entry.chains, entry.collisions, instance)?;
    Ok(StrategyEntry { chosen, variants, chains })
}
