//! The fenced blocks of a guide, which its readers copy.

/// The blocks of a language, in their order, unchanged.
pub(crate) fn blocks<'t>(guide: &'t str, language: &str) -> Vec<&'t str> {
    let fence = format!("```{language}\n");
    let behind = guide.split(fence.as_str()).skip(1);
    behind
        .map(|text| text.split("```").next().unwrap_or_default())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::blocks;

    #[test]
    fn blocks_are_taken_as_they_are() {
        let guide = "# A\n```sh\nx\n```\n```c\nint a;\n\n```\n```c\nint b;\n```\n";
        assert_eq!(blocks(guide, "c"), ["int a;\n\n", "int b;\n"]);
        assert!(blocks(guide, "js").is_empty());
    }
}
