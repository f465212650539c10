//! Rust types of the contract in `wit/`.

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "guard",
    additional_derives: [Clone, PartialEq, Eq, Hash],
});
