//! Tables of calls and expected answers for the wasmtime command line, written as JSON.
//!
//! `tests/cli/<interface>.json` holds, for each function of the interface, a list of rows: what the row shows, the
//! arguments, the answer. Values are JSON and are spelled for the command line (WAVE) by the function's type in the
//! contract, so that a table reads without two layers of escapes and other hosts can use it too:
//! records are objects, a `none` is `null`, a `list<u8>` may be a text, an `ok` is `{"ok": …}` and an error
//! `{"err": {"invalid-json": "…"}}`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};
use wit_parser::{Function, FunctionKind, Handle, InterfaceId, Resolve, Type, TypeDefKind, TypeId};

/// Words of WAVE that a case must not be taken for.
const KEYWORDS: [&str; 8] = ["true", "false", "inf", "nan", "some", "none", "ok", "err"];

/// The contract in `wit/`, preview items included.
///
/// # Errors
///
/// When the folder does not parse.
pub fn contract(root: &Path) -> Result<Resolve> {
    let mut resolve = Resolve { all_features: true, ..Resolve::default() };
    resolve.push_dir(root.join("wit"))?;
    Ok(resolve)
}

/// An exported interface: its name, and the functions that a command line can call, which are those outside resources.
pub struct Interface {
    /// Name, such as `gate`.
    pub name: String,
    /// The functions, in the contract's order.
    pub functions: Vec<Function>,
    /// Names of the functions that belong to resources, such as `[method]redactor.push`.
    pub in_resources: Vec<String>,
}

/// The interfaces of the contract.
///
/// # Errors
///
/// When an interface has no name.
pub fn interfaces(resolve: &Resolve) -> Result<Vec<Interface>> {
    let of = |(_, interface): (InterfaceId, &wit_parser::Interface)| {
        let (free, bound) = interface
            .functions
            .values()
            .cloned()
            .partition::<Vec<_>, _>(|function| matches!(function.kind, FunctionKind::Freestanding));
        Ok(Interface {
            name: interface.name.clone().context("an interface has no name")?,
            functions: free,
            in_resources: bound.into_iter().map(|function| function.name).collect(),
        })
    };
    resolve.interfaces.iter().map(of).collect()
}

/// One call and what it must answer.
pub struct Row {
    /// What the row shows, with its function: `gate.parse-mode: the lowest mode`.
    pub title: String,
    /// The call for `wasmtime run --invoke`.
    pub call: String,
    /// What must be printed.
    pub expected: Expected,
}

/// What a call must print.
pub enum Expected {
    /// Exactly this. A text of 64 `*` stands for any digest of as many hex digits.
    Answer(String),
    /// All of these, somewhere.
    Holds(Vec<String>),
}

impl Expected {
    /// Why what was printed is not what was expected; none when it is.
    #[must_use]
    pub fn mismatch(&self, printed: &str) -> Option<String> {
        match self {
            Self::Answer(answer) if equal_but_digests(answer, printed) => None,
            Self::Answer(answer) => Some(format!("expected {answer}\n   found {printed}")),
            Self::Holds(parts) => {
                let missing = parts.iter().find(|part| !printed.contains(part.as_str()))?;
                Some(format!("expected to hold {missing}\n           found {printed}"))
            }
        }
    }
}

/// Whether the texts are equal, where 64 `*` in the first stand for 64 lower-case hex digits in the second.
fn equal_but_digests(pattern: &str, text: &str) -> bool {
    let any = "*".repeat(64);
    let mut parts = pattern.split(any.as_str());
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    for part in parts {
        let Some((digest, after)) = rest.split_at_checked(64) else { return false };
        let hex = digest.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        match after.strip_prefix(part).filter(|_| hex) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.is_empty()
}

/// The file of an interface's table.
#[must_use]
pub fn path(root: &Path, interface: &str) -> PathBuf {
    root.join("tests/cli").join(format!("{interface}.json"))
}

/// The rows of a table, in its order.
///
/// # Errors
///
/// When a function is not in the contract, or a value does not fit its type.
pub fn rows(resolve: &Resolve, interface: &Interface, table: &Map<String, Value>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, entries) in table {
        let function = interface.functions.iter().find(|function| function.name == *name);
        let function = function.with_context(|| format!("`{}` has no function `{name}`", interface.name))?;
        for entry in entries.as_array().with_context(|| format!("`{name}` holds no list of rows"))? {
            let shows =
                entry["shows"].as_str().with_context(|| format!("a row of `{name}` does not say what it shows"))?;
            let title = format!("{}.{name}: {shows}", interface.name);
            rows.push(row(resolve, &interface.name, function, entry, &title).with_context(|| title.clone())?);
        }
    }
    Ok(rows)
}

