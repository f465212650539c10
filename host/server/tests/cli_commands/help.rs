//! `--help`, and what the command line does not know.

use super::support::Place;

/// Every command that is to show an example.
const COMMANDS: &[&str] = &[
    "",
    "redact",
    "gate",
    "runs",
    "runs start",
    "runs end",
    "runs list",
    "runs show",
    "runs verify",
    "receipts",
    "receipts list",
    "receipts show",
    "receipts check",
    "receipts schema",
    "receipts tail",
    "receipts seal",
    "receipts input-hash",
    "receipts output",
    "mode",
    "mode show",
    "mode set",
    "config",
    "config check",
    "component",
    "component info",
    "component wit",
    "component extract",
    "component bake",
    "component catalogue",
    "completions",
];

#[test]
fn each_help_shows_an_example() {
    let place = Place::new();
    let mcp: &[&str] = if cfg!(feature = "mcp") { &["serve", "demo"] } else { &[] };
    for command in COMMANDS.iter().chain(mcp) {
        let mut arguments: Vec<&str> = command.split_whitespace().collect();
        arguments.push("--help");
        let told = place.cli(&arguments).ended(0);
        assert!(told.out.contains("Example") && told.err.is_empty(), "{command}: {told:?}");
    }
}

#[test]
fn what_is_not_known_ends_with_2() {
    let place = Place::new();
    for arguments in [&[][..], &["unknown"], &["runs"], &["redact", "--unknown"], &["gate", "--jsonl", "--tool", "x"]] {
        let told = place.cli(arguments).ended(2);
        assert!(told.out.is_empty() && !told.err.is_empty(), "{told:?}");
    }
    assert!(place.cli(&["--version"]).ended(0).out.starts_with("counterfoil "));
}

#[test]
#[cfg(feature = "mcp")]
fn serve_says_what_is_missing_or_wrong() {
    let place = Place::new();
    assert!(place.cli(&["serve"]).ended(2).error().contains("--upstream"));
    let upstream = ["serve", "--upstream", "http://127.0.0.1:9/mcp"];
    place.cli(&[&upstream[..], &["--mode", "unknown"]].concat()).ended(2);
    place.cli(&[&upstream[..], &["--listen", "here"]].concat()).ended(2);
    place.cli(&[&upstream[..], &["--config", "none.toml"]].concat()).ended(2);
    place.write("bad.toml", "upstreams = []\n");
    assert!(place.cli(&["serve", "--config", "bad.toml"]).ended(2).error().contains("`upstreams`"));
    assert!(place.cli(&[&upstream[..], &["--listen", "0.0.0.0:0"]].concat()).ended(2).err.contains("loopback"));
    for url in ["ftp://127.0.0.1/mcp", "not a url", "https://127.0.0.1/mcp", "http://user:word@127.0.0.1/mcp"] {
        let told = place.cli(&["serve", "--upstream", url]).ended(2);
        assert!(told.error().contains("upstream"), "{told:?}");
        assert!(!told.err.contains("word@"), "{told:?}");
    }
    assert!(!place.state().exists(), "nothing is begun");
    // What the system says stands there once.
    let file = place.write("file", "");
    let told = place.cli(&[&upstream[..], &["--listen", "127.0.0.1:0", "--state-dir", "file/.roam"]].concat()).ended(1);
    assert_eq!(told.err.matches("os error 20").count(), 1, "{told:?} {file:?}");
}
