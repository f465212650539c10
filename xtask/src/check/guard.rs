//! Rules about dependencies that a ban list cannot say: they concern features, and only what the binary is made of.

use std::path::Path;

use anyhow::{Result, bail};

use crate::process;

/// Crates that must not be in the binary, each with the reason.
const CRATES: [(&str, &str); 4] = [
    ("process-wrap", "the host starts no programs"),
    ("openssl-sys", "one TLS library at most, and not this one"),
    ("native-tls", "one TLS library at most, and not this one"),
    ("aws-lc-sys", "one TLS library at most, and not this one"),
];

/// Features that must be off in the binary, each with the reason.
const FEATURES: [(&str, &str, &str); 4] = [
    ("tokio", "process", "the host starts no programs"),
    ("rmcp", "transport-io", "the host speaks over HTTP only"),
    ("rmcp", "transport-child-process", "the host starts no programs"),
    ("wasmtime", "wasi", "the component gets nothing from the host"),
];

/// Crates that belong to the feature `mcp` and are not compiled without it.
const MCP_ONLY: [&str; 2] = ["rmcp", "axum"];

/// Check the dependencies of the binary, with its default features and without.
pub fn run(root: &Path) -> Result<()> {
    println!("check: what the binary depends on");
    let mut broken = violations(&tree(root, &[])?);
    let bare = tree(root, &["--no-default-features"])?;
    broken.extend(violations(&bare));
    for (name, _) in packages(&bare).filter(|(name, _)| MCP_ONLY.contains(name)) {
        broken.push(format!("`{name}` is compiled without the feature `mcp`"));
    }
    broken.sort();
    broken.dedup();
    if !broken.is_empty() {
        bail!("dependencies break the rules: {}", broken.join("; "));
    }
    Ok(())
}

/// What the binary is made of: a line for each package, `name version …|feature,feature`.
fn tree(root: &Path, arguments: &[&str]) -> Result<String> {
    let words = ["tree", "--package", "counterfoil", "--edges", "normal", "--prefix", "none", "--format", "{p}|{f}"];
    process::output(process::cargo(root).args(words).args(arguments))
}

/// Name and features of each package in a tree.
fn packages(tree: &str) -> impl Iterator<Item = (&str, &str)> {
    tree.lines().filter_map(|line| {
        let (package, features) = line.split_once('|')?;
        // A package that was listed before ends with ` (*)`.
        Some((package.split(' ').next()?, features.trim_end_matches(" (*)")))
    })
}

/// Each rule that a tree breaks, in words.
fn violations(tree: &str) -> Vec<String> {
    let mut broken = Vec::new();
    for (name, features) in packages(tree) {
        for (_, reason) in CRATES.iter().filter(|(banned, _)| *banned == name) {
            broken.push(format!("`{name}` is in the binary ({reason})"));
        }
        let on = |feature: &str| features.split(',').any(|word| word == feature);
        for (_, feature, reason) in FEATURES.iter().filter(|(owner, feature, _)| *owner == name && on(feature)) {
            broken.push(format!("feature `{feature}` of `{name}` is on ({reason})"));
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banned_crate_and_a_banned_feature_are_found() {
        let tree = "counterfoil v0.1.0 (/x)|default,mcp\ntokio v1.50.0|default,process,rt\nprocess-wrap v9.0.0|\n";
        assert_eq!(
            violations(tree),
            [
                "feature `process` of `tokio` is on (the host starts no programs)",
                "`process-wrap` is in the binary (the host starts no programs)",
            ]
        );
    }

    #[test]
    fn a_feature_whose_name_only_begins_alike_is_fine() {
        assert_eq!(violations("tokio v1.50.0|process-like,rt (*)\nrmcp v3.11.0|transport-io-like\n"), [""; 0]);
        assert_eq!(violations("tokio v1.50.0|rt,process (*)\n").len(), 1);
    }
}
