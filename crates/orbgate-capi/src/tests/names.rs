//! Codes, names and versions match the core's.

use orbgate::{Detail, Reason};

use super::{OK, said, text};
use crate::names::{
    orbgate_detail_name, orbgate_explanation, orbgate_reason_name, orbgate_status_name, orbgate_token_kind_from_name,
};
use crate::version::{orbgate_abi_version, orbgate_version};

#[test]
fn reasons_and_details_are_those_of_the_core() {
    for reason in Reason::ALL {
        let number = reason.number();
        assert_eq!(said(orbgate_reason_name(number)), reason.as_str());
        assert_eq!(said(orbgate_explanation(number, 0)), reason.explanation());
    }
    for detail in Detail::ALL {
        let number = detail.number();
        assert_eq!(said(orbgate_detail_name(number)), detail.as_str());
        let reason = detail.reason().number();
        assert_eq!(said(orbgate_explanation(reason, number)), detail.explanation());
    }
    let (reasons, details) = (Reason::ALL.len() as u8, Detail::ALL.len() as u8);
    for number in [0, reasons + 1, 255] {
        assert_eq!(said(orbgate_reason_name(number)), "-");
        assert_eq!(said(orbgate_explanation(number, 0)), "-");
    }
    assert_eq!(said(orbgate_detail_name(0)), "-");
    for number in [details + 1, 255] {
        assert_eq!(said(orbgate_detail_name(number)), "-");
        assert_eq!(said(orbgate_explanation(1, number)), "-");
    }
}

#[test]
fn statuses_have_names() {
    let names = [
        "ok",
        "invalid_argument",
        "invalid_policy",
        "io",
        "not_found",
        "panic",
        "invalid_configuration",
        "too_small",
        "full",
    ];
    for (number, name) in (0..).zip(names) {
        assert_eq!(said(orbgate_status_name(number)), name);
    }
    assert_eq!(said(orbgate_status_name(9)), "-");
    assert_eq!(said(orbgate_status_name(-1)), "-");
}

#[test]
fn token_kinds_are_read_by_name() {
    for (name, kind) in [("user", 1), ("organisation", 2), ("User", 0), ("", 0), ("none", 0)] {
        let (data, len) = text(name);
        let mut actual = 9;
        let status = unsafe { orbgate_token_kind_from_name(data, len, &mut actual) };
        assert_eq!((status, actual), (OK, kind), "{name}");
    }
}

#[test]
fn versions_are_the_packages() {
    let version = said(orbgate_version());
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    assert_eq!(orbgate_abi_version() >> 16, 1);
}
