//! Where the functions of the contract are in a component.

use wasmtime::component::{Component, ComponentExportIndex};

use crate::LoadError;

/// Version of the contract that this crate asks in.
const VERSION: &str = "0.1.0";

macro_rules! exports {
    ($($interface:literal { $($field:ident = $name:literal,)* })*) => {
        /// The place of each function of the contract.
        pub(crate) struct Exports {
            $($(pub(crate) $field: ComponentExportIndex,)*)*
        }

        impl Exports {
            /// Look every function up once, so that a call does not have to.
            pub(crate) fn find(component: &Component) -> Result<Self, LoadError> {
                $($(let $field = find(component, $interface, $name)?;)*)*
                Ok(Self { $($($field,)*)* })
            }
        }
    };
}

exports! {
    "gate" {
        decide = "decide",
        admit = "admit",
        admit_bytes = "admit-bytes",
        parse_mode = "parse-mode",
        resolve_mode = "resolve-mode",
        command_name = "command-name",
        tool_command = "tool-command",
        check_command = "check-command",
        blocked_envelope = "blocked-envelope",
    }
    "redaction" {
        redact_text = "redact-text",
        redact_text_bytes = "redact-text-bytes",
        redact_json = "redact-json",
        redact_json_bytes = "redact-json-bytes",
        scan_markers = "scan-markers",
        redact_pieces = "redact-pieces",
        redactor_open = "[static]redactor.open",
        redactor_push = "[method]redactor.push",
        redactor_finish = "[method]redactor.finish",
        redactor_secrets = "[method]redactor.secrets",
    }
    "receipts" {
        settle = "settle",
        settle_bytes = "settle-bytes",
        seal = "seal",
        input_hash = "input-hash",
        output_of = "output-of",
        canonicalize = "canonicalize",
    }
    "ledger" {
        read_tail = "read-tail",
        sign = "sign",
        verify_chain = "verify-chain",
        receipt_links = "receipt-links",
        verify_with_receipts = "verify-with-receipts",
    }
    "about" {
        info = "info",
        configure = "configure",
        catalogue = "catalogue",
    }
}

/// The name that a component exports an interface of the contract under.
pub(crate) fn interface_name(interface: &str) -> String {
    format!("counterfoil:policy/{interface}@{VERSION}")
}

fn find(component: &Component, interface: &str, function: &str) -> Result<ComponentExportIndex, LoadError> {
    let interface = interface_name(interface);
    component
        .get_export_index(None, interface.as_str())
        .and_then(|instance| component.get_export_index(Some(&instance), function))
        .ok_or_else(|| LoadError::MissingExport { function: format!("{interface}.{function}") })
}
