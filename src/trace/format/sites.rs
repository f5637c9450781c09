//! The table of sites, as the instrumenter writes it into the source and the program hands it to the log.
//!
//! One line a site, ten fields apart by tabs: id, what the access does (`read`, `write`, `read-write`, `atomic`),
//! path, line, column, end line, end column (from 1, the end exclusive), the array as the user wrote it, the
//! kernel or device function, and the macro whose expansion holds the access, if there is one. White space within
//! a field is a single blank.

/// A place in the source where memory is accessed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// Its number in the log.
    pub id: u32,
    /// What it does, in the word of the table.
    pub access: String,
    /// The source file.
    pub path: String,
    /// Line and column of its first byte.
    pub start: (u32, u32),
    /// Line and column behind its last byte.
    pub end: (u32, u32),
    /// The array, as the user wrote it.
    pub array: String,
    /// The kernel or device function that it stands in.
    pub function: String,
    /// The macro whose expansion holds it; empty if there is none.
    pub expansion: String,
}

/// Sites of a table, and the numbers of the lines that are not understood.
pub fn parse(table: &str) -> (Vec<Site>, Vec<usize>) {
    let mut sites = Vec::new();
    let mut refused = Vec::new();
    for (number, line) in (1..).zip(table.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        match site(line) {
            Some(site) => sites.push(site),
            None => refused.push(number),
        }
    }
    (sites, refused)
}

fn site(line: &str) -> Option<Site> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [id, access, path, line, column, end_line, end_column, array, function, expansion] = fields[..] else {
        return None;
    };
    Some(Site {
        id: id.trim().parse().ok()?,
        access: access.to_owned(),
        path: path.to_owned(),
        start: (line.parse().ok()?, column.parse().ok()?),
        end: (end_line.parse().ok()?, end_column.parse().ok()?),
        array: array.to_owned(),
        function: function.to_owned(),
        expansion: expansion.to_owned(),
    })
}

/// The line of a site.
pub fn line(site: &Site) -> String {
    let Site { id, access, path, start, end, array, function, expansion } = site;
    let numbers = format!("{}\t{}\t{}\t{}", start.0, start.1, end.0, end.1);
    format!("{id}\t{access}\t{}\t{numbers}\t{}\t{}\t{}\n", field(path), field(array), field(function), field(expansion))
}

/// A field cannot hold what separates fields.
fn field(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_back() {
        let site = Site {
            id: 7,
            access: "write".into(),
            path: "dir\\a b.cu".into(),
            start: (3, 5),
            end: (3, 9),
            array: "p->tile[ty] [tx]".into(),
            function: "k".into(),
            expansion: String::new(),
        };
        assert_eq!(parse(&line(&site)), (vec![site], vec![]));
        assert_eq!(parse("\n1\tread\tx\n").1, [2]);
    }
}
