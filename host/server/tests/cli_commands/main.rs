//! The binary from the outside: each command, each exit status, bad input.

#[cfg(test)]
mod component;
#[cfg(all(test, feature = "mcp"))]
mod demo;
#[cfg(test)]
mod evidence;
#[cfg(test)]
mod filters;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod help;
#[cfg(test)]
mod redact;
#[cfg(test)]
mod support;
