//! Why a component could not be put in force.

use crate::Refusal;

/// Why a component or a configuration could not be put in force. What was in force before stays so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is no component, or one that this sandbox does not take.
    #[error("component cannot be loaded: {reason}")]
    Invalid {
        /// What the sandbox says.
        reason: String,
    },
    /// The component wants something from its host. Policy must not.
    #[error("component must import nothing, but it imports {}", quoted(.names))]
    Imports {
        /// What it imports.
        names: Vec<String>,
    },
    /// The component lacks a function of the contract.
    #[error("component lacks `{function}`: it was built for another version of the contract")]
    MissingExport {
        /// The interface and the function.
        function: String,
    },
    /// A function of the component takes or gives other types than the contract says.
    #[error("component does not fit the contract: {reason}")]
    Mismatch {
        /// What does not fit.
        reason: String,
    },
    /// The component does not accept the configuration.
    #[error("configuration refused: {message}")]
    Configuration {
        /// What the component says.
        message: String,
    },
    /// The component could not be asked what it is, or be configured.
    #[error("component failed while it was loaded: {0}")]
    Refused(Refusal),
    /// The configured state could not be put into the component's file.
    #[error("configured component cannot be written: {reason}")]
    Snapshot {
        /// What the snapshotter says.
        reason: String,
    },
    /// The sandbox could not be set up on this machine.
    #[error("sandbox cannot be set up: {reason}")]
    Sandbox {
        /// What the machine says.
        reason: String,
    },
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
