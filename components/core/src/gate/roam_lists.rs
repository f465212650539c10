//! roam-code's allow-lists (14.1.0): what each mode adds to the ones below it. Each list is sorted.

use crate::vocabulary::Mode;

const READ_ONLY: [&str; 166] = [
    "adrs", "adversarial", "affected", "affected-tests", "agent-opt", "ai-ratio", "ai-readiness", "alerts",
    "algo", "api", "api-changes", "api-drift", "architecture-drift", "ask", "at", "audit", "batch-search",
    "bisect", "blame-reviewers", "breaking", "brief", "calc-golden", "calc-inventory", "calc-probe",
    "capabilities", "causal-graph", "changelog", "check-rules", "churn", "closure", "clusters", "codeowners",
    "collapse", "commands", "compare", "compile-cache", "compile-daemon", "compile-stats", "compiler-corpus",
    "complete", "congestion", "context", "coupling", "coverage-gaps", "cut", "cycle-break", "cycles",
    "dashboard", "db-check", "debt", "delete-check", "deps", "describe", "dev-profile", "dict-consistency",
    "disambiguate", "dispatch-trace", "doc-drift", "doc-staleness", "docs-coverage", "docs-index", "doctor",
    "dogfood-aggregate", "drift", "effects", "endpoints", "entry-points", "evidence-diff", "evidence-doctor",
    "explain-command", "fan", "file", "findings", "flag-dead", "fn-coupling", "forecast", "graph-stats",
    "grep", "guard-diff", "guard-doctor", "guard-history", "guard-rules", "health", "help-search",
    "history-grep", "idempotency", "ignore-drift", "impact", "index-stats", "intent", "intent-check",
    "invariants", "layers", "lsp", "magic-numbers", "map", "math", "metrics", "minimap", "mode", "module",
    "next", "observability-opt", "onboard", "oracle", "orchestrate", "orphan-routes", "owner", "partition",
    "path-coverage", "patterns", "postmortem", "preflight", "profile-import", "proof-bundle", "py-modern",
    "py-types", "pytest-fixtures", "recommend", "refs", "refs-text", "relate", "report", "retrieve",
    "review-request", "review-verify", "risk", "safe-delete", "safe-zones", "schema", "search",
    "search-semantic", "secrets", "semantic-diff", "service-report", "side-effects", "simulate-departure",
    "sketch", "spectral", "split", "suggest-reviewers", "supply-chain", "surface", "symbol", "syntax-check",
    "test-gaps", "test-impact", "test-map", "test-pyramid", "tour", "trace", "tx-boundaries", "understand",
    "uses", "verdict", "verification-contract", "verify-imports", "visualize", "vue-emits", "vulns",
    "weather", "why", "why-fail", "why-slow", "workflow", "x-lang",
];

const SAFE_EDIT: [&str; 77] = [
    "agents-md", "annotate", "annotations", "article-12-check", "audit-trail-conformance-check",
    "audit-trail-verify", "auth-gaps", "bench-compile", "boundary", "budget", "bus-factor", "capsule",
    "ci-setup", "clones", "compatibility", "compile", "compiler-health", "complexity", "conventions",
    "critique", "dark-matter", "dead", "diagnose", "diff", "digest", "duplicates", "envelope-diff",
    "eval-retrieve", "evidence-oscal", "fingerprint", "fitness", "fleet", "graph-diff", "graph-export",
    "guard", "guard-clean", "guard-init", "guard-pr", "hotspots", "hover", "index-export", "ingest-trace",
    "lease", "llm-smells", "memory", "missing-index", "n1", "orphan-imports", "over-fetch", "permit", "plan",
    "pr-bundle", "reachability-triage", "rules", "rules-suggest", "rules-validate", "savings",
    "savings-backfill", "sbom", "skill-generate", "smells", "snapshot", "stats", "suppress", "taint",
    "test-hermeticity", "test-scaffold", "timeline", "trend", "trends", "triage", "verify", "vibe-check",
    "vuln-map", "vuln-reach", "watch", "ws",
];

const MIGRATION: [&str; 10] = [
    "clean", "index-import", "migration-plan", "migration-safety", "mutate", "plan-refactor", "reset",
    "simulate", "stale-refs", "suggest-refactoring",
];

const AUTONOMOUS_PR: [&str; 23] = [
    "agent-context", "agent-export", "agent-plan", "agent-score", "attest", "audit-trail-export", "cga",
    "constitution", "dogfood", "hooks", "laws", "mcp-setup", "metrics-push", "pr-analyze",
    "pr-comment-render", "pr-diff", "pr-prep", "pr-replay", "pr-risk", "pre-commit", "replay",
    "review-accept", "runs",
];

/// The lists, lowest mode first.
const LISTS: [(Mode, &[&str]); 4] = [
    (Mode::ReadOnly, &READ_ONLY),
    (Mode::SafeEdit, &SAFE_EDIT),
    (Mode::Migration, &MIGRATION),
    (Mode::AutonomousPr, &AUTONOMOUS_PR),
];

/// The lowest mode whose list holds the command.
pub(super) fn lowest(command: &str) -> Option<Mode> {
    LISTS.iter().find(|(_, list)| list.binary_search(&command).is_ok()).map(|(mode, _)| *mode)
}

/// The lists as text for the digest of the rules: a line for each command.
pub(crate) fn digest_text(out: &mut String) {
    for (mode, list) in LISTS {
        for command in list {
            out.push_str(mode.as_str());
            out.push(' ');
            out.push_str(command);
            out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_disjoint() {
        for (_, list) in LISTS {
            assert!(list.is_sorted());
        }
        let mut all: Vec<_> = LISTS.iter().flat_map(|(_, list)| list.iter()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 276);
    }
}
