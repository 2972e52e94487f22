//! A bill of materials in CycloneDX's JSON: the crates that are in an artefact, as cargo resolves them for its targets.
//!
//! By hand, because cargo-cyclonedx takes minutes to build, and writes one for each crate into the sources, with the features of the
//! whole workspace.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde_json::{Value, json};

use super::artefact::Artefact;
use super::release::Release;
use crate::kit::program::Program;

/// Package URLs, each with its licence and with what it depends on.
type Graph = BTreeMap<String, (String, BTreeSet<String>)>;

/// The document, for an artefact of this name and digest.
pub(super) fn bill(
    release: &Release<'_>,
    artefact: &Artefact,
    name: &str,
    digest: &str,
) -> Result<String> {
    let mut graph = Graph::new();
    let mut roots: BTreeSet<String> = artefact.needs.iter().cloned().collect();
    for need in &artefact.needs {
        graph.entry(need.clone()).or_default();
    }
    let targets: &[String] = match artefact.targets.as_slice() {
        [] => &["all".to_owned()],
        targets => targets,
    };
    for target in targets.iter().filter(|_| !artefact.package.is_empty()) {
        let tree =
            Program::parse("cargo tree --locked --edges normal,no-proc-macro --prefix depth");
        let tree = tree.args(["--format", "{p}\t{l}", "--target", target]);
        let tree = tree.args(["--package", &artefact.package]);
        roots.extend(read(&tree.read()?, &mut graph));
    }
    let component = |(purl, (licence, _)): (&String, &(String, _))| -> Value {
        let (name, version) = name_and_version(purl);
        let licences = (!licence.is_empty()).then(|| json!({ "expression": licence }));
        json!({
            "type": "library", "bom-ref": purl, "purl": purl, "name": name, "version": version,
            "licenses": licences.into_iter().collect::<Vec<_>>(),
        })
    };
    let components: Vec<_> = graph.iter().map(component).collect();
    let edges = graph
        .iter()
        .map(|(purl, (_, needs))| json!({ "ref": purl, "dependsOn": needs }));
    let own = json!({ "ref": name, "dependsOn": roots });
    let dependencies: Vec<_> = core::iter::once(own).chain(edges).collect();
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "file", "bom-ref": name, "name": name, "version": release.version,
            "hashes": [{ "alg": "SHA-256", "content": digest }],
        } },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&document)?))
}

/// Reads a tree, each line with its depth before it, and gives the roots. A package that occurs twice has its parts only at its
/// first place.
fn read(tree: &str, graph: &mut Graph) -> Vec<String> {
    let mut above: Vec<String> = Vec::new();
    let mut roots = Vec::new();
    for line in tree.lines() {
        let name = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let depth = line.strip_suffix(name).and_then(|depth| depth.parse().ok());
        let (Some(depth), Some((package, licence))) = (depth, name.split_once('\t')) else {
            continue;
        };
        let mut words = package.split(' ');
        let (name, version) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let purl = format!("pkg:cargo/{name}@{}", version.trim_start_matches('v'));
        // `MIT/Apache-2.0` is how it was written once.
        let licence = licence.trim_end_matches(" (*)").replace('/', " OR ");
        graph.entry(purl.clone()).or_default().0 = licence;
        above.truncate(depth);
        match above.last() {
            None => roots.push(purl.clone()),
            Some(parent) => {
                let parent = graph.entry(parent.clone()).or_default();
                parent.1.insert(purl.clone());
            }
        }
        above.push(purl);
    }
    roots
}

/// `a` and `1` of `pkg:cargo/a@1`.
fn name_and_version(purl: &str) -> (&str, &str) {
    let (name, version) = purl.rsplit_once('@').unwrap_or((purl, ""));
    (name.split_once('/').map_or(name, |(_, name)| name), version)
}

#[cfg(test)]
mod tests {
    use super::{Graph, read};

    #[test]
    fn a_tree_is_read_with_what_depends_on_what() {
        let tree = "0orbgate-capi v0.1.0 (/a b/c)\tMIT OR Apache-2.0\n1arc-swap v1.9.3\tMIT/Apache-2.0\n1orbgate v0.1.0 (/d)\tMIT\n\
            2serde v1.0.2\tMIT\n1serde v1.0.2\tMIT (*)\n";
        let mut graph = Graph::new();
        assert_eq!(read(tree, &mut graph), ["pkg:cargo/orbgate-capi@0.1.0"]);
        let (licence, needs) = &graph["pkg:cargo/orbgate-capi@0.1.0"];
        assert_eq!((licence.as_str(), needs.len()), ("MIT OR Apache-2.0", 3));
        assert_eq!(graph["pkg:cargo/arc-swap@1.9.3"].0, "MIT OR Apache-2.0");
        assert!(
            graph["pkg:cargo/orbgate@0.1.0"]
                .1
                .contains("pkg:cargo/serde@1.0.2")
        );
        assert_eq!(graph.len(), 4);
    }
}
