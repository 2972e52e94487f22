//! Results as JUnit XML, which build servers display.

use std::io;

use orbgate::Location;
use orbgate_analysis::{Proved, Tried};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::tested::Tested;
use crate::output::{Stop, one_line};

type Xml = Writer<Vec<u8>>;

/// The report: a suite for each file, and a test case for each case, named with its location.
pub(super) fn report(tested: &[Tested<'_>]) -> Result<Vec<u8>, Stop> {
    let mut xml = Xml::new_with_indent(Vec::new(), b' ', 4);
    match write(&mut xml, tested) {
        Ok(()) => Ok(xml.into_inner()),
        Err(error) => Err(Stop::Error(format!("cannot write JUnit XML: {error}"))),
    }
}

fn write(xml: &mut Xml, tested: &[Tested<'_>]) -> io::Result<()> {
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let suites = xml.create_element("testsuites");
    let suites = suites.with_attribute(("name", "orbgate test"));
    let suites = suites.with_attributes(shown(&counts(tested)));
    suites.write_inner_content(|xml| tested.iter().try_for_each(|tested| suite(xml, tested)))?;
    xml.write_indent()
}

fn suite(xml: &mut Xml, tested: &Tested<'_>) -> io::Result<()> {
    let file = one_line(tested.file);
    let suite = xml.create_element("testsuite");
    let suite = suite.with_attribute(("name", &*file));
    let suite = suite.with_attributes(shown(&counts(core::slice::from_ref(tested))));
    suite.write_inner_content(|xml| {
        let mut cases = tested.cases.iter();
        cases.try_for_each(|tried| case(xml, tested, tried))?;
        let mut properties = tested.properties.iter();
        properties.try_for_each(|proved| property(xml, tested, proved))
    })?;
    Ok(())
}

fn case(xml: &mut Xml, tested: &Tested<'_>, tried: &Tried<'_, '_>) -> io::Result<()> {
    let case = &tried.case;
    let differences: Vec<_> = tried.differences.iter().map(ToString::to_string).collect();
    let message = differences.join("; ");
    let lines = differences.into_iter().chain([tested.why(tried)]);
    let failure = (!tried.passed()).then(|| (message, lines.collect()));
    let warnings: Vec<_> = tried.slips.iter().map(String::as_str).collect();
    test(xml, tested, (case.location, &case.name), failure, &warnings)
}

fn property(xml: &mut Xml, tested: &Tested<'_>, proved: &Proved<'_, '_>) -> io::Result<()> {
    let stated = &proved.stated;
    let failure = (!proved.holds()).then(|| ("it does not hold".to_owned(), tested.against(proved)));
    let warnings: Vec<_> = proved.warning().into_iter().collect();
    test(xml, tested, (stated.location, &stated.text), failure, &warnings)
}

/// A test with its location, name and warnings. If it failed, also with a message and lines.
fn test(
    xml: &mut Xml,
    tested: &Tested<'_>,
    (location, name): (Location, &str),
    failure: Option<(String, Vec<String>)>,
    warnings: &[&str],
) -> io::Result<()> {
    let name = format!("{location}: {name}");
    let case = xml.create_element("testcase");
    let case = case.with_attribute(("name", &*one_line(&name)));
    let case = case.with_attribute(("classname", &*one_line(tested.file)));
    if failure.is_none() && warnings.is_empty() {
        case.write_empty()?;
        return Ok(());
    }
    case.write_inner_content(|xml| {
        if let Some((message, lines)) = &failure {
            let lines: Vec<_> = lines.iter().map(|line| one_line(line)).collect();
            let failure = xml.create_element("failure");
            let failure = failure.with_attribute(("message", &*one_line(message)));
            failure.write_text_content(BytesText::new(&lines.join("\n")))?;
        }
        if !warnings.is_empty() {
            let warnings = warnings.iter().map(|text| one_line(text));
            let lines: Vec<_> = warnings.map(|text| format!("warning: {text}")).collect();
            let out = xml.create_element("system-out");
            out.write_text_content(BytesText::new(&lines.join("\n")))?;
        }
        Ok(())
    })?;
    Ok(())
}

fn counts(tested: &[Tested<'_>]) -> [(&'static str, String); 4] {
    let cases: usize = tested.iter().map(|tested| tested.cases.len().saturating_add(tested.properties.len())).sum();
    let failed: usize =
        tested.iter().map(|tested| tested.failed().count().saturating_add(tested.refuted().count())).sum();
    let counts = [("tests", cases), ("skipped", 0), ("failures", failed), ("errors", 0)];
    counts.map(|(name, count)| (name, count.to_string()))
}

fn shown<'a>(counts: &'a [(&'static str, String)]) -> impl Iterator<Item = (&'a str, &'a str)> {
    counts.iter().map(|(name, count)| (*name, count.as_str()))
}
