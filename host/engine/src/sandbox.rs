//! The one place that says how code of the component is compiled and run.

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, ResourceLimiter,
};

use crate::{Limits, LoadError};

/// Entries of a table of functions; the component's larger one has a few hundred.
pub(crate) const TABLE_ENTRIES: usize = 10_000;

/// Core instances of one component: its module, and two that its encoder adds for the resource. One to spare.
const CORE_INSTANCES: u32 = 4;

/// Tables of one component: its module's and the one that is added for the resource. Two to spare.
const TABLES: u32 = 4;

/// Pages up to here are wiped and kept when an instance ends. A call on a few hundred kilobytes stays below it, so the next
/// call meets no page fault.
const KEEP_RESIDENT: usize = 2 << 20;

/// The engine that calls run in: instances come from a pool.
pub(crate) fn pooled(limits: &Limits) -> Result<Engine, LoadError> {
    // One more than calls may take, for the instance that is asked what it is while calls are under way.
    let instances = limits.max_instances.saturating_add(1);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances.saturating_mul(CORE_INSTANCES))
        .max_core_instances_per_component(CORE_INSTANCES)
        .total_memories(instances)
        .max_memories_per_component(1)
        .total_tables(instances.saturating_mul(TABLES))
        .max_tables_per_component(TABLES)
        .table_elements(TABLE_ENTRIES)
        .max_memory_size(limits.largest_memory())
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(TABLE_ENTRIES * size_of::<usize>())
        // Wipe only the pages that were written to, where the kernel can tell which (Linux 6.7).
        .pagemap_scan(Enabled::Auto);
    let mut config = code();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    engine(&config)
}

/// An engine without a pool for the one instance that is configured and snapshotted.
pub(crate) fn single() -> Result<Engine, LoadError> {
    let mut config = code();
    // The code runs once: compiling quickly is worth more than quick code. The state that comes of it is the same.
    config.cranelift_opt_level(OptLevel::None);
    engine(&config)
}

/// What decides which code comes out: precompiled code is accepted only by an engine that agrees in all of it.
fn code() -> Config {
    let mut config = Config::new();
    config
        .cranelift_opt_level(OptLevel::Speed)
        .epoch_interruption(true)
        .memory_init_cow(true)
        // The same bytes in give the same bytes out on every processor.
        .cranelift_nan_canonicalization(true)
        .wasm_relaxed_simd(false)
        // Nothing that the component's toolchain does not use.
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_tail_call(false)
        .concurrency_support(false)
        // A trap is told as one word; where in the code it happened is of no use to a gateway.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false);
    config
}

fn engine(config: &Config) -> Result<Engine, LoadError> {
    Engine::new(config).map_err(|error| LoadError::Sandbox { reason: format!("{error:#}") })
}

/// What a store knows of its instance.
#[derive(Debug)]
pub(crate) struct Bounds {
    /// Memory that the instance may have, in bytes.
    pub(crate) memory: usize,
}

/// The instance wanted more than its bounds allow.
#[derive(Debug, thiserror::Error)]
#[error("instance wants more memory than it may have")]
pub(crate) struct OutOfBounds;

impl ResourceLimiter for Bounds {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        // An error ends the call at once. The ordinary `false` would let it go on to a panic of its own.
        if desired > self.memory { Err(OutOfBounds.into()) } else { Ok(true) }
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if desired > TABLE_ENTRIES { Err(OutOfBounds.into()) } else { Ok(true) }
    }
}
