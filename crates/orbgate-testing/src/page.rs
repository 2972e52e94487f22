//! Parts of pages that are generated from the code.

use std::fs;

/// Compares a part of a page with the generated Markdown, or writes it there if `ORBGATE_UPDATE` is set. The part is
/// between the comments `<!-- NAME: … -->` and `<!-- end -->`.
pub fn keep(page: &str, name: &str, made: &str) {
    let text = fs::read_to_string(page).unwrap();
    let start = text.find(&format!("<!-- {name}: ")).expect(name);
    let start = start + text[start..].find("-->\n").unwrap() + "-->\n".len();
    let end = start + text[start..].find("<!-- end -->").unwrap();
    if std::env::var_os("ORBGATE_UPDATE").is_some() {
        let updated = [&text[..start], made, &text[end..]].concat();
        fs::write(page, updated).unwrap();
    } else {
        let update = "run the test again with ORBGATE_UPDATE=1";
        assert_eq!(&text[start..end], made, "{page}, {name}: {update}");
    }
}
