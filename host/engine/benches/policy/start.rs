//! From the start of the program to its first answer.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::turns::middle;

const STARTS: usize = 20;

/// Print the median over some starts, or why there is none.
pub(crate) fn print(target: &Path) {
    let program = target.join("release/counterfoil");
    if !program.is_file() {
        println!("start to first answer: `{}` is missing, run `cargo xtask build` first", program.display());
        return;
    }
    let times: Option<Vec<Duration>> = (0..STARTS).map(|_| first_answer(&program)).collect();
    match times {
        Some(times) => println!("start to first answer: {:.1} ms", middle(times).as_secs_f64() * 1e3),
        None => println!("start to first answer: `{} redact --jsonl` gave none", program.display()),
    }
}

fn first_answer(program: &Path) -> Option<Duration> {
    let begin = Instant::now();
    let mut child = Command::new(program)
        .args(["redact", "--jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let answer = child.stdin.take().zip(child.stdout.take()).and_then(|(mut input, output)| {
        input.write_all(b"{\"message\": \"hello\"}\n").ok()?;
        drop(input);
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).ok().filter(|read| *read > 0)
    });
    let time = begin.elapsed();
    child.wait().ok()?;
    answer.map(|_| time)
}
