//! Closed sets of words: each an enum whose variants stand beside the names by which they are written, read and shown.

/// An enum of words. What is kept and exported of it is the name.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            pub const ALL: [$name; [$($word),+].len()] = [$($name::$variant),+];
            pub const NAMES: [&str; Self::ALL.len()] = [$($word),+];

            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }

            pub fn from_name(name: &str) -> Option<$name> {
                let at = $name::NAMES.iter().position(|known| *known == name)?;
                $name::ALL.get(at).copied()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
pub(crate) use words;
