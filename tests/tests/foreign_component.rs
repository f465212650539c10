//! The component's file in other hosts: the PyPI package `wasmtime` and npm's jco give the engine's answers.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use counterfoil_engine::types::{
    Admission, AdmitRequest, Call, Effects, Error, Form, Hit, Judgement, Mode, Output, Redacted, Sealed,
};
use counterfoil_engine::{Engine, Refusal, Source};
use counterfoil_tests::fixture::foreign::{node_script, python_script, success};
use counterfoil_tests::tool_cache::{component, npm_package, root, skip};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// One question as other hosts get it, and the engine's answer.
struct Row {
    question: Value,
    answer: Value,
}

#[test]
fn the_python_package_gives_the_answers_of_the_engine() -> Result<()> {
    let Some(mut command) = python_script("component.py") else {
        skip("the_python_package_gives_the_answers_of_the_engine", "the Python packages");
        return Ok(());
    };
    compare(command.arg(component()), &rows()?)
}

#[test]
fn a_javascript_engine_gives_the_answers_of_the_engine() -> Result<()> {
    let Some(mut command) = node_script(&root().join("tests/foreign/component.mjs")) else {
        skip("a_javascript_engine_gives_the_answers_of_the_engine", "the npm packages");
        return Ok(());
    };
    compare(command.arg(transpiled()?), &rows()?)
}

/// Give a program the questions and compare its answers line by line.
fn compare(program: &mut Command, rows: &[Row]) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("questions.jsonl");
    let mut questions = String::new();
    for row in rows {
        writeln!(questions, "{}", row.question)?;
    }
    fs::write(&path, questions)?;
    let output = success(program.stdin(fs::File::open(&path)?))?;
    let answers = String::from_utf8(output.stdout)?;
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers.len(), rows.len());
    for (row, answer) in rows.iter().zip(answers) {
        let answer: Value = serde_json::from_str(answer)?;
        assert_eq!(answer, row.answer, "to {}", row.question);
    }
    Ok(())
}

