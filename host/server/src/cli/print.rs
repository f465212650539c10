//! Writing to standard output: for people in aligned columns, for machines as JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::status::of_output;

/// Write text to standard output and flush it.
pub fn text(text: &str) -> anyhow::Result<()> {
    bytes(text.as_bytes())
}

/// Write bytes to standard output and flush them.
pub fn bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(of_output)
}

/// Write a value as one line of JSON.
pub fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    text(&line)
}

/// Write a value as indented JSON.
pub fn pretty_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut page = serde_json::to_string_pretty(value)?;
    page.push('\n');
    text(&page)
}

/// Text as it may stand on a terminal: control characters are spelled out, so that a name in a file cannot steer the
/// terminal of whoever looks at it.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        if sign.is_control()
            || matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
        {
            out.extend(sign.escape_unicode());
        } else {
            out.push(sign);
        }
    }
    out
}

/// Rows in aligned columns, two blanks apart, under a heading.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this heading.
    pub fn new(heading: &[&str]) -> Self {
        Self { rows: vec![heading.iter().map(|cell| (*cell).to_owned()).collect()] }
    }

    /// A table of names and values, without a heading.
    pub fn of_facts() -> Self {
        Self { rows: Vec::new() }
    }

    /// Add a row.
    pub fn row<I: IntoIterator<Item = S>, S: AsRef<str>>(&mut self, cells: I) {
        self.rows.push(cells.into_iter().map(|cell| plain(cell.as_ref())).collect());
    }

    /// The table as text, a line for each row, without blanks at line ends.
    pub fn render(&self) -> String {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            for (column, cell) in row.iter().enumerate() {
                let width = cell.chars().count();
                match widths.get_mut(column) {
                    Some(known) => *known = width.max(*known),
                    None => widths.push(width),
                }
            }
        }
        let mut page = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(cell);
                let missing = width.saturating_sub(cell.chars().count());
                line.extend(std::iter::repeat_n(' ', missing.saturating_add(2)));
            }
            page.push_str(line.trim_end());
            page.push('\n');
        }
        page
    }

    /// Write the table to standard output.
    pub fn print(&self) -> anyhow::Result<()> {
        text(&self.render())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_without_blanks() {
        let mut table = Table::new(&["RUN", "STATUS"]);
        table.row(["run_20260101_abcdef", "completed"]);
        table.row(["é", ""]);
        assert_eq!(table.render(), "RUN                  STATUS\nrun_20260101_abcdef  completed\né\n");
    }

    #[test]
    fn control_and_direction_signs_are_spelled_out() {
        assert_eq!(plain("a\u{1b}[2Jb\u{202e}c"), "a\\u{1b}[2Jb\\u{202e}c");
    }
}
