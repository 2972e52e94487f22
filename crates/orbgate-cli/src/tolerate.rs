//! `--tolerate`: accepts some unusable lines of a log, as the Python package does.

use core::str::FromStr;

use clap::Args;

use crate::output::{self, Exit, count};

/// How many lines of a log may be unusable.
#[derive(Debug, Args)]
pub(crate) struct Tolerance {
    /// Accept up to N unusable lines, or N% of them, such as `1%`
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
    tolerate: Share,
}

/// A number, or a percentage.
#[derive(Clone, Debug)]
struct Share {
    text: String,
    number: f64,
    is_percentage: bool,
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let percentage = text.strip_suffix('%');
        let is_share = match percentage {
            None => is_number(text),
            Some(share) => share.split('.').count() <= 2 && share.split('.').all(is_number),
        };
        let number = percentage.unwrap_or(text).parse().ok().filter(|_| is_share);
        let number = number.ok_or_else(|| "it is no number or percentage, such as `5` or `0.5%`".to_owned())?;
        Ok(Self { text: text.to_owned(), number, is_percentage: percentage.is_some() })
    }
}

impl Tolerance {
    /// The result of a command that would have given `otherwise` if every line were usable.
    pub(crate) fn exit(&self, unusable: u64, lines: u64, otherwise: Exit) -> Exit {
        let Share { text, number, is_percentage } = &self.tolerate;
        if unusable == 0 {
            return otherwise;
        }
        let share = |count: u64| -> f64 { u32::try_from(count).map_or(f64::INFINITY, f64::from) };
        let most = if *is_percentage { share(lines) * number / 100.0 } else { *number };
        if share(unusable) > most {
            return Exit::CouldNotRun;
        }
        let all = count(usize::try_from(lines).unwrap_or(usize::MAX), "line");
        output::note(&format!("{unusable} of {all} cannot be used, as allowed by --tolerate {text}"));
        otherwise
    }
}
