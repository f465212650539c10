//! `counterfoil-prepare IN OUT.wasm OUT.cwasm [--configuration FILE]`: bake a configuration into a component and compile
//! what comes of it for this kind of machine. A step of the build.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: counterfoil-prepare IN OUT.wasm OUT.cwasm [--configuration FILE]";

fn main() -> ExitCode {
    match run(std::env::args_os().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("counterfoil-prepare: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Vec<OsString>) -> Result<(), String> {
    let order = Order::parse(arguments).ok_or(USAGE)?;
    let component = std::fs::read(&order.input).map_err(|error| about(&order.input, &error))?;
    let configuration = match &order.configuration {
        Some(file) => std::fs::read_to_string(file).map_err(|error| about(file, &error))?,
        None => "{}".to_owned(),
    };
    let prepared =
        counterfoil_engine::prepare(&component, &configuration).map_err(|error| about(&order.input, &error))?;
    write(&order.component, &prepared.component)?;
    write(&order.precompiled, &prepared.precompiled)
}

/// What is to be done.
struct Order {
    input: PathBuf,
    component: PathBuf,
    precompiled: PathBuf,
    configuration: Option<PathBuf>,
}

impl Order {
    fn parse(arguments: Vec<OsString>) -> Option<Self> {
        let mut arguments = arguments.into_iter();
        let mut files = Vec::new();
        let mut configuration = None;
        while let Some(argument) = arguments.next() {
            if argument == "--configuration" {
                configuration = Some(PathBuf::from(arguments.next()?));
            } else {
                files.push(PathBuf::from(argument));
            }
        }
        let [input, component, precompiled] = files.try_into().ok()?;
        Some(Self { input, component, precompiled, configuration })
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    std::fs::write(path, bytes).map_err(|error| about(path, &error))
}

fn about(path: &Path, error: &dyn std::error::Error) -> String {
    format!("`{}`: {error}", path.display())
}
