//! Results as JUnit XML, as build servers show them.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::Tested;
use crate::output::Stop;

/// The report: a suite for each file, a case for each case, named with its place.
pub(super) fn report(tested: &[Tested<'_>]) -> Result<String, Stop> {
    let mut report = Report::new("orbgate test");
    for tested in tested {
        let mut suite = TestSuite::new(tested.file);
        for tried in &tested.cases {
            let status = if tried.passed() {
                TestCaseStatus::success()
            } else {
                let lines: Vec<_> = tried.differences.iter().map(ToString::to_string).collect();
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_message(lines.join("; "));
                status.set_description(format!("{}\n{}", lines.join("\n"), tested.why(tried)));
                status
            };
            let name = format!("{}: {}", tried.case.place, tried.case.name);
            let mut case = TestCase::new(name, status);
            case.set_classname(tested.file);
            suite.add_test_case(case);
        }
        report.add_test_suite(suite);
    }
    report
        .to_string()
        .map_err(|error| Stop::Error(format!("cannot write JUnit XML: {error}")))
}
