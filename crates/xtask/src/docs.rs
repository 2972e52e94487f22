//! `cargo xtask docs`: the site, a book of the pages that docs/SUMMARY.md lists, and its links.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use xshell::{Shell, cmd};

use crate::kit::project::Project;

/// The version of mdBook that builds the site.
const VERSION: &str = "0.5.4";

/// The site's copy of the explorer.
const EXPLORER: &str = "explorer/explorer.html";

/// Pages and files on the code host.
const HOST: &str = "https://github.com/orbgate/orbgate/";

#[derive(Debug, Args)]
pub(crate) struct Docs {
    /// Build mdBook into target/ if it is missing, which takes minutes
    #[arg(long)]
    install: bool,
}

impl Docs {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        let home = project.target.join("xtask/mdbook");
        let book = project.target.join("xtask/book");
        if book.exists() {
            fs::remove_dir_all(&book)?;
        }
        let shell = project.shell()?;
        let mdbook = self.mdbook(&shell, &home)?;
        let source = book.join("src");
        let pages = stage(&project.root, &source)?;
        project.run("explorer_page", &[""; 0])?;
        let explorer = project.target.join("xtask/explorer/explorer.html");
        cmd!(shell, "node explorer/links.mjs {explorer} {source}").run()?;
        write(&source.join(EXPLORER), &fs::read(explorer)?)?;
        for file in ["book.toml", "site.css"] {
            fs::copy(project.root.join("docs").join(file), book.join(file))?;
        }
        let site = project.target.join("site");
        cmd!(shell, "{mdbook} build --dest-dir {site} {book}").run()?;
        let links = check(&site)?;
        println!("{pages} pages, {links} links: {}", site.join("index.html").display());
        Ok(())
    }

    /// mdBook from the search path or from target/, in the pinned version.
    fn mdbook(&self, shell: &Shell, home: &Path) -> Result<PathBuf> {
        let own = home.join("bin/mdbook");
        let is_pinned = |program: &Path| {
            let version = cmd!(shell, "{program} --version").read();
            version.is_ok_and(|version| version == format!("mdbook v{VERSION}"))
        };
        let programs = [PathBuf::from("mdbook"), own.clone()];
        if let Some(program) = programs.into_iter().find(|program| is_pinned(program)) {
            return Ok(program);
        }
        ensure!(
            self.install,
            "mdBook {VERSION} is missing: `cargo xtask docs --install` builds it into target/, in some minutes"
        );
        let install =
            cmd!(shell, "cargo install mdbook --locked --no-default-features --features search --version {VERSION}");
        install.arg("--root").arg(home).run()?;
        Ok(own)
    }
}

/// Writes the pages of the summary into a folder as mdBook takes them, and returns how many there are.
///
/// Each page keeps its path in the repository, so its links to other pages work on the code host and on the site. Links to
/// files that are no pages lead to the code host.
fn stage(root: &Path, to: &Path) -> Result<usize> {
    let docs = Path::new("docs");
    let summary = read(root, &docs.join("SUMMARY.md"))?;
    let listed = links(&summary).into_iter().map(|link| normal(&docs.join(link)));
    let pages: BTreeSet<PathBuf> = listed.collect();
    let mut pictures = BTreeSet::new();
    for page in &pages {
        let folder = page.parent().unwrap_or(Path::new(""));
        let text = read(root, page)?;
        let text = relinked(&text, |link| resolve(root, &pages, folder, link, &mut pictures));
        write(&to.join(site_path(page)), text.as_bytes())?;
    }
    for picture in pictures {
        write(&to.join(&picture), &fs::read(root.join(&picture))?)?;
    }
    let summary = relinked(&summary, |link| Some(site_path(&normal(&docs.join(link))).display().to_string()));
    write(&to.join("SUMMARY.md"), summary.as_bytes())?;
    Ok(pages.len())
}

/// The new target of a link, if it changes.
fn resolve(
    root: &Path,
    pages: &BTreeSet<PathBuf>,
    folder: &Path,
    link: &str,
    pictures: &mut BTreeSet<PathBuf>,
) -> Option<String> {
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let own = path.strip_prefix(HOST).and_then(|path| {
        let kinds = ["blob/main/", "tree/main/", "raw/main/"];
        kinds.iter().find_map(|kind| path.strip_prefix(kind))
    });
    let path = match own {
        Some(path) => PathBuf::from(path),
        None if path.is_empty() || path.contains("://") => return None,
        None => normal(&folder.join(path)),
    };
    let readme = path.join("README.md");
    let page = [&path, &readme].into_iter().find(|path| pages.contains(*path));
    let heading = match heading {
        "" => String::new(),
        heading => format!("#{heading}"),
    };
    if let Some(page) = page {
        return Some(format!("{}{heading}", relative(folder, &site_path(page))));
    }
    if path.extension().is_some_and(|end| end == "svg" || end == "png") {
        let shown = relative(folder, &path);
        pictures.insert(path);
        return Some(shown);
    }
    let kind = if root.join(&path).is_dir() { "tree" } else { "blob" };
    Some(format!("{HOST}{kind}/main/{}{heading}", path.display()))
}

/// A page's path on the site, where a folder's page is its index.
fn site_path(page: &Path) -> PathBuf {
    match page.file_name().is_some_and(|name| name == "README.md") {
        true => page.with_file_name("index.md"),
        false => page.to_owned(),
    }
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut normal, part| {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::Normal(name) => normal.push(name),
            _ => {}
        }
        normal
    })
}

