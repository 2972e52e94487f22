//! The client's settings: `initializationOptions`.

use std::collections::BTreeMap;

use orbgate_analysis::{Code, Level};
use serde::Deserialize;
use serde_json::Value;

/// The levels that override those of the codes; `None` means `off`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    levels: BTreeMap<Code, Option<Level>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    levels: BTreeMap<String, String>,
}

impl Settings {
    /// # Errors
    ///
    /// Returns a message about invalid options.
    pub(crate) fn read(options: &Value) -> Result<Self, String> {
        let options: Option<Options> = serde_json::from_value(options.clone()).map_err(|error| error.to_string())?;
        let level = |(code, level): (String, String)| {
            let code = Code::from_name(&code).ok_or_else(|| {
                let codes = Code::ALL.map(Code::as_str).join(", ");
                format!("`levels`: there is no code `{code}`; the codes are {codes}")
            })?;
            let known = Level::ALL.into_iter().find(|known| known.as_str() == level);
            if known.is_none() && level != "off" {
                let levels = "the levels are error, warning, note, off";
                return Err(format!("`levels`: there is no level `{level}`; {levels}"));
            }
            Ok((code, known))
        };
        let levels = options.unwrap_or_default().levels;
        Ok(Self { levels: levels.into_iter().map(level).collect::<Result<_, _>>()? })
    }

    /// The level of a code; `None` if it is off.
    pub(crate) fn level(&self, code: Code) -> Option<Level> {
        self.levels.get(&code).copied().unwrap_or(Some(code.level()))
    }
}

#[cfg(test)]
mod tests {
    use orbgate_analysis::{Code, Level};
    use serde_json::json;

    use super::Settings;

    #[test]
    fn levels_are_set_as_the_command_sets_them() {
        let options = json!({ "levels": { "no_permits": "off", "overlap": "error" } });
        let settings = Settings::read(&options).unwrap();
        assert_eq!(settings.level(Code::NoPermits), None);
        assert_eq!(settings.level(Code::Overlap), Some(Level::Error));
        assert_eq!(settings.level(Code::UnstatedGet), Some(Level::Warning));
        for nothing in [json!(null), json!({}), json!({ "levels": {} })] {
            assert_eq!(Settings::read(&nothing).unwrap(), Settings::default());
        }
    }

    #[test]
    fn what_is_no_setting_is_said() {
        for (options, message) in [
            (json!({ "level": {} }), "unknown field `level`, expected `levels`"),
            (json!({ "levels": { "overlaps": "off" } }), "there is no code `overlaps`; the codes are overlap, "),
            (json!({ "levels": { "overlap": "info" } }), "there is no level `info`; the levels are error"),
            (json!({ "levels": [] }), "invalid type"),
            (json!(7), "invalid type"),
        ] {
            let error = Settings::read(&options).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
