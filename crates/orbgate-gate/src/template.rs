//! Converts routers' templates to the syntax of policies.

/// A router's syntax for parameters in templates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TemplateStyle {
    /// `{id}`, `{id:[0-9]+}`, `{id:int}`: policies, axum, chi, Go's `net/http`, Spring, Starlette.
    #[default]
    Braces,
    /// `:id`, `:id(\d+)`, and `\+` for a literal `+`: gin, echo, Express, Fastify, Hono.
    Colons,
    /// `<id>`, `<int:id>`: Flask, Django.
    Angles,
}

impl TemplateStyle {
    /// Converts a router's template to a policy's syntax.
    ///
    /// A parameter for exactly one segment becomes `{name}`. Anything that a policy's template can't express, such as a
    /// wildcard, an optional segment or a parameter within a segment, becomes `{*}`, which doesn't
    /// [match](crate::same_template) any template.
    ///
    /// ```
    /// use orbgate_gate::TemplateStyle;
    ///
    /// assert_eq!(TemplateStyle::Colons.in_policy("/voxies/:id/run"), "/voxies/{id}/run");
    /// assert_eq!(TemplateStyle::Angles.in_policy("/files/<path:rest>"), "/files/{*}");
    /// ```
    #[must_use]
    pub fn in_policy(self, template: &str) -> String {
        let segments = segments(template);
        let segments = segments.map(|segment| match self.segment(segment) {
            Some(Segment::Literal(text)) => text,
            Some(Segment::Parameter(name)) => format!("{{{name}}}"),
            None => "{*}".to_owned(),
        });
        segments.collect::<Vec<_>>().join("/")
    }

    fn segment(self, segment: &str) -> Option<Segment<'_>> {
        let parameter = match self {
            Self::Braces if segment == "{$}" => return Some(Segment::Literal(String::new())),
            Self::Braces => within(segment, '{', '}').map(|inner| {
                let (name, pattern) = inner.split_once(':').unwrap_or((inner, ""));
                (name, pattern != "path")
            }),
            Self::Colons if segment.contains("::") => None,
            Self::Colons => segment.strip_prefix(':').map(|rest| {
                let (name, pattern) = rest.split_at(rest.find('(').unwrap_or(rest.len()));
                (name, pattern.is_empty() || within(pattern, '(', ')').is_some())
            }),
            Self::Angles => within(segment, '<', '>').map(|inner| {
                let (converter, name) = inner.rsplit_once(':').unwrap_or(("", inner));
                (name, !converter.starts_with("path"))
            }),
        };
        match parameter {
            Some((name, is_one_segment)) => (is_one_segment && is_name(name)).then_some(Segment::Parameter(name)),
            None => self.literal(segment).map(Segment::Literal),
        }
    }

    /// A segment without a parameter; `None` for a pattern.
    ///
    /// Characters that are valid in a policy's literal are kept, even if some router reads them as a pattern, as
    /// Express 4 reads `a+b`. A path that matches the allowed literal contains exactly that string, so keeping the
    /// literal never makes a different route look like the one that was decided.
    fn literal(self, segment: &str) -> Option<String> {
        if self == Self::Braces && !segment.is_empty() && segment.bytes().all(|byte| byte == b'*') {
            return None;
        }
        let mut text = String::new();
        let mut rest = segment.bytes();
        while let Some(byte) = rest.next() {
            let literal = match (self, byte) {
                // Express, which reads regular expressions, gives an escaped letter another
                // meaning.
                (Self::Colons, b'\\') => rest.next().filter(|next| is_mark(*next)),
                (Self::Colons, b':') => rest.next().filter(|next| *next == b':'),
                (Self::Colons, b'*') => None,
                _ => Some(byte).filter(|byte| orbgate::is_literal(*byte)),
            };
            text.push(char::from(literal?));
        }
        Some(text)
    }
}

enum Segment<'t> {
    Literal(String),
    Parameter(&'t str),
}