/// The way from a folder to a file, both below the same root.
fn relative(folder: &Path, file: &Path) -> String {
    let (from, to) = (folder.components(), file.components());
    let shared = from.clone().zip(to.clone()).take_while(|(a, b)| a == b);
    let shared = shared.count();
    let up = from.skip(shared).map(|_| "..".to_owned());
    let down = to.skip(shared).map(|part| part.as_os_str().display().to_string());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// A page with the targets of its links replaced, outside code blocks.
fn relinked(page: &str, mut new: impl FnMut(&str) -> Option<String>) -> String {
    let mut is_code = false;
    let lines = page.split_inclusive('\n').map(|line| {
        is_code ^= line.trim_start().starts_with("```");
        // `[name]: target`, or `[text](target)`.
        let is_definition = line.starts_with('[') && line.find(']') == line.find("]: ");
        let (open, close) = if is_definition { ("]: ", '\n') } else { ("](", ')') };
        let mut parts = line.split(open).take(if is_code { 0 } else { usize::MAX });
        let Some(first) = parts.next() else {
            return line.to_owned();
        };
        parts.fold(first.to_owned(), |text, part| {
            let (target, rest) = part.split_at_checked(part.find(close).unwrap_or(0)).unwrap_or_default();
            let target = new(target).unwrap_or_else(|| target.to_owned());
            [&text, open, &target, rest].concat()
        })
    });
    lines.collect()
}

/// The targets of a page's links.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    relinked(page, |link| {
        links.push(link.to_owned());
        None
    });
    links
}

/// Follows every link of the built site to a file and a heading, and returns how many there are.
fn check(site: &Path) -> Result<usize> {
    let mut pages = BTreeMap::new();
    collect(site, &mut pages)?;
    // Its fragments are states.
    pages.remove(&site.join(EXPLORER));
    let headings: BTreeMap<_, BTreeSet<_>> =
        pages.iter().map(|(path, text)| (path.clone(), values(text, " id=\"").collect())).collect();
    let (mut count, mut broken) = (0_usize, Vec::new());
    // The table of contents is a frame for readers without scripts, and the page for missing pages has a root of its own.
    let read = |path: &Path| !path.ends_with("404.html") && !path.ends_with("toc.html");
    for (path, text) in pages.iter().filter(|(path, _)| read(path)) {
        let folder = path.parent().unwrap_or(site);
        // The site loads nothing from elsewhere.
        let loaded = values(text, " src=\"").filter(|link| !link.starts_with("data:"));
        let linked = values(text, " href=\"").filter(|link| !link.contains(':'));
        for link in linked.chain(loaded) {
            count = count.saturating_add(1);
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let file = match file {
                "" => path.clone(),
                file => normal_absolute(&folder.join(file)),
            };
            let is_there = match headings.get(&file) {
                Some(ids) => heading.is_empty() || ids.contains(heading),
                None => file.exists(),
            };
            if !is_there {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    ensure!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
    Ok(count)
}

fn normal_absolute(path: &Path) -> PathBuf {
    Path::new("/").join(normal(path))
}

fn collect(folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, pages)?;
        } else if path.extension().is_some_and(|end| end == "html") {
            let text = fs::read_to_string(&path)?;
            pages.insert(path, text);
        }
    }
    Ok(())
}

/// What is between this start of an attribute and its closing quote, each time.
fn values<'t>(text: &'t str, start: &'t str) -> impl Iterator<Item = &'t str> {
    let values = text.split(start).skip(1);
    values.filter_map(|rest| Some(rest.split_once('"')?.0))
}

fn read(root: &Path, page: &Path) -> Result<String> {
    let path = root.join(page);
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(link: &str) -> Option<String> {
        let pages = ["README.md", "docs/a/one.md", "crates/c/README.md"];
        let pages = pages.map(PathBuf::from).into();
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let mut pictures = BTreeSet::new();
        resolve(root.as_ref(), &pages, "docs/a".as_ref(), link, &mut pictures)
    }

    #[test]
    fn links_lead_to_pages_of_the_site_or_to_the_code_host() {
        let table = [
            ("one.md#x", "one.md#x"),
            ("../../README.md", "../../index.md"),
            ("../../crates/c", "../../crates/c/index.md"),
            ("https://github.com/orbgate/orbgate/blob/main/README.md#y", "../../index.md#y"),
            ("https://github.com/orbgate/orbgate/tree/main/crates/c", "../../crates/c/index.md"),
            ("../../deny.toml", "https://github.com/orbgate/orbgate/blob/main/deny.toml"),
            ("../../policy", "https://github.com/orbgate/orbgate/tree/main/policy"),
            ("../pictures/p.svg", "../pictures/p.svg"),
            ("https://github.com/orbgate/orbgate/raw/main/docs/p.png", "../p.png"),
        ];
        for (link, expected) in table {
            assert_eq!(resolved(link).as_deref(), Some(expected), "{link}");
        }
        assert_eq!(resolved("#here"), None);
        assert_eq!(resolved("https://example.com/README.md"), None);
    }

    #[test]
    fn links_change_in_prose_only() {
        let page = "a [b](c) `d` [e](f)\n```\n[g](c)\n```\n[h]: c\n";
        let changed = relinked(page, |link| (link == "c").then(|| "new".to_owned()));
        assert_eq!(changed, "a [b](new) `d` [e](f)\n```\n[g](c)\n```\n[h]: new\n");
    }

    /// A page that the summary lists twice or that is not there stops mdBook, in a build that few run.
    #[test]
    fn the_pages_of_the_summary_can_be_staged() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = tempfile::tempdir().unwrap();
        let summary = read(&root, Path::new("docs/SUMMARY.md")).unwrap();
        let pages = stage(&root, folder.path()).unwrap();
        assert_eq!(pages, links(&summary).len(), "a page is listed twice");
    }
}
