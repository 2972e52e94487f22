//! Declares configuration files: [`document!`](crate::document!) generates a type, its keys, its reader and its table.

use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroU64;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::diagnostics::Diagnostics;
use crate::node::{Content, Location, Node, Spanned};
use crate::shape::Shape;
use crate::values::{Owner, Values, amount, must_be_whole};

/// A value of a configuration file. A wrong value is reported and replaced by a stand-in, so that the rest of the file
/// is still checked. A stand-in has the location of its error, so [`Diagnostics::stand_at`] recognises it.
pub trait Value: DeserializeOwned + PartialEq {
    /// The values that are accepted.
    const SHAPE: Shape;
    /// Whether a key of this type is required.
    const IS_REQUIRED: bool = true;

    /// Reads a value, or reports that it is wrong.
    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self;

    /// The replacement for a wrong or missing value, whose error is at this location.
    fn stand_in(location: Location) -> Self;

    /// Where the value is, if it keeps its location.
    fn location(&self) -> Option<Location> {
        None
    }

    /// Where the part is that errors about the value's key mean, such as the empty item of a list; the whole value if
    /// `None`.
    fn wrong_part(&self) -> Option<Location> {
        None
    }

    /// Where the value of this key is, at any depth; the mapping that lacks it if it is absent.
    fn location_of(&self, _key: &str) -> Option<Location> {
        None
    }
}

impl Values<'_> {
    /// The stand-in for a key that this owner lacks, which [`Self::fields`] has reported.
    pub fn missing<T: Value>(&self, owner: &Owner<'_>, key: &'static str) -> T {
        T::stand_in(self.diagnostics.location_of_missing(owner.location, key))
    }
}

/// Reads a whole file. `what` names it in messages, for example `the configuration`.
pub fn document<D: Value>(what: &'static str) -> impl FnOnce(&Node<'_>, &mut Diagnostics) -> Option<D> {
    move |root, diagnostics| {
        let location = root.location;
        let mut values = Values::new(diagnostics);
        Some(D::read(root, &Owner { what, location }, &mut values))
    }
}

