//! When the disk, the folder, the key or the lock is not as it should be: a clear error, and service again afterwards.

use crate::faulty::{Done, Faulty, Step};
use crate::workbench::{Bench, Native, entry};
use counterfoil_evidence::store::DiskStore;
use counterfoil_evidence::{EvidenceError, Run, RunOptions, RunStatus, StateDir};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_full_or_read_only_disk_is_named_and_served_again_afterwards() {
    let cases = [
        (Step::Journal, Done::Nothing, ErrorKind::StorageFull, "storage_full", false),
        (Step::Journal, Done::Bytes(33), ErrorKind::StorageFull, "storage_full", false),
        (Step::Receipt, Done::Nothing, ErrorKind::StorageFull, "storage_full", true),
        (Step::Ledger, Done::Nothing, ErrorKind::QuotaExceeded, "storage_full", true),
        (Step::Ledger, Done::Bytes(77), ErrorKind::StorageFull, "storage_full", true),
        (Step::Turn, Done::Nothing, ErrorKind::ReadOnlyFilesystem, "read_only", false),
        (Step::Journal, Done::Nothing, ErrorKind::PermissionDenied, "read_only", false),
    ];
    for (step, done, kind, code, promised) in cases {
        let bench = Bench::new();
        let id = bench.start().id().clone();
        let store = Faulty::new(DiskStore::new(bench.state.clone(), id.clone()));
        let run = Run::attach_with(&bench.state, &id, Arc::clone(&bench.authority), Arc::new(store.clone())).unwrap();
        run.record(entry(&id)).unwrap();
        store.fail(step, done, kind);
        for _ in 0..3 {
            let error = run.record(entry(&id)).unwrap_err();
            assert_eq!(error.code(), code, "{step:?} {done:?}");
            assert!(error.is_passing());
            assert!(error.to_string().starts_with("cannot write `injected`: "), "{error}");
        }
        store.heal();
        run.record(entry(&id)).unwrap();
        // What was promised before the fault is carried out, though its caller was told of an error: it is never less than
        // what was acknowledged.
        let events = bench.strict(&id).events_verified;
        assert!(if promised { (3..=5).contains(&events) } else { events == 2 }, "{step:?} {done:?}: {events}");
        bench.assert_sound(&id, events);
        run.end(RunStatus::Completed).unwrap();
        bench.assert_sound(&id, events);
    }
}

#[test]
fn a_journal_that_cannot_be_emptied_costs_nobody_anything() {
    let bench = Bench::new();
    let id = bench.start().id().clone();
    let store = Faulty::new(DiskStore::new(bench.state.clone(), id.clone()));
    let run = Run::attach_with(&bench.state, &id, Arc::clone(&bench.authority), Arc::new(store.clone())).unwrap();
    store.fail(Step::Settle, Done::Nothing, ErrorKind::StorageFull);
    for _ in 0..3 {
        run.record(entry(&id)).unwrap();
    }
    assert_eq!(run.end(RunStatus::Completed).unwrap_err().code(), "storage_full");
    run.record(entry(&id)).unwrap();
    store.heal();
    assert_eq!(run.end(RunStatus::Completed).unwrap().event_count(), Some(4));
    bench.assert_sound(&id, 4);
}

/// A real file system of 64 KiB, where the test may mount one.
struct Small(std::path::PathBuf);

