//! The client's settings: `initializationOptions`.

use std::collections::BTreeMap;

use orbgate_analysis::Levels;
use serde::Deserialize;
use serde_json::Value;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    levels: BTreeMap<String, String>,
}

/// The levels of lint.
///
/// # Errors
///
/// Returns a message about invalid options.
pub(crate) fn read(options: &Value) -> Result<Levels, String> {
    let options: Option<Options> = serde_json::from_value(options.clone()).map_err(|error| error.to_string())?;
    let levels = options.unwrap_or_default().levels;
    let levels = levels.iter().map(|(code, level)| Levels::read(code, level));
    levels.collect::<Result<_, _>>().map_err(|message| format!("`levels`: {message}"))
}

#[cfg(test)]
mod tests {
    use orbgate_analysis::{Code, Level, Levels};
    use serde_json::json;

    use super::read;

    #[test]
    fn levels_are_set_as_the_command_sets_them() {
        let options = json!({ "levels": { "no_permits": "off", "overlap": "error" } });
        let levels = read(&options).unwrap();
        assert_eq!(levels.of(Code::NoPermits), None);
        assert_eq!(levels.of(Code::Overlap), Some(Level::Error));
        assert_eq!(levels.of(Code::UnstatedGet), Some(Level::Warning));
        for nothing in [json!(null), json!({}), json!({ "levels": {} })] {
            assert_eq!(read(&nothing).unwrap(), Levels::default());
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
            let error = read(&options).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