/// Declares types of a configuration file, each key once.
///
/// A `struct` is a mapping, an `enum` a choice of words whose first one is the default. A field that is an [`Option`] may be
/// left out. Words in `(not …)` after a choice are ones that people write instead of it, and their error names the choice.
/// From a declaration come the type with both readers, and its [`Shape`]: the known keys, and the table of a page, in
/// which the comment on a field is its sentence. The words in parentheses name a value in messages; without them
/// its key does. A field is read `by` a function if its type's reader doesn't fit. What `schema` contains is for schemars, if the
/// crate has the feature `schema`.
///
/// ```
/// use orbgate_yaml::{Format, Spanned, Value, Version};
///
/// orbgate_yaml::document! {
///     /// A file of greetings.
///     struct Greetings {
///         /// The version of the format; always 1.
///         greetings: Version,
///         /// The people to greet.
///         to: Vec<Person>,
///         /// How loud; `low` if absent.
///         voice: Option<Voice>,
///     }
///
///     /// A person.
///     struct Person ("this person") {
///         /// The first name.
///         name: Spanned<String>,
///         /// How often.
///         times as "repeat": Option<u64>,
///     }
///
///     /// How loud.
///     enum Voice {
///         /// Quietly.
///         Low: "low" (not "quiet", "soft"),
///         /// Loudly.
///         High: "high",
///     }
/// }
///
/// let format = Format {
///     file: "a file of greetings",
///     start: "a file of greetings starts with `greetings: 1`",
///     has_key: |key| Greetings::SHAPE.has_key(key),
///     braced: None,
///     key_with_colon: None,
/// };
/// let read = |text: &str| {
///     let document = orbgate_yaml::document::<Greetings>("the file");
///     orbgate_yaml::read(text.as_bytes(), &format, document, |greetings, _| greetings)
/// };
/// let greetings = read("greetings: 1\nto:\n  - name: Ann\n    repeat: 2\nvoice: high\n").unwrap();
/// assert_eq!((greetings.to[0].name.value.as_str(), greetings.to[0].times), ("Ann", Some(2)));
/// assert_eq!(greetings.voice, Some(Voice::High));
///
/// let errors = read("greetings: 2\nto:\n  - repeat: -1\n  - nam: Bob\nvoice: hoarse\n").unwrap_err();
/// let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
/// assert_eq!(errors, [
///     "1:12: `greetings` must be the plain number 1, the version of the format, not `2`",
///     "3:5: this person is missing the key `name`",
///     "3:13: `repeat` must be a plain whole number, not `-1`",
///     "4:5: unknown key `nam` in this person (known: `name`, `repeat`); did you mean `name`?",
///     "5:8: `voice` must be `low` or `high`, not `hoarse`",
/// ]);
///
/// let errors = read("greetings: 1\nto: []\nvoice: soft\n").unwrap_err();
/// let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
/// assert_eq!(errors, ["3:8: `voice` must be `low` or `high`, not `soft`; for `soft`, write `low`"]);
///
/// assert_eq!(Greetings::SHAPE.table(), "\
/// | key | value | |
/// |---|---|---|
/// | `greetings` | `1`, required | The version of the format; always 1. |
/// | `to` | list of mappings, required | The people to greet. |
/// | `to.name` | string, required | The first name. |
/// | `to.repeat` | number | How often. |
/// | `voice` | `low` or `high` | How loud; `low` if absent. |
/// ");
/// ```
#[macro_export]
macro_rules! document {
    () => {};
    (
        $(#[doc = $about:literal])*
        $(#[schema($($schema:tt)*)])?
        $visible:vis struct $name:ident $(($what:literal))? {
            $(
                $(#[doc = $doc:literal])*
                $(#[schema($($field_schema:tt)*)])?
                $field_visible:vis $field:ident $(as $key:literal)? $(by $reader:path)?: $type:ty,
            )*
        }
        $($rest:tt)*
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, PartialEq, Eq, $crate::serde::Deserialize)]
        $(#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars($($schema)*))])?
        #[serde(crate = "orbgate_yaml::serde", deny_unknown_fields)]
        $visible struct $name {
            $(
                $(#[doc = $doc])*
                $(#[serde(rename = $key)])?
                $(#[cfg_attr(feature = "schema", schemars($($field_schema)*))])?
                $field_visible $field: $type,
            )*
        }

        impl $crate::Value for $name {
            const SHAPE: $crate::Shape = $crate::Shape::Mapping(&[$(
                $crate::Key {
                    name: $crate::document!(@key $field $($key)?),
                    about: concat!($($doc),*),
                    is_required: <$type as $crate::Value>::IS_REQUIRED,
                    shape: <$type as $crate::Value>::SHAPE,
                }
            ),*]);

            fn read(
                node: &$crate::Node<'_>,
                owner: &$crate::Owner<'_>,
                values: &mut $crate::Values<'_>,
            ) -> Self {
                let (what, location) = (owner.what, owner.location);
                $(let what = $what;)?
                let owner = $crate::Owner { what, location };
                let keys = [$($crate::document!(@key $field $($key)?)),*];
                let required = [$(
                    if <$type as $crate::Value>::IS_REQUIRED {
                        $crate::document!(@key $field $($key)?)
                    } else {
                        ""
                    }
                ),*];
                let Some([$($field),*]) = values.fields(node, &owner, keys, &required) else {
                    return Self::stand_in(node.location);
                };
                Self { $(
                    $field: match $field {
                        Some(node) => {
                            let what = concat!("`", $crate::document!(@key $field $($key)?), "`");
                            let owner = $crate::Owner { what, location: node.location };
                            $crate::document!(@reader $type $(, $reader)?)(node, &owner, values)
                        }
                        None => values.missing(&owner, $crate::document!(@key $field $($key)?)),
                    },
                )* }
            }

            fn stand_in(location: $crate::Location) -> Self {
                Self { $($field: <$type as $crate::Value>::stand_in(location),)* }
            }

            fn location_of(&self, key: &str) -> Option<$crate::Location> {
                $(if key == $crate::document!(@key $field $($key)?) {
                    return $crate::Value::location(&self.$field);
                })*
                None$(.or_else(|| $crate::Value::location_of(&self.$field, key)))*
            }
        }

        $crate::document! { $($rest)* }
    };
    (
        $(#[doc = $about:literal])*
        $(#[schema($($schema:tt)*)])?
        $visible:vis enum $name:ident $(($what:literal))? {
            $(#[doc = $first_doc:literal])*
            $first:ident: $first_word:literal $((not $($first_wrong:literal),+))?,
            $($(#[doc = $doc:literal])* $other:ident: $word:literal $((not $($wrong:literal),+))?,)*
        }
        $($rest:tt)*
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, $crate::serde::Deserialize)]
        $(#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars($($schema)*))])?
        #[serde(crate = "orbgate_yaml::serde")]
        $visible enum $name {
            #[default]
            $(#[doc = $first_doc])*
            #[serde(rename = $first_word)]
            $first,
            $($(#[doc = $doc])* #[serde(rename = $word)] $other,)*
        }

        impl $name {
            /// Each choice with its word.
            $visible const NAMED: &[(&'static str, Self)] =
                &[($first_word, Self::$first), $(($word, Self::$other)),*];
        }

        impl $crate::Value for $name {
            const SHAPE: $crate::Shape = $crate::Shape::Choice(&[$first_word, $($word),*]);

            fn read(
                node: &$crate::Node<'_>,
                owner: &$crate::Owner<'_>,
                values: &mut $crate::Values<'_>,
            ) -> Self {
                let what = owner.what;
                $(let what = $what;)?
                let wrong = &[
                    $($(($first_wrong, $first_word),)+)?
                    $($($(($wrong, $word),)+)?)*
                ];
                values.choice_with_tips(node, what, Self::NAMED, wrong).value
            }

            fn stand_in(_: $crate::Location) -> Self {
                Self::default()
            }
        }

        $crate::document! { $($rest)* }
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    (@reader $type:ty) => { <$type as $crate::Value>::read };
    (@reader $type:ty, $reader:path) => { $reader };
}

/// The version of a format: always 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Version(u64);

impl Value for Version {
    const SHAPE: Shape = Shape::Value("`1`");

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        values.version(node, owner.what);
        Self(1)
    }

    fn stand_in(_: Location) -> Self {
        Self(1)
    }
}

impl Value for String {
    const SHAPE: Shape = Shape::Value("string");

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        values.text(node, owner.what).value
    }

    fn stand_in(_: Location) -> Self {
        Self::new()
    }
}

/// An address. YAML 1.1 reads `127.0.0.1` as a number, which is never intended.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Address(pub String);

impl Value for Address {
    const SHAPE: Shape = Shape::Value("address");

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        Self(match &node.kind {
            Content::Scalar(scalar) => scalar.text.clone().into_owned(),
            _ => values.text(node, owner.what).value,
        })
    }

    fn stand_in(_: Location) -> Self {
        Self(String::new())
    }
}

impl Value for bool {
    const SHAPE: Shape = Shape::Choice(&["true", "false"]);

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        values.flag(node, owner.what).value
    }

    fn stand_in(_: Location) -> Self {
        false
    }
}

impl Value for u64 {
    const SHAPE: Shape = Shape::Value("number");

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        let is_zero = matches!(&node.kind, Content::Scalar(scalar) if scalar.plain && scalar.text == "0");
        let number = if is_zero { Some(0) } else { amount(node) };
        if number.is_none() {
            let must = must_be_whole(node, owner.what, "");
            values.wrong(node, &must);
        }
        number.unwrap_or_default()
    }

    fn stand_in(_: Location) -> Self {
        0
    }
}

impl Value for NonZeroU64 {
    const SHAPE: Shape = Shape::Value("number above 0");

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        let number = amount(node).and_then(Self::new);
        if number.is_none() {
            let must = must_be_whole(node, owner.what, " above 0");
            values.wrong(node, &must);
        }
        number.unwrap_or(Self::MIN)
    }

    fn stand_in(_: Location) -> Self {
        Self::MIN
    }
}

impl<T: Value> Value for Spanned<T> {
    const SHAPE: Shape = T::SHAPE;

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        node.spanned(T::read(node, owner, values))
    }

    fn stand_in(location: Location) -> Self {
        let value = T::stand_in(location);
        Self { location, value }
    }

    fn location(&self) -> Option<Location> {
        Some(self.value.wrong_part().unwrap_or(self.location))
    }

    fn location_of(&self, key: &str) -> Option<Location> {
        self.value.location_of(key).or_else(|| T::SHAPE.has_key(key).then_some(self.location))
    }
}

impl<T: Value> Value for Option<T> {
    const SHAPE: Shape = T::SHAPE;
    const IS_REQUIRED: bool = false;

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        Some(T::read(node, owner, values))
    }

    fn stand_in(_: Location) -> Self {
        None
    }

    fn location(&self) -> Option<Location> {
        self.as_ref()?.location()
    }

    fn location_of(&self, key: &str) -> Option<Location> {
        self.as_ref()?.location_of(key)
    }
}

impl<T: Value> Value for Vec<T> {
    const SHAPE: Shape = Shape::List(&T::SHAPE);

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        let items = values.list(node, owner.what).iter();
        let what = &format!("an item of {}", owner.what);
        let read = |item: &Node<'_>| {
            let location = item.location;
            T::read(item, &Owner { what, location }, values)
        };
        items.map(read).collect()
    }

    fn stand_in(_: Location) -> Self {
        Self::new()
    }

    fn location(&self) -> Option<Location> {
        self.first()?.location()
    }
}

/// A struct that is read only from a map, which is an object in JSON. Without this, serde also reads a struct from an
/// array.
#[derive(Clone, Copy, Debug, Default)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}
