//! What an input can make the component do.

use std::cell::RefCell;
use std::hint::black_box;

/// What `leave` fills memory with. No text has it.
const LITTER: u8 = 0xA5;
/// Bytes of it: more than the host wipes page by page, so that both of its ways are met.
const LITTER_BYTES: usize = 6 << 20;

thread_local! {
    static CONFIGURATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Do what this word asks for; any other word is harmless.
pub fn commit(word: &str) {
    match word {
        "trap" => std::process::abort(),
        "loop" => spin(u64::MAX),
        // About half a second, and then an honest answer.
        "hold" => spin(500_000_000),
        "eat" => eat(),
        "sink" => {
            black_box(sink(1));
        }
        "leave" => {
            black_box(vec![LITTER; LITTER_BYTES].leak());
        }
        _ => {}
    }
}

fn spin(rounds: u64) {
    for round in 0..rounds {
        black_box(round);
    }
}

/// Take memory until there is no more.
fn eat() {
    loop {
        black_box(vec![1_u8; 1 << 20].leak());
    }
}

/// Call itself until the stack is full.
#[expect(unconditional_recursion, reason = "that is the misdeed")]
fn sink(depth: u64) -> u64 {
    black_box(sink(black_box(depth + 1)) + 1)
}

/// How many KiB of `leave`'s filling are in memory.
#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "looks at memory that belongs to no value, as an attacker in here would")]
pub fn look() -> u32 {
    let length = core::arch::wasm32::memory_size::<0>() << 16;
    // SAFETY: all of a linear memory up to its size can be read. Address 0 is left out, it is Rust's null.
    let memory = unsafe { core::slice::from_raw_parts(core::ptr::dangling::<u8>(), length - 1) };
    memory.chunks(1024).filter(|piece| piece.iter().all(|byte| *byte == LITTER)).count() as u32
}

#[cfg(not(target_arch = "wasm32"))]
pub fn look() -> u32 {
    0
}

/// Keep a configuration.
pub fn configure(configuration: String) {
    CONFIGURATION.set(Some(configuration));
}

/// The configuration that was kept, as 64 hex digits.
pub fn configuration() -> Option<String> {
    CONFIGURATION.with_borrow(|kept| kept.as_ref().map(|kept| format!("{:064x}", kept.len())))
}
