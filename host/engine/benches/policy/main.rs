//! What a call costs: in a fresh instance as in production, in a warm one, and in the same rules compiled natively.
//!
//! `cargo bench -p counterfoil-engine` prints one table of medians, measured in turns in one run, so that the columns of a
//! row can be compared. It needs the component (`cargo xtask component`), or another one as an argument after `--`, and for
//! the last line the program (`cargo xtask build`).

mod input;
mod native;
mod start;
mod turns;

use std::path::{Path, PathBuf};

use counterfoil_engine::{Engine, Session, Source};

use native::Native;
use turns::{Row, heading, print};

fn main() {
    let given = std::env::args_os().skip(1).find(|argument| !argument.to_string_lossy().starts_with("--"));
    let component = read(&given.map_or_else(|| target().join("component/counterfoil.wasm"), PathBuf::from));
    let engine = match Engine::builder(Source::Component(component)).build() {
        Ok(engine) => engine,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    };
    let mut warm = ok(engine.session());

    let native = Native::new();
    heading();
    print(&Row {
        name: "instantiate and drop".to_owned(),
        bytes: 0,
        fresh: turns::median(|| drop(ok(engine.session()))),
        warm: None,
        native: None,
    });
    print(&admit(&engine, &mut warm, &native));
    for planted in [false, true] {
        for bytes in [256, 4 << 10, 64 << 10, 1 << 20] {
            print(&settle(&engine, &mut warm, &native, bytes, planted));
        }
    }
    for planted in [false, true] {
        for bytes in [4 << 10, 1 << 20] {
            print(&redact(&engine, &mut warm, &native, bytes, planted));
        }
    }
    print(&crossing(&engine, &mut warm));
    start::print(&target());
}

fn admit(engine: &Engine, warm: &mut Session, native: &Native) -> Row {
    let request = input::admit();
    let [fresh, warm, native] =
        turns::medians([&mut || drop(ok(engine.admit(&request))), &mut || drop(ok(warm.admit(&request))), &mut || {
            native.admit(&request)
        }]);
    Row { name: "admit".to_owned(), bytes: request.arguments.len(), fresh, warm: Some(warm), native: Some(native) }
}

fn settle(engine: &Engine, warm: &mut Session, native: &Native, bytes: usize, planted: bool) -> Row {
    let request = input::settle(bytes, planted);
    let found = ok(engine.settle(&request)).secrets.iter().map(|hit| hit.hits).sum::<u32>();
    assert_eq!(found, if planted { 3 } else { 0 }, "the component finds what was planted");
    let [fresh, warm, native] = turns::medians([
        &mut || drop(ok(engine.settle(&request))),
        &mut || drop(ok(warm.settle(&request))),
        &mut || native.settle(&request),
    ]);
    Row { name: named("settle", planted), bytes, fresh, warm: Some(warm), native: Some(native) }
}

fn redact(engine: &Engine, warm: &mut Session, native: &Native, bytes: usize, planted: bool) -> Row {
    let text = input::text(bytes, planted);
    let [fresh, warm, native] = turns::medians([
        &mut || drop(ok(engine.redact_text(&text))),
        &mut || drop(ok(warm.redact_text(&text))),
        &mut || native.redact(&text),
    ]);
    Row { name: named("redact text", planted), bytes, fresh, warm: Some(warm), native: Some(native) }
}

/// The same work on text and on bytes: which one the engine should use.
fn crossing(engine: &Engine, warm: &mut Session) -> Row {
    let text = input::text(1 << 20, false);
    let [fresh, warm] = turns::medians([&mut || drop(ok(engine.redact_text_bytes(text.as_bytes()))), &mut || {
        drop(ok(warm.redact_text_bytes(text.as_bytes())))
    }]);
    Row { name: "redact text, as bytes".to_owned(), bytes: text.len(), fresh, warm: Some(warm), native: None }
}

fn named(what: &str, planted: bool) -> String {
    format!("{what}, {}", if planted { "three secrets" } else { "clean" })
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|_| {
        eprintln!("`{}` is missing, run `cargo xtask component` first", path.display());
        std::process::exit(1);
    })
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target")
}

/// The answer. A refusal ends the run: its time would say nothing.
pub(crate) fn ok<T, E: std::fmt::Display>(answer: Result<T, E>) -> T {
    answer.unwrap_or_else(|error| {
        eprintln!("refused: {error}");
        std::process::exit(1);
    })
}