impl Small {
    fn mount(at: &Path) -> Option<Self> {
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=96k", "tmpfs"]).arg(at).status();
        mounted.is_ok_and(|status| status.success()).then(|| Self(at.to_owned()))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_file_system_that_fills_up_loses_nothing_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    // Without the right to mount, the injected faults above stand for this.
    let Some(small) = Small::mount(dir.path()) else { return };
    let bench = Bench { state: StateDir::at(dir.path().join(".roam")), ..Bench::new() };
    let run = bench.start();
    let id = run.id().clone();
    let mut recorded = 0;
    let mut refused = 0;
    while refused < 5 {
        match run.record(entry(&id)) {
            Ok(_) => recorded += 1,
            Err(error) => {
                assert_eq!(error.code(), "storage_full", "{error}");
                refused += 1;
            }
        }
        assert!(recorded < 10_000);
    }
    assert!(recorded > 3);
    let remounted = Command::new("mount").args(["-o", "remount,size=4m"]).arg(&small.0).status().unwrap();
    assert!(remounted.success());
    run.record(entry(&id)).unwrap();
    let events = bench.strict(&id).events_verified;
    assert!(events > recorded, "{events} of {recorded}");
    bench.assert_sound(&id, events);
    drop(run);
}

#[test]
fn a_folder_that_was_deleted_is_an_error_until_it_is_back() {
    let bench = Bench::new();
    let run = bench.start();
    run.record(entry(run.id())).unwrap();
    let aside = bench.dir.path().join("aside");
    for gone in [bench.state.run_path(run.id()), bench.state.path().to_owned(), bench.events(run.id())] {
        fs::rename(&gone, &aside).unwrap();
        let error = run.record(entry(run.id())).unwrap_err();
        assert_eq!(error.code(), "folder_missing", "{error}");
        assert!(!gone.exists(), "nothing is made anew in its place");
        fs::rename(&aside, &gone).unwrap();
        run.record(entry(run.id())).unwrap();
    }
    bench.assert_sound(run.id(), 4);
}

#[test]
fn something_else_in_a_folders_place_is_an_error_until_it_is_gone() {
    let bench = Bench::new();
    let run = bench.start();
    run.record(entry(run.id())).unwrap();
    let aside = bench.dir.path().join("aside");
    for place in [bench.state.path().join("mcp_receipts"), bench.state.path().join("counterfoil")] {
        fs::rename(&place, &aside).unwrap();
        fs::write(&place, b"in the way").unwrap();
        let error = run.record(entry(run.id())).unwrap_err();
        assert!(matches!(error, EvidenceError::Io { .. }));
        fs::remove_file(&place).unwrap();
        // Nor is a link to the genuine folder followed.
        std::os::unix::fs::symlink(&aside, &place).unwrap();
        assert!(run.record(entry(run.id())).is_err());
        fs::remove_file(&place).unwrap();
        fs::rename(&aside, &place).unwrap();
        run.record(entry(run.id())).unwrap();
    }
    bench.assert_sound(run.id(), 3);
}

#[test]
fn a_corrupt_key_starts_nothing_and_is_left_as_it_is() {
    let bench = Bench::new();
    bench.start();
    let path = bench.state.path().join("runs/.ledger_key");
    fs::write(&path, b"short").unwrap();
    let runs_before = fs::read_dir(bench.state.path().join("runs")).unwrap().count();
    let start = || Run::start(&bench.state, RunOptions::default(), Arc::new(Native));
    let error = start().unwrap_err();
    assert_eq!(error.code(), "key_invalid");
    assert!(error.to_string().contains("5 bytes instead of 32"));
    assert_eq!(fs::read(&path).unwrap(), b"short");
    assert_eq!(fs::read_dir(bench.state.path().join("runs")).unwrap().count(), runs_before);
    fs::write(&path, [9; 32]).unwrap();
    start().unwrap();
}

#[test]
fn a_key_that_is_not_the_runs_own_withholds_until_it_is_back() {
    let bench = Bench::new();
    let run = bench.start();
    run.record(entry(run.id())).unwrap();
    let path = bench.state.path().join("runs/.ledger_key");
    let aside = bench.dir.path().join("aside");
    let private: fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    let other = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, Clone::clone(&private)).unwrap();
    };
    let faults: [(&str, &dyn Fn()); 6] = [
        ("key_missing", &|| ()),
        ("key_changed", &|| other(&[9; 32])),
        ("key_invalid", &|| other(b"")),
        ("key_invalid", &|| other(&bench_key_and_more(&aside))),
        ("key_exposed", &|| {
            fs::copy(&aside, &path).unwrap();
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        }),
        ("io", &|| std::os::unix::fs::symlink(&aside, &path).unwrap()),
    ];
    for (code, fault) in faults {
        fs::rename(&path, &aside).unwrap();
        fault();
        let before = (bench.ledger(run.id()), fs::read(bench.journal(run.id())).unwrap());
        for _ in 0..2 {
            let error = run.record(entry(run.id())).unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            assert!(error.is_passing());
        }
        assert_eq!(run.end(RunStatus::Completed).unwrap_err().code(), code);
        let after = (bench.ledger(run.id()), fs::read(bench.journal(run.id())).unwrap());
        assert_eq!(before, after, "{code}: nothing is promised or signed");
        // A rename over it leaves no moment without a key.
        fs::rename(&aside, &path).unwrap();
        run.record(entry(run.id())).unwrap();
    }
    // Written over in place, with the same length and within one tick of the clock.
    let right = bench.key();
    fs::write(&path, [8; 32]).unwrap();
    assert_eq!(run.record(entry(run.id())).unwrap_err().code(), "key_changed");
    fs::write(&path, right).unwrap();
    run.record(entry(run.id())).unwrap();
    bench.assert_sound(run.id(), 8);
}

