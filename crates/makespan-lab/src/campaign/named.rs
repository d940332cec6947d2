//! The table of all campaigns, with their options on the command line.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command, Error, FromArgMatches, Subcommand, value_parser};

use super::{AnyCampaign, Campaign};
use crate::{
    LabError, critical_jobs, demt, domains, hierarchical, mapping, optimiser, parallel_graphs, ptfs, rcpsp, strategies,
    trees,
};

/// Every campaign.
const CAMPAIGNS: [Entry; 11] = [
    entry::<demt::DemtOptions>(),
    entry::<optimiser::OptimiserOptions>(),
    entry::<hierarchical::HierarchicalOptions>(),
    entry::<trees::TreeCampaignOptions>(),
    entry::<mapping::MappingOptions>(),
    entry::<parallel_graphs::ParallelGraphsOptions>(),
    entry::<rcpsp::RcpspOptions>(),
    entry::<ptfs::PtfsOptions>(),
    entry::<critical_jobs::CriticalJobsOptions>(),
    entry::<domains::DomainsOptions>(),
    entry::<strategies::StrategiesOptions>(),
];

struct Entry {
    name: &'static str,
    command: fn() -> Command,
    read: fn(&ArgMatches) -> Result<NamedCampaign, Error>,
}

/// A campaign with the options from a command line.
pub struct NamedCampaign {
    /// The plural noun for the runs in messages, such as `graphs`.
    pub unit: &'static str,
    /// The folder for the results.
    pub folder: PathBuf,
    /// The name and the options of the campaign, as text. The folder and the number of threads are left out, because
    /// they do not influence the results.
    words: String,
    /// The campaign itself.
    pub campaign: Box<dyn AnyCampaign>,
}

impl NamedCampaign {
    /// Returns a text that identifies the campaign: the options and the program version, which together determine the
    /// results.
    ///
    /// # Errors
    /// `LabError` if an option is invalid, or this program cannot be read.
    pub fn identity(&self) -> Result<String, LabError> {
        Ok(format!("{}; {}", self.words, self.campaign.version()?))
    }
}

const fn entry<C: Campaign + 'static>() -> Entry {
    Entry { name: C::NAME, command: command::<C>, read: read::<C> }
}

fn command<C: Campaign>() -> Command {
    let help = "Folder for the results; an interrupted campaign continues there";
    let folder = Arg::new("folder").long("output").value_name("DIR").value_parser(value_parser!(PathBuf));
    let folder = folder.help(format!("{help} [default: {}]", usual_folder::<C>()));
    let command = C::arguments(Command::new(C::NAME).arg(folder)).about(C::PAPER);
    // Allow negative numbers, so that the error for `--runs -1` reports the valid range and not an unknown option.
    command.mut_args(|arg| if arg.get_action().takes_values() { arg.allow_negative_numbers(true) } else { arg })
}

fn read<C: Campaign + 'static>(matches: &ArgMatches) -> Result<NamedCampaign, Error> {
    let campaign = C::from_arg_matches(matches)?;
    let folder = matches.get_one("folder").cloned().unwrap_or_else(|| usual_folder::<C>().into());
    Ok(NamedCampaign { unit: C::UNIT, folder, words: words::<C>(matches), campaign: Box::new(campaign) })
}

/// Formats the name of a campaign and the values of all its options, including default values.
fn words<C: Campaign>(matches: &ArgMatches) -> String {
    let mut options: Vec<String> = Vec::new();
    let names = matches.ids().map(clap::Id::as_str).filter(|name| !["folder", "threads"].contains(name));
    for name in names {
        let Ok(Some(values)) = matches.try_get_raw(name) else { continue };
        let values: Vec<String> = values.map(|value| value.to_string_lossy().into_owned()).collect();
        options.push(format!("{name}={}", values.join(",")));
    }
    options.sort_unstable();
    format!("{} {}", C::NAME, options.join(" "))
}

fn usual_folder<C: Campaign>() -> String {
    format!("reproduce-{}", C::NAME)
}

impl FromArgMatches for NamedCampaign {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let (name, matches) = matches.subcommand().ok_or_else(|| Error::new(ErrorKind::MissingSubcommand))?;
        let entry = CAMPAIGNS.iter().find(|entry| entry.name == name);
        (entry.ok_or_else(|| Error::new(ErrorKind::InvalidSubcommand))?.read)(matches)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        Self::from_arg_matches(matches).map(|named| *self = named)
    }
}

impl Subcommand for NamedCampaign {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(CAMPAIGNS.iter().map(|entry| (entry.command)()))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        CAMPAIGNS.iter().any(|entry| entry.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_campaign_takes_its_usual_options() {
        for Entry { name, command, read } in &CAMPAIGNS {
            command().debug_assert();
            let named = read(&command().try_get_matches_from([name]).unwrap()).unwrap();
            assert_eq!(named.folder, PathBuf::from(format!("reproduce-{name}")));
            let help = command().render_help().to_string();
            assert!(help.contains("--output") && help.contains("--seed"), "{help}");
            assert!(help.lines().next().is_some_and(|paper| paper.len() > 40), "{help}");
        }
    }
}
