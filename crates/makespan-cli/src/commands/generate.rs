//! `makespan generate`

use std::path::Path;
use std::process::ExitCode;

use makespan_core::Instance;
use makespan_formats::{Language, parse_bandwidth, write_instance, write_swf_log};
use makespan_generate::{
    EtcOptions, FlowOptions, GenerateError, GraphOptions, LublinOptions, MoldableOptions, NeedsOptions, PoissonOptions,
    ProjectOptions, Shape, TreeOptions, etc, flow, generate as draw, generate_graphs, generate_tree, lublin, poisson,
    project, with_needs,
};
use miette::{Result, miette};

use super::convert::{check_ending, write_by_ending};
use crate::args::{
    GenerateEtcOptions, GenerateFlowOptions, GenerateGraphsOptions, GenerateOptions, GenerateProjectOptions,
    GenerateTreeOptions, Generator, Range,
};
use crate::output::{emit, write_file};

pub fn generate(options: &GenerateOptions) -> Result<ExitCode> {
    let failed = |error: GenerateError| miette!("{error}");
    match options.kind {
        Generator::Moldable { family, jobs, processors, seed, arrival_rate, needs, ref output } => {
            some("jobs", jobs)?;
            let options = MoldableOptions { family, jobs, processors, seed, arrival_rate };
            let drawn = draw(&options).and_then(|drawn| with_needs(drawn, needs.into(), seed));
            write(&drawn.map_err(failed)?, output.as_deref())
        }
        Generator::Poisson { family, jobs, processors, seed, load, needs, ref output } => {
            some("jobs", jobs)?;
            let options = PoissonOptions { family, jobs, processors, seed, load };
            let drawn = poisson(&options).and_then(|drawn| with_needs(drawn, needs.into(), seed));
            write(&drawn.map_err(failed)?, output.as_deref())
        }
        Generator::Etc(ref options) => matrix(options),
        Generator::Tree(ref options) => tree(options),
        Generator::Flow(ref options) => task_flow(options),
        Generator::Graphs(ref options) => graphs(options),
        Generator::Project(ref options) => activities(options),
        Generator::Lublin { jobs, processors, load, requests, seed, needs, ref output } => {
            some("jobs", jobs)?;
            log(&LublinOptions { jobs, processors, seed, load, requests }, needs.into(), output.as_deref())
        }
    }
}

fn log(options: &LublinOptions, needs: NeedsOptions, output: Option<&Path>) -> Result<ExitCode> {
    let swf = output.filter(|path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("swf")));
    if options.requests.is_some() && swf.is_none() {
        return Err(miette!("--requests needs --output FILE.swf: only a log has both requests and run times"));
    }
    if let Some(path) = output {
        check_ending(path)?;
    }
    let drawn = lublin(options).map_err(|error| miette!("{error}"))?;
    let instance = with_needs(drawn.instance, needs, options.seed).map_err(|error| miette!("{error}"))?;
    match swf {
        Some(path) => {
            write_file(path, |out| write_swf_log(&instance, &drawn.actual, out))?;
            Ok(ExitCode::SUCCESS)
        }
        None => write(&instance, output),
    }
}

fn tree(options: &GenerateTreeOptions) -> Result<ExitCode> {
    let GenerateTreeOptions {
        nodes,
        degree,
        applications,
        largest_ratio,
        tasks,
        unit,
        latency,
        data,
        seed,
        ref output,
    } = *options;
    let drawn = TreeOptions { nodes, degree, applications, largest_ratio, tasks, unit, latency, data, seed };
    write(&generate_tree(&drawn).map_err(|error| miette!("{error}"))?, output.as_deref())
}

fn matrix(options: &GenerateEtcOptions) -> Result<ExitCode> {
    let GenerateEtcOptions { tasks, machines, consistency, task_range, machine_range, seed, ref output } = *options;
    if let Some(path) = output {
        check_ending(path)?;
    }
    let (high_tasks, high_machines) = (task_range == Range::Hi, machine_range == Range::Hi);
    let drawn = EtcOptions { tasks, machines, consistency, high_tasks, high_machines, seed };
    write(&etc(&drawn).map_err(|error| miette!("{error}"))?, output.as_deref())
}

fn task_flow(options: &GenerateFlowOptions) -> Result<ExitCode> {
    let GenerateFlowOptions { tasks, mean_size, ref capacities, rate, swing, swings, seed, ref output } = *options;
    some("tasks", tasks)?;
    let drawn = FlowOptions { tasks, mean_size, capacities: capacities.clone(), rate, swing, swings, seed };
    write(&flow(&drawn).map_err(|error| miette!("{error}"))?, output.as_deref())
}

fn graphs(options: &GenerateGraphsOptions) -> Result<ExitCode> {
    let GenerateGraphsOptions { shape, tasks, jobs, width, density, processors, fastest, gap, deadline, seed, .. } =
        *options;
    let (&[least, most], &[lightest, heaviest]) = (options.volume.as_slice(), options.data.as_slice()) else {
        return Err(miette!("--volume and --data each take two numbers, a minimum and a maximum, such as 10,100"));
    };
    let shape = if let Shape::Layers { .. } = shape { Shape::Layers { width, density } } else { shape };
    let bandwidth = parse_bandwidth(&options.bandwidth).map_err(|problem| miette!("--bandwidth: {problem}"))?;
    let (volume, data) = ((least, most), (lightest, heaviest));
    let GenerateGraphsOptions { parallel, law, cores, needs, .. } = *options;
    let drawn = GraphOptions {
        shape,
        tasks,
        jobs,
        volume,
        data,
        parallel,
        law,
        processors,
        cores,
        fastest,
        bandwidth,
        gap,
        deadline,
        seed,
    };
    let drawn = generate_graphs(&drawn).and_then(|drawn| with_needs(drawn, needs.into(), seed));
    write(&drawn.map_err(|error| miette!("{error}"))?, options.output.as_deref())
}

fn activities(options: &GenerateProjectOptions) -> Result<ExitCode> {
    let GenerateProjectOptions {
        activities,
        modes,
        renewable,
        nonrenewable,
        complexity,
        factor,
        strength,
        seed,
        ref output,
    } = *options;
    let drawn = ProjectOptions { activities, modes, renewable, nonrenewable, complexity, factor, strength, seed };
    write(&project(&drawn).map_err(|error| miette!("{error}"))?, output.as_deref())
}

fn some(option: &str, jobs: usize) -> Result<()> {
    if jobs == 0 { Err(miette!("--{option} is 0; an instance has at least 1 job")) } else { Ok(()) }
}

fn write(instance: &Instance, output: Option<&Path>) -> Result<ExitCode> {
    if let Some(path) = output {
        write_by_ending(instance, path)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = Vec::new();
    write_instance(instance, Language::Json, &mut text).map_err(|error| miette!("{error}"))?;
    emit(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}
