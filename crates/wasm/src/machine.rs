//! What runs modules, and its bounds.

use std::time::Duration;

use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

/// The work of one call, in steps: an instruction is one, and each byte that an instruction copies another. Some milliseconds.
pub(crate) const FUEL: u64 = 5_000_000;

/// The memory of one call, in bytes.
pub(crate) const MEMORY: usize = 16 << 20;

/// Entries of a table, which holds a module's functions.
pub(crate) const TABLE: usize = 10_000;

/// Calls at once. Their memories are pages of one pool, which are used again.
const CALLS: u32 = 64;

/// The stack of one call, in bytes.
const STACK: usize = 256 << 10;

/// How long one beat of the clock is that ends calls.
const BEAT: Duration = Duration::from_millis(100);

/// The beats that a call may go on for, whatever its steps take. Two seconds are long, as others may have the processor meanwhile.
pub(crate) const BEATS: u64 = 20;

/// What runs modules.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) engine: Engine,
}

impl Machine {
    /// # Errors
    /// Where this system cannot run any.
    pub(crate) fn new() -> Result<Self, String> {
        let mut pool = PoolingAllocationConfig::new();
        pool.total_core_instances(CALLS)
            .total_memories(CALLS)
            .total_tables(CALLS)
            .max_memories_per_module(1)
            .max_tables_per_module(1)
            .max_memory_size(MEMORY)
            .table_elements(TABLE)
            // So much of a memory is cleared by hand, which is quicker than asking the system for other pages.
            .linear_memory_keep_resident(1 << 20)
            .table_keep_resident(64 << 10);
        let mut config = Config::new();
        config
            .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
            .consume_fuel(true)
            .epoch_interruption(true)
            .max_wasm_stack(STACK)
            // Bounds are checked by instructions and not by faults: the process keeps its own handlers of signals.
            .signals_based_traps(false)
            .memory_reservation(MEMORY as u64)
            .memory_guard_size(0)
            // The same bits on every machine.
            .cranelift_nan_canonicalization(true)
            .wasm_relaxed_simd(false);
        let engine = Engine::new(&config).map_err(|error| format!("no module can run: {error}"))?;
        beat(&engine)?;
        Ok(Self { engine })
    }
}

/// Beats for as long as anybody uses the engine.
fn beat(engine: &Engine) -> Result<(), String> {
    let engine = engine.weak();
    let beats = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(BEAT);
        }
    };
    let thread = std::thread::Builder::new().name("wasm-beat".to_owned()).spawn(beats);
    thread.map(drop).map_err(|error| format!("no module can run: {error}"))
}
