//! The variants of a strategy in Schedule JSON.

use std::io::{self, Write};

use makespan_core::{Area, Instance, Objective, Schedule, Strategy, Variant, validate};
use serde::Deserialize;

use super::bound::value;
use super::placements::{PlacementEntry, placements};
use super::write::write_placements;
use crate::error::{FormatError, Place};
use crate::scalar::{Count, Scalar};

/// The schedules to choose from with what their file states about them.
#[derive(Clone, Debug, PartialEq)]
pub struct StrategyEntry {
    /// The position of the chosen one.
    pub chosen: usize,
    /// The schedules, by finish.
    pub variants: Vec<VariantEntry>,
}

/// One schedule of a strategy with its stated figures, unchecked.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantEntry {
    /// When its last task ends, in ticks.
    pub finish: i128,
    /// What it costs, in thousandths.
    pub cost: i128,
    /// How long processors are busy, added up, in ticks.
    pub busy: Area,
    /// The placements.
    pub schedule: Schedule,
}

impl StrategyEntry {
    /// A strategy with its true figures.
    pub fn new(strategy: &Strategy) -> Self {
        let entry = |variant: &Variant| VariantEntry {
            finish: variant.finish.ticks().into(),
            cost: variant.cost,
            busy: variant.busy,
            schedule: variant.schedule.clone(),
        };
        Self { chosen: strategy.chosen(), variants: strategy.variants().iter().map(entry).collect() }
    }

    /// What is wrong with it beside the schedule of its file, one sentence each: variants that break a rule, figures
    /// that do not follow from the placements, an order that is not that by finish, and a chosen one that is not the file's.
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
            for (name, unit, stated, real) in figures.into_iter().filter(|(_, _, stated, real)| stated != real) {
                let (stated, real) = (unit.decimal(stated), unit.decimal(real));
                problems.push(format!(
                    "strategy.variants[{at}]: the stated {name} is {stated}; the placements give {real}"
                ));
            }
        }
        if !self.variants.is_sorted_by_key(|variant| variant.finish) {
            problems.push("strategy.variants: they are not ordered by finish".into());
        }
        match self.variants.get(self.chosen) {
            None => problems.push(format!("strategy.chosen is {}, but there is no such variant", self.chosen)),
            Some(chosen) if chosen.schedule != *schedule => {
                problems.push("the schedule is not that of the chosen variant".into());
            }
            Some(_) => {}
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
            write!(writer, "{{\"finish\": {finish}, \"cost\": {cost}, \"busy\": {busy},\n   ")?;
            write_placements(instance, &variant.schedule, writer)?;
            write!(writer, "}}")?;
        }
        write!(writer, "]}}")
    }
}

/// A strategy as it stands in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    chosen: Scalar<Count>,
    variants: Vec<EntryVariant>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryVariant {
    finish: Scalar<String>,
    cost: Scalar<String>,
    busy: Scalar<String>,
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
        let problem = format!("there are {} variants; write the position of one of them, from 0 on", variants.len());
        return Err(FormatError::content(file, Place::field("strategy.chosen"), problem));
    }
    Ok(StrategyEntry { chosen, variants })
}