fn bench_key_and_more(path: &Path) -> Vec<u8> {
    let mut bytes = fs::read(path).unwrap();
    bytes.push(0);
    bytes
}

#[test]
fn without_the_key_of_signed_runs_no_new_one_is_made() {
    let bench = Bench::new();
    let id = bench.start().id().clone();
    bench.attach(&id).record(entry(&id)).unwrap();
    let path = bench.state.path().join("runs/.ledger_key");
    let aside = bench.dir.path().join("aside");
    fs::rename(&path, &aside).unwrap();
    let start = || Run::start(&bench.state, RunOptions::default(), Arc::new(Native));
    let error = start().unwrap_err();
    assert_eq!(error.code(), "key_lost");
    assert!(error.to_string().contains("put the key back, or move the runs away"), "{error}");
    assert!(!path.exists());
    fs::rename(&aside, &path).unwrap();
    start().unwrap();
    bench.assert_sound(&id, 1);
    // Without any signed event there is nothing to lose.
    fs::remove_file(&path).unwrap();
    fs::write(bench.events(&id), "{\"action\": \"noted\"}\n").unwrap();
    start().unwrap();
    assert_eq!(bench.key().len(), 32);
}

#[test]
fn a_lock_that_is_held_times_out_and_is_taken_afterwards() {
    let bench = Bench::new();
    let id = bench.start().id().clone();
    let store = DiskStore::new(bench.state.clone(), id.clone()).with_patience(Duration::from_millis(120));
    let run = Run::attach_with(&bench.state, &id, Arc::clone(&bench.authority), Arc::new(store)).unwrap();
    let lock_path = bench.state.run_path(&id).join("events.jsonl.lock");
    let lock = fs::OpenOptions::new().write(true).open(&lock_path).unwrap();
    lock.lock().unwrap();
    let error = run.record(entry(&id)).unwrap_err();
    assert_eq!(error.code(), "lock_timeout");
    assert!(error.is_passing());
    drop(lock);
    run.record(entry(&id)).unwrap();
    // A lock file that is gone is made again, as roam-code makes it.
    fs::remove_file(&lock_path).unwrap();
    run.record(entry(&id)).unwrap();
    assert_eq!(fs::read(&lock_path).unwrap(), [0]);
    bench.assert_sound(&id, 2);
}

#[test]
fn where_nothing_can_be_recorded_no_run_is_started() {
    for place in ["mcp_receipts", "counterfoil"] {
        let bench = Bench::new();
        fs::create_dir_all(bench.state.path()).unwrap();
        fs::write(bench.state.path().join(place), "in the way").unwrap();
        let error = Run::start(&bench.state, RunOptions::default(), Arc::new(Native)).unwrap_err();
        assert!(error.to_string().contains(place), "{error}");
        assert!(counterfoil_evidence::runs::list(&bench.state).unwrap().is_empty());
        fs::remove_file(bench.state.path().join(place)).unwrap();
        bench.start();
    }
}

#[test]
fn an_unreachable_state_folder_is_a_clear_error() {
    let bench = Bench::new();
    fs::write(bench.dir.path().join("file"), b"").unwrap();
    let state = StateDir::at(bench.dir.path().join("file/.roam"));
    let error = Run::start(&state, RunOptions::default(), Arc::new(Native)).unwrap_err();
    assert!(error.to_string().contains("something that is no folder stands in its place"), "{error}");
}