/// One row of a table.
fn row(resolve: &Resolve, interface: &str, function: &Function, entry: &Value, title: &str) -> Result<Row> {
    let given = entry["arguments"].as_array().context("`arguments` is no list")?;
    ensure!(given.len() == function.params.len(), "{} arguments are needed", function.params.len());
    let mut call = format!("counterfoil:policy/{interface}.{}@0.1.0(", function.name);
    for (position, (parameter, value)) in function.params.iter().zip(given).enumerate() {
        call.push_str(if position == 0 { "" } else { ", " });
        encode(resolve, &parameter.ty, value, &mut call).with_context(|| format!("argument `{}`", parameter.name))?;
    }
    call.push(')');
    let expected = match (entry.get("answer"), entry["holds"].as_array()) {
        (Some(answer), None) => {
            let mut text = String::new();
            let result = function.result.as_ref().context("the function gives nothing back")?;
            encode(resolve, result, answer, &mut text).context("the answer")?;
            Expected::Answer(text)
        }
        (None, Some(parts)) if !parts.is_empty() => {
            let texts = parts.iter().map(|part| part.as_str().map(str::to_owned).context("`holds` lists texts"));
            Expected::Holds(texts.collect::<Result<_>>()?)
        }
        _ => bail!("a row has either `answer` or `holds`"),
    };
    Ok(Row { title: title.to_owned(), call, expected })
}

/// Spell a JSON value as WAVE, by its type, as the command line prints it.
fn encode(resolve: &Resolve, ty: &Type, value: &Value, out: &mut String) -> Result<()> {
    match (ty, value) {
        (Type::Bool, Value::Bool(flag)) => write!(out, "{flag}")?,
        (Type::U8 | Type::U32 | Type::U64, Value::Number(number)) => write!(out, "{number}")?,
        (Type::String, Value::String(text)) => string(text, out),
        (Type::Id(id), _) => defined(resolve, *id, value, out)?,
        _ => bail!("the value does not fit the type {ty:?}"),
    }
    Ok(())
}

