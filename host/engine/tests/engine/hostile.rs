//! A component that misbehaves is refused in bounded time, with a reason, and leaves nothing behind.

use std::time::{Duration, Instant};

use counterfoil_engine::types::{Decision, Error, Form, Mode, Tail};
use counterfoil_engine::{Engine, Limits, Refusal};

use crate::support::{admit, call, hostile_engine, settle};

/// Short deadlines, so that the tests are quick; a good call needs a thousandth of them.
fn short() -> Limits {
    Limits { deadline_base: Duration::from_millis(250), ..Limits::default() }
}

/// The engine answers a good call now.
fn serves(engine: &Engine) {
    let admission = engine.admit(&admit("good", r#"{"n": 1}"#)).expect("a good call is answered");
    assert_eq!(admission.arguments.as_deref(), Some(r#"{"n": 1}"#));
    assert_eq!(admission.judgement.decision, Decision::Allow);
}

/// This misdeed gives this refusal before `within`, and the engine goes on.
fn refused(engine: &Engine, misdeed: &str, code: &str, within: Duration) {
    let begin = Instant::now();
    let refusal = engine.admit(&admit(misdeed, "{}")).expect_err(misdeed);
    assert_eq!(refusal.code(), code, "{misdeed}: {refusal}");
    assert!(begin.elapsed() < within, "{misdeed}: {:?}", begin.elapsed());
    serves(engine);
    let refusal = engine.settle(&settle(misdeed, "{}")).expect_err(misdeed);
    assert_eq!(refusal.code(), code, "{misdeed}: {refusal}");
    serves(engine);
}

#[test]
fn a_trap_is_refused() {
    refused(&hostile_engine(short()), "trap", "trap", Duration::from_secs(1));
}

#[test]
fn an_endless_call_is_stopped_at_its_deadline() {
    let engine = hostile_engine(short());
    let begin = Instant::now();
    assert_eq!(engine.admit(&admit("loop", "{}")), Err(Refusal::Deadline));
    assert!(begin.elapsed() >= Duration::from_millis(250), "{:?}", begin.elapsed());
    refused(&engine, "loop", "deadline", Duration::from_secs(3));
}

#[test]
fn the_deadline_grows_with_the_input() {
    let limits = Limits {
        deadline_base: Duration::from_millis(50),
        deadline_per_mib: Duration::from_millis(400),
        ..Limits::default()
    };
    let engine = hostile_engine(limits);
    let begin = Instant::now();
    let large = format!("\"{}\"", "x".repeat(1 << 20));
    assert_eq!(engine.admit(&admit("loop", &large)), Err(Refusal::Deadline));
    assert!(begin.elapsed() >= Duration::from_millis(450), "{:?}", begin.elapsed());
}

#[test]
fn memory_without_end_is_refused() {
    refused(&hostile_engine(Limits::default()), "eat", "memory_limit", Duration::from_secs(1));
}

#[test]
fn a_full_stack_is_refused() {
    refused(&hostile_engine(short()), "sink", "trap", Duration::from_secs(1));
}

#[test]
fn answers_that_contradict_themselves_are_refused() {
    let engine = hostile_engine(short());
    for (tool, what) in [
        ("hash", "a hash is not 64 lower-case hex digits"),
        ("json", "a text is not JSON"),
        ("answered", "a call that may run has a result already"),
        ("count-nothing", "something was found no times"),
    ] {
        assert_eq!(engine.admit(&admit(tool, "{}")), Err(Refusal::Nonsense { what }), "{tool}");
        serves(&engine);
    }
    let nonsense = |refusal: Refusal| assert_eq!(refusal.code(), "nonsense", "{refusal}");
    nonsense(engine.settle(&settle("receipt", "{}")).expect_err("the receipt has another hash"));
    nonsense(engine.settle(&settle("good", "not JSON")).expect_err("the outcome is not JSON"));
    nonsense(engine.redact_text("contradiction").expect_err("a find without a change"));
    nonsense(engine.scan_markers("").expect_err("finds out of order"));
    nonsense(engine.redact_pieces(&["a".to_owned()]).expect_err("one piece too few"));
    nonsense(engine.seal("{}").expect_err("a wrong hash"));
    nonsense(engine.input_hash("{}").expect_err("a short hash"));
    nonsense(engine.output_of("{}").expect_err("a hash and a handle"));
    nonsense(engine.canonicalize("{", Form::Receipt).expect_err("not JSON"));
    nonsense(engine.read_tail(b"").expect_err("a signature of one letter"));
    let judgement = engine.decide(&call("denied")).expect("a denial is an answer");
    nonsense(engine.blocked_envelope("x", None, &judgement).expect_err("not JSON"));
    let tail = Tail { lines: 0, signature: None, complete: true, sound: true };
    nonsense(engine.sign(&[0; 32], &tail, &["{}".to_owned()]).expect_err("an event too few"));
}

#[test]
fn errors_of_the_component_keep_their_kind() {
    let engine = hostile_engine(short());
    let refusal = engine.admit(&admit("error", "{}")).expect_err("an error");
    assert_eq!(refusal, Refusal::Policy(Error::InvalidArgument("an error of the component's own".to_owned())));
    assert_eq!(refusal.code(), "invalid_argument");
    assert_eq!(refusal.to_string(), "an error of the component's own");
    assert_eq!(engine.redact_text_bytes(b"\xff").expect_err("not UTF-8").code(), "invalid_utf8");
}

#[test]
fn input_over_the_limit_never_reaches_the_component() {
    let engine = hostile_engine(Limits { max_input_bytes: 1000, max_ledger_bytes: 2000, ..short() });
    // This word would trap.
    let arguments = "x".repeat(1001 - "trap".len());
    assert_eq!(engine.admit(&admit("trap", &arguments)), Err(Refusal::InputTooLarge { size: 1001, limit: 1000 }));
    assert_eq!(engine.admit(&admit("trap", arguments.split_at(1).1)), Err(Refusal::Trap));
    assert!(engine.verify_chain(&[0; 32], &[b'x'; 1968]).is_ok());
    assert_eq!(engine.verify_chain(&[0; 32], &[b'x'; 1969]), Err(Refusal::InputTooLarge { size: 2001, limit: 2000 }));
}

#[test]
fn a_full_pool_refuses_after_a_bounded_wait() {
    let engine = hostile_engine(Limits { max_instances: 2, wait: Duration::from_millis(100), ..short() });
    let held = [engine.session().unwrap(), engine.session().unwrap()];
    let begin = Instant::now();
    let refusal = engine.admit(&admit("good", "{}")).expect_err("no place");
    let waited = begin.elapsed();
    assert_eq!(refusal.code(), "busy");
    assert!(waited >= Duration::from_millis(100) && waited < Duration::from_secs(1), "{waited:?}");
    drop(held);
    serves(&engine);
}

#[test]
fn a_call_waits_for_a_slow_one_to_end() {
    let limits = Limits {
        max_instances: 1,
        wait: Duration::from_secs(30),
        deadline_base: Duration::from_secs(30),
        ..Limits::default()
    };
    let engine = hostile_engine(limits);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| engine.admit(&admit("hold", "{}")));
        std::thread::sleep(Duration::from_millis(50));
        serves(&engine);
        assert!(slow.join().unwrap().is_ok());
    });
}

#[test]
fn nothing_of_one_call_is_in_memory_in_the_next() {
    let engine = hostile_engine(Limits { max_instances: 1, ..Limits::default() });
    let left = |hits: Vec<counterfoil_engine::types::Hit>| hits.iter().map(|hit| hit.hits - 1).sum::<u32>();

    // The litter is found by the call that left it, so the search is able to find it.
    let mut session = engine.session().unwrap();
    session.tool_command("leave").unwrap();
    assert!(left(session.admit(&admit("look", "{}")).unwrap().secrets) >= 6000);
    drop(session);

    for _ in 0..20 {
        assert_eq!(left(engine.admit(&admit("look", "{}")).unwrap().secrets), 0);
        engine.tool_command("leave").unwrap();
    }
}

#[test]
fn many_threads_get_each_their_own_answers() {
    let engine = hostile_engine(Limits { max_instances: 3, wait: Duration::from_secs(60), ..Limits::default() });
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let engine = engine.clone();
            scope.spawn(move || {
                for round in 0..200 {
                    let arguments = format!(r#"{{"thread": {thread}, "round": {round}}}"#);
                    if round % 10 == 9 {
                        assert_eq!(engine.admit(&admit("trap", &arguments)), Err(Refusal::Trap));
                    } else {
                        let admission = engine.admit(&admit("good", &arguments)).expect("answered");
                        assert_eq!(admission.arguments, Some(arguments));
                    }
                }
            });
        }
    });
}

