//! The one error of this crate.

/// A text that is no statement of the language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Lower case, the unexpected token in backticks, and what was expected.
    pub message: String,
    /// Byte of the text where the unexpected token starts; the text's length for an early end.
    pub at: u32,
    /// It may be a statement, but is nested more deeply, or longer as a chain or in pieces, than is read here.
    pub is_too_complex: bool,
    /// The text breaks off or a piece is missing. Without this it may just be a construct this parser does not know.
    pub(crate) malformed: bool,
}

impl SyntaxError {
    pub(crate) fn new(message: impl Into<String>, at: usize) -> Self {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        Self { message: message.into(), at, is_too_complex: false, malformed: true }
    }

    pub(crate) fn too_complex(message: impl Into<String>, at: usize) -> Self {
        Self { is_too_complex: true, ..Self::new(message, at) }
    }
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at byte {}", self.message, self.at)
    }
}

impl std::error::Error for SyntaxError {}

/// At most the first 40 characters, for messages.
pub(crate) fn excerpt(text: &str) -> &str {
    text.char_indices().nth(40).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
