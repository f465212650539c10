//! The engine over components that were built for wasm: hostile ones and the project's own.

#[cfg(test)]
mod component;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod load;
#[cfg(test)]
mod support;
