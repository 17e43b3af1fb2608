//! What went wrong, in words that say what to look for.

use granit_parser::ErrorKind as E;

/// Says a syntax error; the parser's own words where it is rare.
pub(super) fn say(kind: &E) -> String {
    match kind {
        E::ExpectedBlockMappingKey | E::ExpectedBlockSequenceEntry | E::InvalidIndentation => {
            "this line is indented unlike the lines that it belongs to".into()
        }
        E::MappingValueNotAllowed => "a `key: value` cannot stand inside another value; quote the text".into(),
        E::SimpleKeyExpected | E::InvalidSimpleKey => "this line is neither `key: value` nor part of a text".into(),
        E::ExpectedDocumentStart => "something follows after the end of the document".into(),
        E::ExpectedFlowMappingSeparator => "`,` or `}` is missing".into(),
        E::ExpectedFlowSequenceSeparator => "`,` or `]` is missing".into(),
        E::UnexpectedEofFlowMapping => "`{` is never closed".into(),
        E::UnexpectedEofFlowSequence => "`[` is never closed".into(),
        E::UnclosedQuotedScalar => "a quote is never closed".into(),
        E::InvalidTrailingSingleQuotedScalar | E::InvalidTrailingDoubleQuotedScalar => {
            "text follows after the closing quote".into()
        }
        E::TabInIndentation | E::TabInBlockIndentation | E::TabNotAllowed => "a tab stands where spaces indent".into(),
        E::RecursionLimitExceeded => format!("nested deeper than {} levels", super::DEEPEST),
        E::UnexpectedCharacter { character } if character.is_control() => "a control character".into(),
        E::UnexpectedCharacter { .. } => "this character cannot start a value; quote the text".into(),
        other => other.to_string(),
    }
}
