//! What stands in a component: whether it is valid, what it imports and exports.

use anyhow::{Context, Result};
use wasmparser::{Parser, Payload, Validator};

/// What a component asks of its host, and what it offers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Names of the imports.
    pub imports: Vec<String>,
    /// Names of the exports.
    pub exports: Vec<String>,
}

/// Validate a component and list its imports and exports.
pub fn inspect(wasm: &[u8]) -> Result<Contents> {
    Validator::new().validate_all(wasm).context("the component is not valid")?;
    let mut contents = Contents::default();
    // The components and modules inside import from each other; only the outermost level concerns the host.
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    contents.imports.push(import?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    contents.exports.push(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A component that holds one section with one entry, spelled in bytes.
    fn component(section: &[u8]) -> Vec<u8> {
        [b"\0asm\x0d\0\x01\0", section].concat()
    }

    #[test]
    fn an_import_of_the_component_itself_is_listed() {
        // Type 0: func(), then import "a" of it.
        let wasm = component(b"\x07\x05\x01\x40\x00\x01\x00\x0a\x06\x01\x00\x01a\x01\x00");
        assert_eq!(inspect(&wasm).unwrap(), Contents { imports: vec!["a".to_owned()], exports: vec![] });
    }

    #[test]
    fn an_import_of_a_module_inside_is_not_listed() {
        // A core module that imports a function "a" "b", which nothing instantiates.
        let module = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02\x07\x01\x01a\x01b\0\0";
        let wasm = component(&[b"\x01\x17", module.as_slice()].concat());
        assert_eq!(inspect(&wasm).unwrap(), Contents::default());
    }

    #[test]
    fn bytes_that_are_no_component_are_refused() {
        assert!(inspect(b"\0asm").is_err());
        assert!(inspect(b"counterfoil").is_err());
    }
}
