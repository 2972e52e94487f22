//! Any policy laid out: the same policy, and laid out again it stays as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orbgate::Policy;
use orbgate_analysis::format;

fuzz_target!(|text: &str| {
    let Ok(laid_out) = format(text) else { return };
    let digest = |text: &str| Policy::from_yaml(text).expect("what is laid out is valid").digest();
    assert_eq!(digest(text), digest(&laid_out));
    assert_eq!(format(&laid_out).as_deref(), Ok(laid_out.as_str()));
});
