//! Each exported function, called by `wasmtime run --invoke` on the component: no code of ours stands between.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use counterfoil_tests::cli_table::{self, Row};
use counterfoil_tests::tool_cache;
use serde_json::{Map, Value};

/// The fewest rows that say something of a function.
const ENOUGH_ROWS: usize = 2;
/// Functions without arguments or with one possible answer, for which one row says it all.
const ONE_ROW: [&str; 2] = ["about.info", "about.catalogue"];
/// The only resource of the contract; `--invoke` cannot call it, `redact-pieces` stands for it.
const RESOURCE: [&str; 4] =
    ["[static]redactor.open", "[method]redactor.push", "[method]redactor.finish", "[method]redactor.secrets"];

fn table(interface: &str) -> Map<String, Value> {
    let path = cli_table::path(tool_cache::root(), interface);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_exported_function_has_rows() {
    let resolve = cli_table::contract(tool_cache::root()).unwrap();
    let mut functions = 0;
    for interface in cli_table::interfaces(&resolve).unwrap() {
        let excluded: &[&str] = if interface.name == "redaction" { &RESOURCE } else { &[] };
        assert_eq!(interface.in_resources, excluded, "only the resource `redactor` may go without rows");
        if interface.functions.is_empty() {
            continue;
        }
        let table = table(&interface.name);
        for function in &interface.functions {
            let name = format!("{}.{}", interface.name, function.name);
            let rows = table.get(&function.name).and_then(Value::as_array).map_or(0, Vec::len);
            let needed = if ONE_ROW.contains(&name.as_str()) { 1 } else { ENOUGH_ROWS };
            assert!(rows >= needed, "`{name}` has {rows} rows and needs {needed}");
            functions += 1;
        }
    }
    assert!(functions >= 29, "the contract has only {functions} functions");
}

#[test]
fn every_call_answers_as_the_table_says() {
    let Some(wasmtime) = tool_cache::wasmtime() else {
        return tool_cache::skip("every_call_answers_as_the_table_says", "wasmtime-cli");
    };
    let resolve = cli_table::contract(tool_cache::root()).unwrap();
    let mut rows = Vec::new();
    for interface in cli_table::interfaces(&resolve).unwrap() {
        if !interface.functions.is_empty() {
            rows.extend(cli_table::rows(&resolve, &interface, &table(&interface.name)).unwrap());
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let compiled = precompile(&wasmtime, folder.path());
    let failures = call_all(&wasmtime, &compiled, &rows);
    assert!(failures.is_empty(), "{} of {} calls:\n{}", failures.len(), rows.len(), failures.join("\n"));
    println!("{} calls answered as expected", rows.len());
}

/// The component, compiled once for all calls.
fn precompile(wasmtime: &Path, folder: &Path) -> PathBuf {
    let compiled = folder.join("counterfoil.cwasm");
    let done = Command::new(wasmtime).arg("compile").arg(tool_cache::component()).arg("-o").arg(&compiled).status();
    assert!(done.unwrap().success(), "`wasmtime compile` failed");
    compiled
}

/// Make the calls, a process each, on as many threads as there are processors; what went wrong, in the table's order.
fn call_all(wasmtime: &Path, compiled: &Path, rows: &[Row]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut failures = Vec::new();
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(row) = rows.get(position) else { return failures };
            if let Some(failure) = call(wasmtime, compiled, row) {
                failures.push((position, format!("{}\n  {}\n{failure}", row.title, row.call)));
            }
        }
    };
    let mut failures: Vec<(usize, String)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    failures.sort();
    failures.into_iter().map(|(_, failure)| failure).collect()
}

/// Make one call. An answer that is an error ends with success as any other: only what is printed counts.
fn call(wasmtime: &Path, compiled: &Path, row: &Row) -> Option<String> {
    let done = Command::new(wasmtime)
        .args(["run", "--allow-precompiled", "--invoke", &row.call])
        .arg(compiled)
        .output()
        .unwrap();
    if !done.status.success() {
        return Some(format!("   ended with {}: {}", done.status, String::from_utf8_lossy(&done.stderr)));
    }
    row.expected.mismatch(String::from_utf8(done.stdout).unwrap().trim_end())
}
