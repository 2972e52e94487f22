//! Responses to requests about documents.

use core::ops::Range as Span;
use std::collections::HashMap;

use gen_lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, CodeActionResponse, Contents, Definition, DefinitionResponse,
    ErrorCodes, Hover, Location, LspErrorCodes, MarkupContent, Position, Range, TextEdit, Uri, WorkspaceEdit,
};

use orbgate_analysis::Fix;

use super::{Answer, Server, error, lsp_error};
use crate::document::{Document, Format, Name, Valid};
use crate::encoding::Encoding;
use crate::{diagnostics, hover, layout, navigation};

impl Server<'_> {
    /// A document that has been checked.
    pub(super) fn seen(&mut self, uri: &Uri) -> Answer<&Document> {
        self.publish(&uri.0).map_err(|failed| error(ErrorCodes::InternalError, failed.to_string()))?;
        let document = self.documents.get(&uri.0);
        document.ok_or_else(|| {
            let message = "the document is not open".to_owned();
            error(ErrorCodes::InvalidParams, message)
        })
    }

    /// The name at a position in a document, if its last valid contents include the name.
    fn name_at(&mut self, uri: &Uri, position: Position) -> Answer<Option<At<'_>>> {
        let encoding = self.encoding;
        let document = self.seen(uri)?;
        let byte = encoding.byte_of(&document.text, position);
        let at = document.valid.as_ref().and_then(|valid| {
            let (name, span) = valid.name_at(&document.text, byte)?;
            Some(At { uri: &document.uri, valid, name, range: encoding.range(&document.text, span) })
        });
        Ok(at)
    }

    pub(super) fn hover(&mut self, uri: &Uri, position: Position) -> Answer<Option<Hover>> {
        let kind = self.hover_kind.clone();
        let at = self.name_at(uri, position)?;
        Ok(at.and_then(|at| {
            let value = hover::markdown(at.valid, at.name.of)?;
            Some(Hover { contents: Contents::MarkupContent(MarkupContent { kind, value }), range: Some(at.range) })
        }))
    }

    pub(super) fn definition(&mut self, uri: &Uri, position: Position) -> Answer<Option<DefinitionResponse>> {
        let encoding = self.encoding;
        let at = self.name_at(uri, position)?;
        Ok(at.and_then(|at| {
            let span = navigation::definition(at.valid, at.name.of)?;
            Some(Definition::Location(at.location(span, encoding)).into())
        }))
    }

    pub(super) fn references(
        &mut self,
        uri: &Uri,
        position: Position,
        with_scope: bool,
    ) -> Answer<Option<Vec<Location>>> {
        let encoding = self.encoding;
        let at = self.name_at(uri, position)?;
        Ok(at.map(|at| {
            let spans = navigation::references(at.valid, at.name.of, with_scope);
            let location = |span| at.location(span, encoding);
            spans.into_iter().map(location).collect()
        }))
    }

    pub(super) fn lay_out(&mut self, uri: &Uri) -> Answer<Option<Vec<TextEdit>>> {
        let encoding = self.encoding;
        let document = self.seen(uri)?;
        let has_diagnostics = document.checked.as_ref().is_none_or(|checked| !checked.diagnostics.is_empty());
        if document.kind != Format::Policy || has_diagnostics {
            // The errors are already shown.
            return Ok(None);
        }
        let text = &document.text;
        let new = orbgate_analysis::format(text.as_str()).map_err(|diagnostics| {
            let message = diagnostics.first().map(|diagnostic| diagnostic.message.clone());
            lsp_error(LspErrorCodes::RequestFailed, &message.unwrap_or_default())
        })?;
        let edit =
            layout::edit(text, &new).map(|(span, new_text)| TextEdit { range: encoding.range(text, span), new_text });
        Ok(Some(edit.into_iter().collect()))
    }

    pub(super) fn fixes(&mut self, params: &CodeActionParams) -> Answer<Option<Vec<CodeActionResponse>>> {
        let wanted = params.context.only.as_ref().is_none_or(|only| {
            let mut only = only.iter();
            only.any(|kind| matches!(kind, CodeActionKind::QuickFix | CodeActionKind::Empty))
        });
        if !wanted {
            return Ok(None);
        }
        let encoding = self.encoding;
        let document = self.seen(&params.text_document.uri)?;
        let text = &document.text;
        let [start, end] = [params.range.start, params.range.end];
        let [start, end] = [start, end].map(|position| encoding.byte_of(text, position));
        let fixes = orbgate_analysis::fixes(text, document.findings_on_the_lines(&(start..end.max(start))));
        let action = |fix: Fix<'_>| {
            let edit = TextEdit { range: encoding.range(text, fix.span), new_text: fix.new };
            let changes = HashMap::from([(document.uri.clone(), vec![edit])]);
            CodeActionResponse::CodeAction(CodeAction {
                title: fix.title,
                kind: Some(CodeActionKind::QuickFix),
                diagnostics: Some(vec![diagnostics::of_finding(document, fix.finding, encoding)]),
                is_preferred: Some(true),
                edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
                ..CodeAction::default()
            })
        };
        Ok(Some(fixes.into_iter().map(action).collect()))
    }
}

/// A name at the requested position.
struct At<'d> {
    uri: &'d Uri,
    valid: &'d Valid,
    name: &'d Name,
    /// The range in the current contents.
    range: Range,
}

impl At<'_> {
    fn location(&self, span: Span<usize>, encoding: Encoding) -> Location {
        Location { uri: self.uri.clone(), range: encoding.range(&self.valid.text, span) }
    }
}
