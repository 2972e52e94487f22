//! A name in the spelling of each language.

/// `CheckSignature` → `check_signature`
pub(crate) fn lower(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// `left_out` as `leftOut`.
pub(crate) fn camel(name: &str) -> String {
    let pascal = pascal(name);
    let (first, rest) = pascal.split_at(1);
    format!("{}{rest}", first.to_lowercase())
}

/// `left_out` as `LeftOut`.
pub(crate) fn pascal(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let (first, rest) = word.split_at(1);
        format!("{}{rest}", first.to_uppercase())
    });
    words.collect()
}

/// `non_ascii` in Go's spelling: `NonASCII`.
pub(crate) fn go_name(word: &str) -> String {
    let camel = |word: &str| match word.split_at(1) {
        _ if ["ascii", "http", "io", "json", "ok"].contains(&word) => word.to_uppercase(),
        (first, rest) => format!("{}{rest}", first.to_uppercase()),
    };
    word.split('_').map(camel).collect()
}

/// The name of a field, or with an underscore where the language keeps the word for itself.
pub(crate) fn unreserved(name: String) -> String {
    match &*name {
        "new" | "template" => name + "_",
        _ => name,
    }
}
