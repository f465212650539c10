//! `counterfoil receipts tail`: the newest receipts, and those to come.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use clap::Args;
use counterfoil_evidence::{Follower, LedgerLine, RunId, StateDir, receipts, runs};
use serde_json::{Value, json};

use super::known_run;
use crate::cli::globals::Globals;
use crate::cli::print;
use crate::cli::runs::text;

/// How often ledgers are looked at.
const INTERVAL: Duration = Duration::from_millis(100);

/// Print the newest receipts in the order of their ledgers, and with `--follow` each new one as it comes
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  counterfoil receipts tail --follow --json | jq .receipt.policy_decision")]
pub struct TailArgs {
    /// Only those of this run
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// Go on with new ones until interrupted
    #[arg(long, short)]
    follow: bool,
    /// How many to begin with
    #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 10)]
    lines: usize,
}

/// Run the command.
pub fn run(args: &TailArgs, globals: &Globals) -> anyhow::Result<()> {
    let state = globals.state()?;
    let only = args.run.as_deref().map(|run| known_run(&state, run)).transpose()?;
    let mut ledgers = Ledgers { state: &state, only, followers: HashMap::new() };
    let mut newest: VecDeque<Link> = VecDeque::new();
    for link in ledgers.poll()? {
        newest.push_back(link);
        if newest.len() > args.lines {
            newest.pop_front();
        }
    }
    for link in &newest {
        link.print(&state, globals)?;
    }
    if !args.follow {
        return Ok(());
    }
    loop {
        std::thread::sleep(INTERVAL);
        for link in ledgers.poll()? {
            link.print(&state, globals)?;
        }
    }
}

/// The ledgers of all runs, or of one.
struct Ledgers<'a> {
    state: &'a StateDir,
    only: Option<RunId>,
    followers: HashMap<RunId, Follower>,
}

impl Ledgers<'_> {
    /// What has been linked since the last time, runs that have come since then included. By time, and in a run by place.
    fn poll(&mut self) -> anyhow::Result<Vec<Link>> {
        let ids = match &self.only {
            Some(run) => vec![run.clone()],
            None => runs::list(self.state)?.into_iter().map(|run| run.id).collect(),
        };
        let mut links = Vec::new();
        for run in ids {
            let follower =
                self.followers.entry(run.clone()).or_insert_with(|| Follower::new(self.state.clone(), run.clone(), 0));
            loop {
                let lines = follower.poll()?;
                if lines.is_empty() {
                    break;
                }
                links.extend(lines.into_iter().filter_map(|line| Link::of(&run, line)));
            }
        }
        links.sort_by(|a, b| a.time.cmp(&b.time));
        Ok(links)
    }
}

/// An event that links a receipt.
struct Link {
    run: RunId,
    time: String,
    seq: Value,
    tool_call: String,
    receipt_hash: Value,
}

impl Link {
    fn of(run: &RunId, line: LedgerLine) -> Option<Self> {
        let mut event = line.event?;
        if event.get("action")? != "mcp_receipt" {
            return None;
        }
        Some(Self {
            run: run.clone(),
            time: event.get("ts").and_then(Value::as_str).unwrap_or_default().to_owned(),
            tool_call: event.get("tool_call")?.as_str()?.to_owned(),
            seq: event.remove("seq").unwrap_or_default(),
            receipt_hash: event.remove("receipt_hash").unwrap_or_default(),
        })
    }

    fn print(&self, state: &StateDir, globals: &Globals) -> anyhow::Result<()> {
        // A linked receipt that is not there, or is no JSON, is shown as null: `runs verify` says what that means.
        let file = receipts::show(state, &format!("{}/{}", self.run, self.tool_call)).ok();
        let receipt: Value = file.and_then(|file| serde_json::from_slice(&file.bytes).ok()).unwrap_or_default();
        if globals.json() {
            return print::json(&json!({
                "ts": self.time,
                "run": self.run,
                "seq": self.seq,
                "tool_call": self.tool_call,
                "receipt_hash": self.receipt_hash,
                "receipt": receipt,
            }));
        }
        let redactions: Vec<String> = receipt
            .get("redactions")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|reason| text(Some(reason)))
            .collect();
        let redactions = if redactions.is_empty() { String::new() } else { format!("  {}", redactions.join(" ")) };
        let line = format!(
            "{}  {}  {}  {}{redactions}",
            self.time,
            self.run,
            self.tool_call,
            text(receipt.get("policy_decision"))
        );
        print::text(&format!("{}\n", print::plain(&line)))
    }
}
