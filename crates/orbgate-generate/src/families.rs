//! The families of codes, from the tables defined with [`orbgate::codes`], and how to write them in each language.

use orbgate::{Detail, Effect, Reason, TokenKind};

use crate::status::OrbgateStatus;
use crate::words::go_name;

/// An enum of codes, each with its number in the C ABI.
pub(crate) struct Family {
    /// `TokenKind`
    pub(crate) name: &'static str,
    /// A comment for C. Its first sentence is used in every language.
    about: &'static str,
    /// The comment for its numbers in C.
    number_type: &'static str,
    /// The number that only the C ABI needs, which isn't a code.
    none: Option<Code>,
    pub(crate) codes: Vec<Code>,
}

pub(crate) struct Code {
    pub(crate) word: &'static str,
    pub(crate) number: i32,
    pub(crate) sentence: &'static str,
    /// The status of a reason that denies; 0 for a reason that allows.
    pub(crate) status: Option<u16>,
}

pub(crate) fn families() -> [Family; 5] {
    macro_rules! codes {
        ($name:ident, $status:expr) => {
            $name::ALL
                .map(|it| Code { status: $status(it), ..Code::new(it.as_str(), it.number().into(), it.explanation()) })
                .into()
        };
    }
    [
        Family {
            name: "Status",
            about: "The status of a call. Outputs are written only with `ORBGATE_STATUS_OK`. Numbers are frozen, and a later release\n\
                    /// can add one: deny on every status that isn't `OK`.",
            number_type: "int32_t",
            none: None,
            codes: codes!(OrbgateStatus, |_| None),
        },
        Family {
            name: "Effect",
            about: "The effect of a decision. All zeros isn't a decision: deny.",
            number_type: "uint8_t",
            none: Some(Code::new("invalid", 0, "no decision was made")),
            codes: codes!(Effect, |_| None),
        },
        Family {
            name: "Reason",
            about: "Why a request was allowed or denied. Numbers and names are frozen.",
            number_type: "uint8_t",
            none: Some(Code::new("none", 0, "no decision was made")),
            codes: codes!(Reason, |it: Reason| Some(it.status().unwrap_or(0))),
        },
        Family {
            name: "Detail",
            about: "Which rule a malformed request breaks. Numbers and names are frozen.",
            number_type: "uint8_t",
            none: Some(Code::new("none", 0, "the request is not malformed")),
            codes: codes!(Detail, |_| None),
        },
        Family {
            name: "TokenKind",
            about: "The kind of token. Functions take it as a `uint32_t`, columns as a `uint8_t`; any other number is an\n\
                    /// invalid argument.",
            number_type: "uint8_t",
            none: Some(Code::new("none", 255, "no token was supplied: denied as `no_token`")),
            codes: codes!(TokenKind, |_| None),
        },
    ]
}

impl Family {
    /// Its codes, and the number that isn't a code, in numeric order.
    fn all(&self) -> Vec<&Code> {
        let mut all: Vec<_> = self.codes.iter().chain(&self.none).collect();
        all.sort_by_key(|code| code.number);
        all
    }

    /// `TOKEN_KIND`
    pub(crate) fn upper(&self) -> String {
        self.name.replace("nK", "n_K").to_uppercase()
    }

    /// `ORBGATE_TOKEN_KIND_USER`
    fn constant(&self, code: &Code) -> String {
        format!("ORBGATE_{}_{}", self.upper(), code.upper())
    }

    /// An enum of the C header, with a fixed size in every version of C and C++.
    pub(crate) fn c(&self) -> String {
        let (name, about, number_type) = (self.name, self.about, self.number_type);
        let codes = lines(self.all(), |code| {
            let (constant, comment) = (self.constant(code), code.comment());
            format!("  /// {comment}\n  {constant} = {},\n", code.number)
        });
        format!("\n/// {about}\nORBGATE_ENUM(Orbgate{name}, {number_type}) {{\n{codes}}};\n")
    }

    pub(crate) fn cpp(&self) -> String {
        let (name, number_type) = (self.name, self.number_type);
        let (about, _) = self.about.split_once('.').unwrap();
        let codes = lines(self.all(), |code| format!("    {} = {},\n", code.word, self.constant(code)));
        format!("// {about}: see Orbgate{name}.\nenum class {name} : std::{number_type} {{\n{codes}}};\n")
    }

    pub(crate) fn go(&self) -> String {
        let prefix = self.name.trim_start_matches("Token");
        lines(self.all(), |code| {
            let mut name = format!("{prefix}{}", go_name(code.word));
            if name == "StatusOK" {
                name = "statusOK".to_owned();
            }
            let says = match code.status {
                None => ":".to_owned(),
                Some(0) => " allows:".to_owned(),
                Some(status) => format!(" denies with {status}:"),
            };
            let (sentence, number) = (code.sentence.replace('`', ""), code.number);
            format!("\t// {name}{says} {sentence}.\n\t{name} {} = {number}\n", self.name)
        })
    }

    pub(crate) fn java(&self) -> String {
        lines(&self.codes, |code| {
            let arguments = match (self.name, code.status) {
                ("TokenKind", _) => format!("(Layout.TOKEN_KIND_{})", code.upper()),
                (_, Some(status)) => format!("({status})"),
                (_, None) => String::new(),
            };
            let mut parts = code.comment();
            while parts.contains('`') {
                parts = parts.replacen('`', "{@code ", 1).replacen('`', "}", 1);
            }
            format!("    /** {parts} */\n    {}{arguments},\n", code.upper())
        })
    }

    pub(crate) fn python(&self) -> String {
        lines(&self.codes, |code| format!("    {} = \"{}\"\n", code.upper(), code.word))
    }

    /// A TypeScript union.
    pub(crate) fn node(&self, name: &str, about: &str, is_in: impl Fn(&&Code) -> bool) -> String {
        let codes = self.codes.iter().filter(is_in);
        let codes = lines(codes, |code| format!("\n  | \"{}\"", code.word));
        format!("/** {about} */\nexport type {name} ={codes};\n\n")
    }
}

pub(crate) fn lines<'c>(codes: impl IntoIterator<Item = &'c Code>, line: impl Fn(&Code) -> String) -> String {
    codes.into_iter().map(line).collect()
}

impl Code {
    const fn new(word: &'static str, number: i32, sentence: &'static str) -> Self {
        Self { word, number, sentence, status: None }
    }

    pub(crate) fn upper(&self) -> String {
        self.word.to_uppercase()
    }

    fn comment(&self) -> String {
        let (first, rest) = self.sentence.split_at(1);
        match self.status {
            Some(0) => format!("Allowed: {}.", self.sentence),
            Some(status) => format!("{}{rest}. Status {status}.", first.to_uppercase()),
            None => format!("{}{rest}.", first.to_uppercase()),
        }
    }
}
