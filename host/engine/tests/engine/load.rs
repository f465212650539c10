//! What is loaded and what is not, and how a configuration gets into force.

use counterfoil_engine::{Engine, Limits, LoadError, Refusal, Source, bake, prepare};

use crate::support::{admit, hostile, hostile_engine};

fn load(component: Vec<u8>) -> Result<Engine, LoadError> {
    Engine::builder(Source::Component(component)).build()
}

fn configured(configuration: &str) -> Result<Engine, LoadError> {
    Engine::builder(Source::Component(hostile())).configuration(Some(configuration.to_owned())).build()
}

/// What the component answers for a configuration of this many bytes.
fn digest(bytes: usize) -> String {
    format!("{bytes:064x}")
}

#[test]
fn a_component_with_an_import_is_refused_by_name() {
    let importing = wat::parse_str(
        r#"(component (import "wasi:clocks/wall-clock@0.2.0" (instance (export "now" (func (result u64))))))"#,
    )
    .unwrap();
    let expected = LoadError::Imports { names: vec!["wasi:clocks/wall-clock@0.2.0".to_owned()] };
    assert_eq!(load(importing.clone()).expect_err("an import"), expected);
    assert_eq!(bake(&importing, "{}").expect_err("an import"), expected);
    assert!(expected.to_string().ends_with("imports `wasi:clocks/wall-clock@0.2.0`"), "{expected}");
}

#[test]
fn a_component_that_lacks_a_function_is_refused_by_name() {
    let empty = wat::parse_str("(component)").unwrap();
    let expected = LoadError::MissingExport { function: "counterfoil:policy/gate@0.1.0.decide".to_owned() };
    assert_eq!(load(empty).expect_err("nothing in it"), expected);
}

#[test]
fn what_is_no_component_is_refused() {
    let module = wat::parse_str("(module)").unwrap();
    let mut cut = hostile();
    cut.truncate(cut.len() / 2);
    for bytes in [Vec::new(), b"not wasm".to_vec(), b"(component)".to_vec(), module, cut] {
        assert!(matches!(load(bytes.clone()), Err(LoadError::Invalid { .. })), "{} bytes", bytes.len());
        assert!(bake(&bytes, "{}").is_err(), "{} bytes", bytes.len());
    }
}

#[test]
fn identity_says_what_was_loaded() {
    let engine = hostile_engine(Limits::default());
    let identity = engine.identity();
    assert_eq!(identity.component_size, hostile().len());
    assert_eq!(identity.component_sha256.len(), 64);
    assert_eq!((identity.version.as_str(), identity.contract.as_str()), ("0.0.0", "0.1.0"));
    assert!(!identity.precompiled);
    assert_eq!(identity.imports, Vec::<String>::new());
    for interface in ["vocabulary", "gate", "redaction", "receipts", "ledger", "about"] {
        assert!(identity.exports.contains(&format!("counterfoil:policy/{interface}@0.1.0")), "{interface}");
    }
}

#[test]
fn a_configuration_is_in_every_new_instance() {
    let engine = configured("twelve bytes").unwrap();
    assert_eq!(engine.identity().configuration_digest, digest(12));
    for _ in 0..3 {
        assert_eq!(engine.info().unwrap().configuration_digest, digest(12));
    }
    // The file that was given, not the one that was baked.
    assert_eq!(engine.identity().component_sha256, hostile_engine(Limits::default()).identity().component_sha256);
}

#[test]
fn a_refused_configuration_leaves_the_old_one_in_force() {
    let engine = configured("old").unwrap();
    let clone = engine.clone();
    let refused = LoadError::Configuration { message: "`refused` is no member".to_owned() };
    assert_eq!(engine.reload("refused").expect_err("refused"), refused);
    assert_eq!(configured("refused").expect_err("refused"), refused);
    assert_eq!(engine.reload("trap").expect_err("a trap"), LoadError::Refused(Refusal::Trap));
    assert_eq!(engine.reload("eat").expect_err("a glutton"), LoadError::Refused(Refusal::MemoryLimit));
    assert_eq!(engine.identity().configuration_digest, digest(3));
    engine.reload("newer").unwrap();
    assert_eq!(clone.identity().configuration_digest, digest(5));
    assert_eq!(clone.info().unwrap().configuration_digest, digest(5));
}

#[test]
fn a_configuration_that_never_ends_is_refused() {
    let limits = Limits { deadline_base: std::time::Duration::from_millis(200), ..Limits::default() };
    let engine = Engine::builder(Source::Component(hostile())).limits(limits);
    let refused = engine.configuration(Some("loop".to_owned())).build().expect_err("it never ends");
    assert_eq!(refused, LoadError::Refused(Refusal::Deadline));
}

#[test]
fn a_session_ends_with_the_configuration_that_it_began_with() {
    let engine = configured("old").unwrap();
    let mut session = engine.session().unwrap();
    engine.reload("newer").unwrap();
    assert_eq!(session.info().unwrap().configuration_digest, digest(3));
    assert_eq!(engine.info().unwrap().configuration_digest, digest(5));
}

#[test]
fn reload_does_not_wait_for_calls_and_calls_do_not_wait_for_it() {
    let engine = hostile_engine(Limits { max_instances: 1, ..Limits::default() });
    let held = engine.session().unwrap();
    engine.reload("newer").unwrap();
    drop(held);
    std::thread::scope(|scope| {
        let reloading = scope.spawn(|| engine.reload("newest"));
        for _ in 0..1000 {
            engine.admit(&admit("good", "{}")).unwrap();
        }
        reloading.join().unwrap().unwrap();
    });
    assert_eq!(engine.info().unwrap().configuration_digest, digest(6));
}

#[test]
fn baking_twice_gives_the_same_file() {
    let component = hostile();
    let once = bake(&component, "configuration").unwrap();
    assert_eq!(once, bake(&component, "configuration").unwrap());
    assert_ne!(once, bake(&component, "another configuration").unwrap());
    // A baked file can be baked anew, and holds its configuration for whoever loads it.
    assert_eq!(load(once.clone()).unwrap().identity().configuration_digest, digest(13));
    let again = bake(&once, "again").unwrap();
    assert_eq!(load(again).unwrap().identity().configuration_digest, digest(5));
}

#[test]
fn an_embedded_component_starts_without_compiling() {
    let prepared = prepare(&hostile(), "{}").unwrap();
    let (component, precompiled) = (prepared.component.leak(), prepared.precompiled.leak());
    let engine = Engine::builder(Source::Embedded { component, precompiled }).build().unwrap();
    assert!(engine.identity().precompiled);
    assert_eq!(engine.identity().configuration_digest, digest(2));
    engine.reload("newer").unwrap();
    assert!(!engine.identity().precompiled);
    assert_eq!(engine.info().unwrap().configuration_digest, digest(5));
}

#[test]
fn precompiled_code_that_does_not_suit_falls_back_to_compiling() {
    let prepared = prepare(&hostile(), "{}").unwrap();
    let component: &'static [u8] = prepared.component.leak();
    let cut = &*prepared.precompiled.clone().leak();
    for precompiled in [&[][..], b"no code", component, &cut[..cut.len() / 2]] {
        let engine = Engine::builder(Source::Embedded { component, precompiled }).build().unwrap();
        assert!(!engine.identity().precompiled);
        engine.admit(&admit("good", "{}")).unwrap();
    }
}

#[test]
fn no_instance_at_all_is_taken_as_one() {
    let engine = hostile_engine(Limits { max_instances: 0, ..Limits::default() });
    engine.admit(&admit("good", "{}")).unwrap();
}
