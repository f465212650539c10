//! Whole-system tests: fixtures, runners for the vectors, foreign clients and servers.

pub mod cli_table;
pub mod fixture;
pub mod schemas;
pub mod tool_cache;
pub mod vectors;
