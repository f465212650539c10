//! The commands of the documents do what the documents say.

use std::fs;
use std::net::TcpListener;
use std::process::{Command, Output};

use anyhow::{Context as _, Result};
use counterfoil_tests::fixture::host::binary;
use counterfoil_tests::fixture::project::Project;
use counterfoil_tests::fixture::upstream::{Reply, Upstream, reading_tool};
use counterfoil_tests::tool_cache::{python, root, skip};

/// The fenced blocks of one language, in order.
fn blocks(document: &str, language: &str) -> Result<Vec<String>> {
    let text = fs::read_to_string(root().join(document)).with_context(|| format!("cannot read `{document}`"))?;
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some(if info == language { String::new() } else { "\0".to_owned() }),
            (Some(block), Some(_)) => {
                if !block.starts_with('\0') {
                    blocks.push(std::mem::take(block));
                }
                open = None;
            }
            (Some(block), None) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, None) => {}
        }
    }
    Ok(blocks)
}

/// A shell in the project, with the binary at hand and the README's port replaced by a free one.
fn shell(project: &Project, upstream: &str, port: u16, script: &str) -> Result<Output> {
    let binary = binary()?;
    let folder = binary.parent().context("the binary lies in a folder")?;
    let path = format!("{}:{}", folder.display(), std::env::var_os("PATH").unwrap_or_default().display());
    let script = script
        .replace("counterfoil serve", &format!("counterfoil serve --listen 127.0.0.1:{port}"))
        .replace("127.0.0.1:8470", &format!("127.0.0.1:{port}"));
    let output = Command::new("bash")
        .args(["-euc", &script])
        .current_dir(project.path())
        .env("PATH", path)
        .env("UPSTREAM_URL", upstream)
        .output()
        .context("bash cannot be run")?;
    Ok(output)
}

const WAIT: &str =
    "for i in $(seq 100); do curl -sf http://127.0.0.1:8470/readyz >/dev/null && break; sleep 0.1; done\n";

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_readme_work_in_order() -> Result<()> {
    let upstream = Upstream::start(vec![reading_tool("echo")], |_, arguments| {
        Reply::text(arguments.get("message").and_then(|text| text.as_str()).unwrap_or_default())
    })
    .await?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let blocks = blocks("README.md", "sh")?;
    let (own, rest) = blocks.split_first().context("the README has commands")?;
    // The project's own two commands are what runs this test; continuous integration runs both.
    assert!(own.lines().all(|line| line.starts_with("cargo xtask ")), "{own}");

    let project = Project::new()?;
    let mut script = String::new();
    for block in rest {
        script.push_str(block);
        if block.contains("counterfoil serve") {
            script.push_str("trap 'kill %1; wait' EXIT\n");
            script.push_str(WAIT);
        }
    }
    let output = shell(&project, upstream.url(), port, &script)?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{printed}\n{talk}", output.status);
    for expected in ["hello", "dev.counterfoil/receipt", "\"decision\"", "[REDACTED:github_pat_classic]"] {
        assert!(printed.contains(expected), "`{expected}` is not in\n{printed}\n{talk}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_of_the_readme_prints_text_and_receipt() -> Result<()> {
    let Some(python) = python() else {
        skip("the_python_client_of_the_readme_prints_text_and_receipt", "the Python packages");
        return Ok(());
    };
    let upstream = Upstream::start(vec![reading_tool("echo")], |_, arguments| {
        Reply::text(arguments.get("message").and_then(|text| text.as_str()).unwrap_or_default())
    })
    .await?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let project = Project::new()?;
    let program = blocks("README.md", "python")?.concat();
    let program = program.replace("127.0.0.1:8470", &format!("127.0.0.1:{port}"));
    fs::write(project.path().join("client.py"), program)?;
    let script = format!(
        "counterfoil serve --upstream \"$UPSTREAM_URL\" &\ntrap 'kill %1; wait' EXIT\n{WAIT}{} client.py\n",
        python.display()
    );
    let output = shell(&project, upstream.url(), port, &script)?;
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.starts_with("hello\n") && printed.contains("content_hash"), "{printed}");
    Ok(())
}