#[test]
fn a_session_that_failed_is_not_asked_again() {
    let engine = hostile_engine(short());
    let mut session = engine.session().unwrap();
    assert_eq!(session.command_name("abc").unwrap(), "cba");
    assert_eq!(session.admit(&admit("error", "{}")).expect_err("an error").code(), "invalid_argument");
    assert_eq!(session.command_name("abc").unwrap(), "cba");
    assert_eq!(session.input_hash("{}").expect_err("nonsense").code(), "nonsense");
    assert_eq!(session.command_name("abc"), Err(Refusal::Trap));
}

#[test]
fn a_stream_keeps_its_instance_and_its_state() {
    let engine = hostile_engine(Limits { max_instances: 2, wait: Duration::ZERO, ..short() });
    let mut stream = engine.redactor().unwrap();
    assert_eq!(stream.push(b"one").unwrap(), b"");
    assert_eq!(stream.push(b"two").unwrap(), b"one");
    serves(&engine);
    let other = engine.redactor().unwrap();
    assert_eq!(engine.redactor().expect_err("both places are taken").code(), "busy");
    drop(other);
    assert_eq!(stream.finish().unwrap(), b"two");
    assert_eq!(stream.finish().expect_err("ended").code(), "invalid_argument");
    assert_eq!(stream.push(b"three").expect_err("ended").code(), "invalid_argument");
    assert_eq!(stream.secrets().unwrap(), []);
}

#[test]
fn a_stream_is_bounded_piece_by_piece() {
    let engine = hostile_engine(Limits { max_input_bytes: 100, ..short() });
    let mut stream = engine.redactor().unwrap();
    assert_eq!(stream.push(&[b'x'; 101]), Err(Refusal::InputTooLarge { size: 101, limit: 100 }));
    // The deadline counts for each piece, not for the stream.
    std::thread::sleep(Duration::from_millis(300));
    stream.push(b"one").unwrap();
    let begin = Instant::now();
    assert_eq!(stream.push(b"loop"), Err(Refusal::Deadline));
    assert!(begin.elapsed() < Duration::from_secs(2));
    assert_eq!(stream.finish(), Err(Refusal::Trap));
}

#[test]
fn answers_that_are_only_words_come_through() {
    let engine = hostile_engine(short());
    assert_eq!(engine.command_name("größe").unwrap(), "eßörg");
    assert_eq!(engine.resolve_mode(None, Some("x"), None).unwrap().mode, Mode::SafeEdit);
    assert_eq!(engine.parse_mode("x").expect_err("unknown").code(), "unknown_mode");
}
