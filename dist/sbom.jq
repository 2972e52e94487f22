# A bill of materials in CycloneDX's JSON for the artefact $name, of what `cargo tree --prefix depth --format '{p}<tab>{l}'` says, for each
# target after the other. By hand, because cargo-cyclonedx and cargo-sbom write one for each crate, with the features of the whole workspace.
def licences: if . == "" then [] else [{ expression: . }] end;
def component: { type: "library", "bom-ref": .key, purl: .key, name: (.key | sub("^pkg:[a-z]+/"; "") | sub("@[^@]*$"; "")),
    version: (.key | sub(".*@"; "")), licenses: (.value.licence | licences) };

($needs | split(" ")) as $needs
# A package that occurs twice has its parts only at its first place. `MIT/Apache-2.0` is how a licence was written once.
| reduce (inputs | capture("^(?<depth>[0-9]+)(?<name>[^ ]+) v(?<version>[^ \t]+)[^\t]*\t(?<licence>.*)$")) as $line (
    { above: [], roots: $needs, graph: ($needs | map({ key: ., value: { licence: "", needs: [] } }) | from_entries) };
    ($line.depth | tonumber) as $depth | "pkg:cargo/\($line.name)@\($line.version)" as $purl
    | .above = .above[:$depth] + [$purl]
    | .graph[$purl].licence = ($line.licence | sub(" \\(\\*\\)$"; "") | gsub("/"; " OR "))
    | if $depth == 0 then .roots += [$purl] else .graph[.above[$depth - 1]].needs += [$purl] end)
| .graph as $graph | ($graph | to_entries | sort_by(.key)) as $parts
| {
    bomFormat: "CycloneDX", specVersion: "1.5", version: 1,
    metadata: { component: { type: "file", "bom-ref": $name, name: $name, version: $version, hashes: [{ alg: "SHA-256", content: $digest }] } },
    components: ($parts | map(component)),
    dependencies: ([{ ref: $name, dependsOn: (.roots | unique) }] + ($parts | map({ ref: .key, dependsOn: (.value.needs // [] | unique) })))
}
