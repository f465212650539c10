//! Configurations: every text is taken or refused with a reason, and what is taken has one digest.

#![no_main]

use counterfoil_core::{Configuration, Error};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|json: &str| match Configuration::parse(json) {
    Ok(configuration) => {
        let again = Configuration::parse(json).expect("a text that was taken is taken again");
        assert_eq!(configuration.digest(), again.digest());
    }
    Err(error) =>
        assert!(matches!(error, Error::InvalidJson(_) | Error::UnsupportedValue(_) | Error::InvalidConfiguration(_))),
});