/// The segments of a template. A slash within brackets, as in `{id:[^/]+}`, doesn't separate
/// segments.
fn segments(template: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    template.split(move |character| {
        match character {
            '{' | '<' => depth = depth.saturating_add(1),
            '}' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == '/' && depth == 0
    })
}

/// The text of a segment that is one pair of brackets. Two pairs, as in `{a:x}-{b:y}`, are more than one parameter.
fn within(segment: &str, open: char, close: char) -> Option<&str> {
    let inner = segment.strip_prefix(open)?.strip_suffix(close)?;
    let mut depth = 0_usize;
    for character in inner.chars() {
        if character == open {
            depth = depth.checked_add(1)?;
        } else if character == close {
            depth = depth.checked_sub(1)?;
        }
    }
    (depth == 0).then_some(inner)
}

fn is_name(name: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    !name.is_empty() && name.bytes().all(is_of_name) && !name.ends_with("...")
}

/// The characters that a policy's literal can contain in addition to letters and digits.
fn is_mark(byte: u8) -> bool {
    orbgate::is_literal(byte) && !byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::TemplateStyle::{Angles, Braces, Colons};

    #[test]
    fn templates_of_routers_are_written_as_a_policy_has_them() {
        let table = [
            (Braces, "/users/{id}", "/users/{id}"),
            (Braces, "/users/{user_id}/all", "/users/{user_id}/all"),
            (Braces, "/users/{id:[0-9]{2,}}", "/users/{id}"),
            (Braces, "/users/{id:[^/]+}/all", "/users/{id}/all"),
            (Braces, "/users/{id:int}", "/users/{id}"),
            (Braces, "/files/{rest:path}", "/files/{*}"),
            (Braces, "/files/{rest...}", "/files/{*}"),
            (Braces, "/files/{*rest}", "/files/{*}"),
            (Braces, "/files/*", "/files/{*}"),
            (Braces, "/files/**", "/files/{*}"),
            (Braces, "/files/{name}.json", "/files/{*}"),
            (Braces, "/files/{a}-{b}", "/files/{*}"),
            (Braces, "/files/{a:[0-9]+}-{b}", "/files/{*}"),
            (Braces, "/files/{a:[0-9]+}.{b:[a-z]+}", "/files/{*}"),
            (Braces, "/users/{{id}}", "/users/{*}"),
            (Braces, "/users/{}", "/users/{*}"),
            (Braces, "/users/{$}", "/users/"),
            (Braces, "/users/:id", "/users/:id"),
            (Braces, "/a+b(c)", "/a+b(c)"),
            (Braces, "/a*", "/a*"),
            (Colons, "/a+b", "/a+b"),
            (Colons, r"/a\.b\!", "/a.b!"),
            (Colons, "/a*", "/{*}"),
            (Colons, "/(a|b)", "/{*}"),
            (Colons, "/ab?", "/{*}"),
            (Colons, r"/a\+b", "/a+b"),
            (Colons, r"/run\(all\)/\*", "/run(all)/*"),
            (Colons, r"/users/\:id", "/users/:id"),
            (Colons, r"/users/:id\+", "/users/{*}"),
            (Colons, r"/a\d", "/{*}"),
            (Colons, r"/a\\b", "/{*}"),
            (Colons, "/a\\", "/{*}"),
            (Colons, "/users/::id:::", "/users/{*}"),
            (Braces, r"/a\+b", "/{*}"),
            (Braces, "/", "/"),
            (Braces, "", ""),
            (Colons, "/users/:id", "/users/{id}"),
            (Colons, "/users/:id(\\d+)/all", "/users/{id}/all"),
            (Colons, "/users/:id(\\d+)x", "/users/{*}"),
            (Colons, "/users/:id?", "/users/{*}"),
            (Colons, "/users/:id*", "/users/{*}"),
            (Colons, "/users{/:id}", "/{*}"),
            (Colons, "/users/:from-:to", "/users/{*}"),
            (Colons, "/users/:from(\\d+)-:to(\\d+)", "/users/{*}"),
            (Colons, "/users/:id((a|b)c)", "/users/{id}"),
            (Colons, "/users/x:id", "/users/{*}"),
            (Colons, "/users/*rest", "/users/{*}"),
            (Colons, "/users/{id}", "/users/{*}"),
            (Colons, "/users/id::all", "/users/id:all"),
            (Angles, "/users/<id>", "/users/{id}"),
            (Angles, "/users/<int:id>/all", "/users/{id}/all"),
            (Angles, "/users/<string(length=2):id>", "/users/{id}"),
            (Angles, "/files/<path:rest>", "/files/{*}"),
            (Angles, "/files/<a>.json", "/files/{*}"),
            (Angles, "/files/<a>-<int:b>", "/files/{*}"),
            (Angles, "/files/<a>-<b(x=1):c>", "/files/{*}"),
            (Angles, "/users/{id}", "/users/{*}"),
            (Angles, "/a*", "/a*"),
        ];
        for (style, template, expected) in table {
            assert_eq!(style.in_policy(template), expected, "{style:?} {template}");
        }
    }

    #[test]
    fn every_literal_of_a_policy_can_be_spelled() {
        // The characters that RFC 3986 allows in a segment, except `;`, which starts parameters
        // (P8).
        const MARKS: &str = "-._~!$&'()*+,=:@";
        for other in ('\0'..='\u{ff}').filter(|c| !MARKS.contains(*c)) {
            if !other.is_ascii_alphanumeric() && other != '/' {
                let template = Braces.in_policy(&format!("/a{other}b"));
                assert_eq!(template, "/{*}", "{other:?}");
            }
        }
        for byte in MARKS.chars() {
            let policy = format!("/a{byte}b/{{id}}/{byte}");
            // The spelling in gin, echo and Fastify, for which only two characters are special.
            let plain = match byte {
                ':' => "/a::b/:id/::".to_owned(),
                '*' => r"/a\*b/:id/\*".to_owned(),
                _ => format!("/a{byte}b/:id/{byte}"),
            };
            // A single asterisk is a wildcard in chi and Spring.
            let braces = policy.replace("/*", "/{*}");
            let table = [
                (Braces, policy.clone(), &braces),
                (Angles, format!("/a{byte}b/<id>/{byte}"), &policy),
                (Colons, format!(r"/a\{byte}b/:id/\{byte}"), &policy),
                (Colons, plain, &policy),
            ];
            for (style, template, expected) in table {
                assert_eq!(style.in_policy(&template), *expected, "{style:?} {template}");
            }
        }
    }
}
