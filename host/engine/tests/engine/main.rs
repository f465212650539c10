//! The engine over components that were built for wasm: hostile ones and the project's own.

mod hostile;
mod load;
mod support;
