//! `counterfoil component`: the component itself.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::globals::Globals;
use super::policy_file;
use super::print::{self, Table};
use super::status::Status;
use crate::embedded;

/// The contract, a file an item, the world first.
const WIT: [&str; 7] = [
    include_str!("../../../../wit/world.wit"),
    include_str!("../../../../wit/vocabulary.wit"),
    include_str!("../../../../wit/gate.wit"),
    include_str!("../../../../wit/redaction.wit"),
    include_str!("../../../../wit/receipts.wit"),
    include_str!("../../../../wit/ledger.wit"),
    include_str!("../../../../wit/about.wit"),
];

/// Look at the component that holds the policy, or take it elsewhere
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  counterfoil component info
  counterfoil component extract counterfoil.wasm")]
pub struct ComponentCommand {
    #[command(subcommand)]
    action: ComponentAction,
}

#[derive(Debug, Subcommand)]
enum ComponentAction {
    /// Say what the component is: digest, compiler, size, imports, exports
    #[command(after_help = "Example:\n  counterfoil component info --json")]
    Info,
    /// Print the contract as WIT text
    #[command(after_help = "Example:\n  counterfoil component wit > counterfoil.wit")]
    Wit,
    /// Write the component to a file
    #[command(after_help = "Example:\n  counterfoil component extract counterfoil.wasm")]
    Extract {
        /// The file; `-` is standard output
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Write the component with a configuration in it, for any host
    #[command(after_help = "Example:\n  counterfoil component bake --config policy.json -o policy.wasm")]
    Bake {
        /// The configuration: JSON, or the settings of `serve` in a file that ends in `.toml`
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// The file to write; `-` is standard output
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
    },
    /// Print the detectors and markers
    #[command(after_help = "Example:\n  counterfoil component catalogue --json")]
    Catalogue,
}

/// Run the command.
pub fn run(command: ComponentCommand, globals: &Globals) -> anyhow::Result<Status> {
    match command.action {
        ComponentAction::Info => info(globals)?,
        ComponentAction::Wit => print::text(&wit())?,
        ComponentAction::Extract { file } => write(&file, &globals.component_bytes()?)?,
        ComponentAction::Bake { config, output } => {
            let configuration = policy_file::read(Some(&config))?.unwrap_or_else(|| "{}".to_owned());
            let baked = counterfoil_engine::bake(&globals.component_bytes()?, &configuration)?;
            write(&output, &baked)?;
        }
        ComponentAction::Catalogue => catalogue(globals)?,
    }
    Ok(Status::Fine)
}

fn info(globals: &Globals) -> anyhow::Result<()> {
    let engine = globals.engine(None)?;
    let identity = engine.identity();
    // Only the build that made the built-in component knows how it was made.
    let build: Value = if globals.is_embedded() { serde_json::from_str(embedded::BUILD)? } else { Value::Null };
    let said = |name: &str| build.get(name).cloned().unwrap_or_default();
    if globals.json() {
        return print::pretty_json(&json!({
            "sha256": identity.component_sha256,
            "compiler": said("compiler"),
            "route": said("route"),
            "size": identity.component_size,
            "version": identity.version,
            "contract": identity.contract,
            "rules_digest": identity.rules_digest,
            "configuration_digest": identity.configuration_digest,
            "imports": identity.imports,
            "exports": identity.exports,
            "precompiled": identity.precompiled,
        }));
    }
    let unknown = || "unknown: not the built-in component".to_owned();
    let mut table = Table::of_facts();
    table.row(["sha256", &identity.component_sha256]);
    table.row(["compiler", &said("compiler").as_str().map_or_else(unknown, str::to_owned)]);
    table.row(["route", &said("route").as_str().map_or_else(unknown, str::to_owned)]);
    table.row(["size", &format!("{} bytes", identity.component_size)]);
    table.row(["version", &identity.version]);
    table.row(["contract", &identity.contract]);
    table.row(["rules", &identity.rules_digest]);
    table.row(["configuration", &identity.configuration_digest]);
    table.row(["imports", if identity.imports.is_empty() { "none" } else { "some" }]);
    for (place, name) in identity.exports.iter().enumerate() {
        table.row([if place == 0 { "exports" } else { "" }, name]);
    }
    table.row(["precompiled", if identity.precompiled { "yes, used as it is" } else { "no, compiled at start" }]);
    table.print()
}

/// The contract as one WIT text: the package is named once.
fn wit() -> String {
    let mut text = String::new();
    for (place, file) in WIT.iter().enumerate() {
        for line in file.lines().filter(|line| place == 0 || !line.starts_with("package ")) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

fn write(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if file == Path::new("-") {
        return print::bytes(bytes);
    }
    std::fs::write(file, bytes).with_context(|| format!("cannot write `{}`", file.display()))
}

fn catalogue(globals: &Globals) -> anyhow::Result<()> {
    let text = globals.engine(None)?.catalogue()?;
    let tables: Value = serde_json::from_str(&text).context("the catalogue is not JSON")?;
    if globals.json() {
        return print::pretty_json(&tables);
    }
    for (name, rows) in tables.as_object().into_iter().flatten() {
        let Some(rows) = rows.as_array() else {
            continue;
        };
        print::text(&format!("{}\n", print::plain(name)))?;
        rows_table(rows).print()?;
        print::text("\n")?;
    }
    Ok(())
}

/// Rows of one kind as a table: a column for each member of the first.
fn rows_table(rows: &[Value]) -> Table {
    let columns: Vec<&str> =
        rows.first().and_then(Value::as_object).map(|row| row.keys().map(String::as_str).collect()).unwrap_or_default();
    let mut table = Table::of_facts();
    table.row(columns.iter().map(|name| name.to_uppercase()));
    for row in rows {
        table.row(columns.iter().map(|name| {
            match row.get(name) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Null) | None => String::new(),
                Some(Value::Array(items)) => items
                    .iter()
                    .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                    .collect::<Vec<_>>()
                    .join(" "),
                Some(other) => other.to_string(),
            }
        }));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_is_one_package_with_one_world() {
        let text = wit();
        let mut contract = wit_parser::Resolve { all_features: true, ..wit_parser::Resolve::default() };
        contract.push_str("counterfoil.wit", &text).unwrap();
        assert_eq!(text.lines().filter(|line| line.starts_with("package ")).count(), 1);
        assert_eq!(text.lines().filter(|line| line.starts_with("world guard")).count(), 1);
        for interface in ["vocabulary", "gate", "redaction", "receipts", "ledger", "about"] {
            assert!(text.contains(&format!("\ninterface {interface} {{")), "{interface}");
        }
    }
}