/// The module that jco makes of the component; made once for each component.
fn transpiled() -> Result<PathBuf> {
    let bytes = fs::read(component())?;
    let digest: String = hex::encode(Sha256::digest(&bytes)).chars().take(16).collect();
    let folder = root().join("target/jco").join(digest);
    let module = folder.join("counterfoil.js");
    if module.is_file() {
        return Ok(module);
    }
    let jco = npm_package("@bytecodealliance/jco").context("jco is not installed")?.join("dist/jco.js");
    let parent = folder.parent().context("no parent")?;
    fs::create_dir_all(parent)?;
    let partial = tempfile::tempdir_in(parent)?;
    fs::write(partial.path().join("package.json"), r#"{"type": "module"}"#)?;
    let mut command = node_script(&jco).context("there is no Node.js")?;
    command.args(["transpile", "--quiet", "--no-typescript", "--name", "counterfoil", "--out-dir"]);
    success(command.arg(partial.path()).arg(component()))?;
    ensure!(partial.path().join("counterfoil.js").is_file(), "jco made no `counterfoil.js`");
    // Of two tests at once the first wins; what it made is the same.
    let made = partial.keep();
    if fs::rename(&made, &folder).is_err() {
        fs::remove_dir_all(&made)?;
    }
    ensure!(module.is_file(), "there is no `{}`", module.display());
    Ok(module)
}

/// The tables: the gate, redaction, markers, receipts, canonical forms; with the engine's answers.
fn rows() -> Result<Vec<Row>> {
    let engine = Engine::builder(Source::Component(fs::read(component())?)).build()?;
    let mut rows = Vec::new();
    for configuration in [None, Some(r#"{"preset": "roam"}"#)] {
        for case in cases("modes/gate_matrix.json")? {
            let call = call(&case)?;
            // The engine bakes configurations; other hosts pass them. Both have to come to the same.
            let engine = match configuration {
                None => engine.clone(),
                Some(_) => preset(configuration)?,
            };
            let answer = result(engine.decide(&call), judgement);
            rows.push(Row { question: question("gate", "decide", json!([call_json(&call), configuration])), answer });
        }
    }
    for case in cases("redaction/markers.json")? {
        let text = member(&case, "in")?;
        let answer = hits(&engine.scan_markers(text).map_err(anyhow::Error::from)?);
        rows.push(Row { question: question("redaction", "scan-markers", json!([text])), answer });
        admit(&engine, &mut rows, text)?;
    }
    for case in cases("redaction/strings.json")? {
        let text = member(&case, "in")?;
        let answer = result(engine.redact_text(text), redacted);
        rows.push(Row { question: question("redaction", "redact-text", json!([text, null])), answer });
    }
    for case in cases("redaction/values.json")? {
        let text = member(&case, "value_json")?;
        let answer = result(engine.redact_json(text), redacted);
        rows.push(Row { question: question("redaction", "redact-json", json!([text, null])), answer });
    }
    for line in corpus()? {
        let answer = result(engine.redact_json(&line), redacted);
        rows.push(Row { question: question("redaction", "redact-json", json!([line, null])), answer });
    }
    for file in ["receipts/valid.json", "receipts/invalid.json"] {
        for case in cases(file)? {
            let fields = member(&case, "fields_json")?;
            let answer = result(engine.seal(fields), sealed);
            rows.push(Row { question: question("receipts", "seal", json!([fields])), answer });
        }
    }
    for case in cases("receipts/input_hash.json")? {
        let text = member(&case, "args_json")?;
        let answer = result(engine.input_hash(text), |hash| json!(hash));
        rows.push(Row { question: question("receipts", "input-hash", json!([text])), answer });
    }
    for case in cases("canonical/values.json")? {
        let text = member(&case, "value_json")?;
        for (form, name) in [(Form::Receipt, "receipt"), (Form::Event, "event"), (Form::Line, "line")] {
            let answer = result(engine.canonicalize(text, form), |text| json!(text));
            rows.push(Row { question: question("receipts", "canonicalize", json!([text, name])), answer });
        }
        let answer = result(engine.output_of(text), output);
        rows.push(Row { question: question("receipts", "output-of", json!([text])), answer });
    }
    ensure!(rows.len() > 1000, "only {} rows", rows.len());
    Ok(rows)
}

/// A row for `admit`, with the text in the arguments.
fn admit(engine: &Engine, rows: &mut Vec<Row>, text: &str) -> Result<()> {
    let effects = Effects { read_only: true, destructive: true, idempotent: true };
    let call = Call { tool: "tool".to_owned(), command: None, effects, mode: Mode::SafeEdit, dry_run: false };
    let arguments = json!({ "text": text }).to_string();
    let request = json!({"call": call_json(&call), "arguments": arguments, "configuration": null});
    let asked = AdmitRequest { call, arguments, configuration: None };
    let answer = result(engine.admit(&asked), admission);
    rows.push(Row { question: question("gate", "admit", json!([request])), answer });
    Ok(())
}

/// An engine with a configuration baked in; the same one for each call.
fn preset(configuration: Option<&str>) -> Result<Engine> {
    static BAKED: std::sync::OnceLock<Engine> = std::sync::OnceLock::new();
    if let Some(engine) = BAKED.get() {
        return Ok(engine.clone());
    }
    let source = Source::Component(fs::read(component())?);
    let engine = Engine::builder(source).configuration(configuration.map(str::to_owned)).build()?;
    Ok(BAKED.get_or_init(|| engine).clone())
}

/// The cases of a file of vectors.
fn cases(file: &str) -> Result<Vec<Value>> {
    let path = root().join("tests/vectors/roam").join(file);
    let document = read(&path)?;
    document.get("cases").and_then(Value::as_array).cloned().with_context(|| format!("no cases in `{file}`"))
}

/// The inputs of the redaction corpus, as JSON texts.
fn corpus() -> Result<Vec<String>> {
    let mut inputs = Vec::new();
    for file in ["tokens.jsonl", "documents.jsonl", "negatives.jsonl"] {
        let text = fs::read_to_string(root().join("tests/corpus/redaction").join(file))?;
        for line in text.lines() {
            inputs.push(serde_json::from_str::<Value>(line)?.get("input").context("no input")?.to_string());
        }
    }
    Ok(inputs)
}

/// A JSON file.
fn read(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

/// A text of a case.
fn member<'a>(case: &'a Value, name: &str) -> Result<&'a str> {
    case.get(name).and_then(Value::as_str).with_context(|| format!("no `{name}`: {case}"))
}

/// The call of a case of the gate's table.
fn call(case: &Value) -> Result<Call> {
    // Some tools declare nothing: to roam-code that means that they only read.
    let flag = |name: &str, undeclared| case.get(name).and_then(Value::as_bool).unwrap_or(undeclared);
    let mode = match member(case, "mode")? {
        "read_only" => Mode::ReadOnly,
        "safe_edit" => Mode::SafeEdit,
        "migration" => Mode::Migration,
        _ => Mode::AutonomousPr,
    };
    Ok(Call {
        tool: member(case, "tool")?.to_owned(),
        command: None,
        effects: Effects {
            read_only: flag("read_only", true),
            destructive: flag("destructive", false),
            idempotent: flag("idempotent", true),
        },
        mode,
        dry_run: false,
    })
}

/// A question as other hosts get it.
fn question(interface: &str, function: &str, arguments: Value) -> Value {
    json!({"interface": interface, "function": function, "arguments": arguments})
}

/// An answer of the engine in the spelling of the other hosts.
fn result<T>(answer: Result<T, Refusal>, spell: impl Fn(&T) -> Value) -> Value {
    match answer {
        Ok(answer) => spell(&answer),
        Err(Refusal::Policy(error)) => json!({"err": failure(&error)}),
        // No host gives such an answer, so that the comparison fails and shows it.
        Err(other) => json!({"refusal": other.to_string()}),
    }
}

fn failure(error: &Error) -> Value {
    match error {
        Error::InvalidJson(text) => json!({"invalid-json": text}),
        Error::UnsupportedValue(text) => json!({"unsupported-value": text}),
        Error::InvalidUtf8(text) => json!({"invalid-utf8": text}),
        Error::UnknownMode(text) => json!({"unknown-mode": text}),
        Error::InvalidReceipt(text) => json!({"invalid-receipt": text}),
        Error::InvalidEvent(text) => json!({"invalid-event": text}),
        Error::InvalidKey(text) => json!({"invalid-key": text}),
        Error::InvalidConfiguration(text) => json!({"invalid-configuration": text}),
        Error::InvalidArgument(text) => json!({"invalid-argument": text}),
    }
}

fn call_json(call: &Call) -> Value {
    let Effects { read_only, destructive, idempotent } = call.effects;
    json!({
        "tool": call.tool, "command": call.command, "mode": word(&call.mode), "dry-run": call.dry_run,
        "effects": {"read-only": read_only, "destructive": destructive, "idempotent": idempotent},
    })
}

fn judgement(judgement: &Judgement) -> Value {
    json!({
        "decision": word(&judgement.decision), "enforcement": word(&judgement.enforcement),
        "active-mode": word(&judgement.active_mode), "required-mode": word(&judgement.required_mode),
        "reason": judgement.reason,
    })
}

fn admission(admission: &Admission) -> Value {
    json!({
        "judgement": judgement(&admission.judgement), "input-hash": admission.input_hash,
        "arguments": admission.arguments, "secrets": hits(&admission.secrets), "blocked": admission.blocked,
    })
}

fn redacted(redacted: &Redacted) -> Value {
    json!({"output": redacted.output, "secrets": hits(&redacted.secrets), "markers": hits(&redacted.markers)})
}

fn sealed(sealed: &Sealed) -> Value {
    json!({"canonical": sealed.canonical, "content-hash": sealed.content_hash})
}

fn output(output: &Output) -> Value {
    json!({"output-hash": output.output_hash, "output-ref": output.output_ref})
}

fn hits(hits: &[Hit]) -> Value {
    hits.iter().map(|hit| json!({"id": hit.id, "hits": hit.hits})).collect()
}

/// A word of a vocabulary as the contract spells it: the Rust name, in lower case with `-`.
fn word(item: &impl std::fmt::Debug) -> String {
    let name = format!("{item:?}");
    let name = name.rsplit("::").next().unwrap_or(&name);
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}
