//! How people want a report shown: colours, links, signs and width, and how much of it. Knows nothing of findings.

use crate::finding::Severity;
use crate::source::for_log;
use anstyle::{AnsiColor, Style};

/// Columns that text is wrapped at off a terminal: the same report for everybody.
pub const WIDTH: usize = 100;

/// How to show it.
#[derive(Debug, Clone, Copy)]
pub struct HumanOptions {
    /// Whether to colour.
    pub color: bool,
    /// Whether names of rules are links to their pages.
    pub links: bool,
    /// Whether other signs than those of ASCII can be shown.
    pub unicode: bool,
    /// Columns to wrap text at.
    pub width: usize,
    /// Whether to list what could not be decided.
    pub show_unknown: bool,
    /// Whether to list where files speak of GPUs and were not understood.
    pub show_unread: bool,
    /// Whether to end with the summary.
    pub summary: bool,
    /// Whether to count findings by rule instead of showing them.
    pub statistics: bool,
    /// Most findings to show.
    pub limit: Option<usize>,
}

impl Default for HumanOptions {
    fn default() -> Self {
        Self {
            color: false,
            links: false,
            unicode: true,
            width: WIDTH,
            show_unknown: false,
            show_unread: false,
            summary: true,
            statistics: false,
            limit: None,
        }
    }
}

impl HumanOptions {
    /// Text in a style, where colours are wanted.
    pub fn paint(&self, style: Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Text in the style of a severity.
    pub fn paint_severity(&self, severity: Severity, text: &str) -> String {
        let color = match severity {
            Severity::Error => AnsiColor::BrightRed,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Info => AnsiColor::BrightBlue,
        };
        self.paint(color.on_default().bold(), text)
    }

    /// Text that leads to a page, where the terminal has links (OSC 8).
    pub fn link(&self, text: &str, url: Option<&str>) -> String {
        // An address with other signs than these could end the link early.
        let safe = |url: &&str| url.bytes().all(|byte| byte.is_ascii_graphic());
        match url.filter(safe) {
            Some(url) if self.links => format!("\u{1b}]8;;{url}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\"),
            _ => text.to_owned(),
        }
    }

    /// The last thing that happens to text for people: no line of it is a command to a runner, and where only ASCII can be
    /// shown, nothing else is.
    pub fn finished(&self, text: &str) -> String {
        let text = for_log(text);
        if self.unicode || text.is_ascii() {
            return text.into_owned();
        }
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                _ if c.is_ascii() => out.push(c),
                '…' => out.push_str("..."),
                '–' | '—' | '·' => out.push('-'),
                '×' => out.push('x'),
                _ => out.push('?'),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ascii_where_nothing_else_can_be_shown() {
        let ascii = HumanOptions { unicode: false, ..HumanOptions::default() };
        assert_eq!(ascii.finished("1 × é…\n::x\n"), "1 x ?...\n?x\n");
        assert_eq!(HumanOptions::default().finished("é…\n"), "é…\n");
    }

    #[test]
    fn a_link_is_one_only_on_a_terminal_that_has_links() {
        let links = HumanOptions { links: true, ..HumanOptions::default() };
        assert_eq!(HumanOptions::default().link("a", Some("https://x/")), "a");
        assert_eq!(links.link("a", Some("https://x/")), "\u{1b}]8;;https://x/\u{1b}\\a\u{1b}]8;;\u{1b}\\");
        assert_eq!(links.link("a", Some("https://x/\u{7}")), "a");
        assert_eq!(links.link("a", None), "a");
    }
}
