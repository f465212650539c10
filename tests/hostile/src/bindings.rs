//! Rust types and exports of the contract in `wit/`.

wit_bindgen::generate!({
    path: "../../wit",
    world: "guard",
    features: ["preview"],
    pub_export_macro: true,
});
