//! The component's configuration from a file: its JSON document, or the `policy` table of the server's settings.

use std::path::Path;

use anyhow::Context;
use serde_json::{Map, Value};

use super::settings::Settings;
use super::status;

/// Read a configuration document. `None` without a file.
pub fn read(path: Option<&Path>) -> anyhow::Result<Option<String>> {
    let Some(path) = path else { return Ok(None) };
    let text = std::fs::read_to_string(path).map_err(|error| status::of_input(path, error))?;
    document(path, text)
}

/// The configuration document in the text of the file at `path`.
pub fn document(path: &Path, text: String) -> anyhow::Result<Option<String>> {
    if is_settings(path) { Ok(Settings::parse(path, &text)?.configuration()) } else { Ok(Some(text)) }
}

/// Whether a file holds the server's settings, by its name.
pub fn is_settings(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// The configuration with one member set, where there is a value for it.
pub fn with_member(configuration: Option<String>, name: &str, value: Option<Value>) -> anyhow::Result<Option<String>> {
    let Some(value) = value else {
        return Ok(configuration);
    };
    let mut members: Map<String, Value> = match &configuration {
        // The words of the error could hold pieces of the file.
        Some(text) => serde_json::from_str(text).ok().context("the configuration is not a JSON object")?,
        None => Map::new(),
    };
    members.insert(name.to_owned(), value);
    Ok(Some(Value::Object(members).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_added_or_replaced_and_the_rest_stays() {
        let text =
            with_member(Some(r#"{"mask": "x", "preset": "roam"}"#.to_owned()), "mask", Some("y".into())).unwrap();
        assert_eq!(text.as_deref(), Some(r#"{"mask":"y","preset":"roam"}"#));
        assert_eq!(with_member(None, "mask", None).unwrap(), None);
        assert!(with_member(Some("[]".to_owned()), "mask", Some("y".into())).is_err());
    }
}