/// Spell a value of a type that the contract defines.
fn defined(resolve: &Resolve, id: TypeId, value: &Value, out: &mut String) -> Result<()> {
    match (&resolve.types[id].kind, value) {
        (TypeDefKind::Type(ty), _) => encode(resolve, ty, value, out)?,
        (TypeDefKind::Option(_), Value::Null) => out.push_str("none"),
        (TypeDefKind::Option(ty), _) => wrapped(resolve, "some", ty, value, out)?,
        (TypeDefKind::List(Type::U8), Value::String(text)) => {
            let bytes: Vec<Value> = text.bytes().map(Value::from).collect();
            list(resolve, &Type::U8, &bytes, out)?;
        }
        (TypeDefKind::List(ty), Value::Array(items)) => list(resolve, ty, items, out)?,
        (TypeDefKind::Enum(cases), Value::String(word)) => {
            ensure!(cases.cases.iter().any(|case| case.name == *word), "`{word}` is no case");
            label(word, out);
        }
        (TypeDefKind::Result(result), Value::Object(members)) => match (members.get("ok"), members.get("err")) {
            (Some(ok), None) => wrapped(resolve, "ok", result.ok.as_ref().context("ok is empty")?, ok, out)?,
            (None, Some(err)) => wrapped(resolve, "err", result.err.as_ref().context("err is empty")?, err, out)?,
            _ => bail!("a result has either `ok` or `err`"),
        },
        (TypeDefKind::Variant(variant), Value::Object(members)) => {
            let (word, payload) = members.iter().next().filter(|_| members.len() == 1).context("one case is needed")?;
            let case = variant.cases.iter().find(|case| case.name == *word).with_context(|| format!("`{word}`"))?;
            wrapped(resolve, word, case.ty.as_ref().context("the case has no payload")?, payload, out)?;
        }
        (TypeDefKind::Record(record), Value::Object(members)) => {
            for name in members.keys() {
                ensure!(record.fields.iter().any(|field| field.name == *name), "`{name}` is no field");
            }
            let mut separator = "{";
            for field in &record.fields {
                // A field that is left out is `none`, and the command line leaves it out too.
                let value = members.get(&field.name).unwrap_or(&Value::Null);
                if *value == Value::Null {
                    let optional = matches!(field.ty, Type::Id(id) if is_option(resolve, id));
                    ensure!(optional, "the field `{}` is missing", field.name);
                    continue;
                }
                write!(out, "{separator}{}: ", field.name)?;
                encode(resolve, &field.ty, value, out).with_context(|| format!("field `{}`", field.name))?;
                separator = ", ";
            }
            out.push_str(if separator == "{" { "{:}" } else { "}" });
        }
        (TypeDefKind::Handle(Handle::Own(_) | Handle::Borrow(_)), _) => bail!("resources have no text"),
        (kind, _) => bail!("the value does not fit a {}", kind.as_str()),
    }
    Ok(())
}

/// Whether a type is an option, perhaps under another name.
fn is_option(resolve: &Resolve, id: TypeId) -> bool {
    match &resolve.types[id].kind {
        TypeDefKind::Option(_) => true,
        TypeDefKind::Type(Type::Id(inner)) => is_option(resolve, *inner),
        _ => false,
    }
}

/// `word(value)`.
fn wrapped(resolve: &Resolve, word: &str, ty: &Type, value: &Value, out: &mut String) -> Result<()> {
    out.push_str(word);
    out.push('(');
    encode(resolve, ty, value, out)?;
    out.push(')');
    Ok(())
}

/// `[a, b]`.
fn list(resolve: &Resolve, ty: &Type, items: &[Value], out: &mut String) -> Result<()> {
    out.push('[');
    for (position, item) in items.iter().enumerate() {
        out.push_str(if position == 0 { "" } else { ", " });
        encode(resolve, ty, item, out)?;
    }
    out.push(']');
    Ok(())
}

/// A case's name, marked where WAVE has a word of its own like it.
fn label(word: &str, out: &mut String) {
    if KEYWORDS.contains(&word) {
        out.push('%');
    }
    out.push_str(word);
}

/// A text in quotes, escaped as the command line escapes what it prints.
fn string(text: &str, out: &mut String) {
    out.push('"');
    for sign in text.chars() {
        match sign {
            '\\' | '"' | '\'' | '\t' | '\r' | '\n' => out.extend(sign.escape_default()),
            _ if sign.is_control() => out.extend(sign.escape_unicode()),
            _ => out.extend(sign.escape_debug()),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_digest_matches_the_stars_and_nothing_else_does() {
        let stars = "*".repeat(64);
        let pattern = format!("ok(\"{stars}\")");
        assert!(equal_but_digests(&pattern, &format!("ok(\"{}\")", "0f".repeat(32))));
        assert!(!equal_but_digests(&pattern, &format!("ok(\"{}\")", "0F".repeat(32))));
        assert!(!equal_but_digests(&pattern, &format!("ok(\"{}\")", "0f".repeat(31))));
        assert!(!equal_but_digests(&pattern, &format!("ok(\"{}\") ", "0f".repeat(32))));
        assert!(equal_but_digests("none", "none"));
        assert!(!equal_but_digests("none", "some"));
    }

    #[test]
    fn a_text_is_escaped_as_the_command_line_prints_it() {
        let mut out = String::new();
        string("a\"b\\c\n'é\u{7}", &mut out);
        assert_eq!(out, "\"a\\\"b\\\\c\\n\\'é\\u{7}\"");
    }
}
