//! roam-code's special names (14.1.0).

use crate::vocabulary::Mode;

/// Tools whose command is not their name.
const RENAMED: [(&str, &str); 7] = [
    ("roam_annotate_symbol", "annotate"),
    ("roam_cga_emit", "cga"),
    ("roam_complexity_report", "complexity"),
    ("roam_dead_code", "dead"),
    ("roam_file_info", "file"),
    ("roam_reindex", "index"),
    ("roam_search_symbol", "search"),
];

/// Tools that have no command and only read.
const NATIVE: [&str; 43] = [
    "roam_adversarial_review",
    "roam_batch_get",
    "roam_bisect_blame",
    "roam_breaking_changes",
    "roam_budget_check",
    "roam_capsule_export",
    "roam_catalog",
    "roam_cga_verify",
    "roam_cut_analysis",
    "roam_diagnose_issue",
    "roam_doc_intent",
    "roam_expand_toolset",
    "roam_explore",
    "roam_fetch_handle",
    "roam_findings_count",
    "roam_findings_list",
    "roam_findings_show",
    "roam_fleet_plan",
    "roam_for_bug_fix",
    "roam_for_new_feature",
    "roam_for_refactor",
    "roam_for_security_review",
    "roam_full_coupling",
    "roam_generate_plan",
    "roam_get_annotations",
    "roam_get_invariants",
    "roam_oracle_batch",
    "roam_oracle_is_clone_of",
    "roam_oracle_is_reachable_from_entry",
    "roam_oracle_is_test_only",
    "roam_oracle_route_exists",
    "roam_oracle_symbol_exists",
    "roam_oracle_test_only",
    "roam_prepare_change",
    "roam_repo_map",
    "roam_review_change",
    "roam_rules_check",
    "roam_runtime_hotspots",
    "roam_session_metrics",
    "roam_taint_classify",
    "roam_validate_plan",
    "roam_ws_context",
    "roam_ws_understand",
];

/// Commands in no list that declare neither side effects nor destruction.
const HARMLESS: [&str; 6] = ["exit-codes", "mcp-status", "plugins", "recipes", "surface-gaps", "telemetry"];

/// The command of a tool that goes by another name.
pub(super) fn renamed(tool: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(name, _)| *name == tool).map(|(_, command)| *command)
}

/// Whether the command sets a project up and so runs in every mode.
pub(super) fn is_bootstrap(command: &str) -> bool {
    matches!(command, "init" | "index")
}

/// Whether the tool has no command and only reads.
pub(super) fn is_native(tool: &str) -> bool {
    NATIVE.binary_search(&tool).is_ok()
}

/// Whether the command is in no list and harmless.
pub(super) fn is_harmless(command: &str) -> bool {
    HARMLESS.binary_search(&command).is_ok()
}

/// The mode from which on a command in no list is allowed.
pub(super) fn conditional_minimum(command: &str) -> Option<Mode> {
    (command == "sibling-patch").then_some(Mode::SafeEdit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted() {
        assert!(RENAMED.is_sorted());
        assert!(NATIVE.is_sorted());
        assert!(HARMLESS.is_sorted());
    }
}
