//! The evidence at rest, over the public interface, signed by the native core.

#[cfg(test)]
mod crashes;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod faulty;
#[cfg(test)]
mod looking;
#[cfg(test)]
mod recording;
#[cfg(test)]
mod sharing;
#[cfg(test)]
mod strict;
#[cfg(test)]
mod vectors;
#[cfg(test)]
mod workbench;
