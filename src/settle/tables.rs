//! Tables: private arrays that are filled once with values that stay, read as formulas.
//!
//! `int stride[6] = {0, 768, 1536, 2304, 3072, 3840}` is memory of its thread, because an index that varies chooses among
//! its elements; what is read there would depend on data. After such a read, its variable is set to what the table holds:
//! `768 * i`, or, of a short table that is no progression, `i == 0 ? a : i == 1 ? b : c`.
//!
//! *Premises.* The array is private, and of known size. All writes of it stand in one list of statements, at constant
//! offsets, and cover it element by element; what they store is an integer that no variable decides. Every read stands
//! behind the last of them, in that list or within it. Nothing else mentions the array, and nothing that is not modelled
//! may reach it. *Gives.* Element `k` is what the last write of it stored, whenever it is read. *Proof.* Who gets to a
//! read has passed the whole list before it in the same turn of the loops around that list, and nothing but these
//! writes changes the memory of a thread.
//!
//! Assumed, as the C standards let us: no thread reads beside an array of its own. The read itself stays, so that runs
//! notice.
//!
//! Deliberately absent: tables in constant memory, which the host may overwrite, and arrays that loops fill.

use crate::calculus::{
    Access, ArrayId, BinaryOp, Expr, ExprId, Exprs, Kernel, ScalarType, Space, Stmt, nesting, operands,
};
use rustc_hash::FxHashMap;

/// Elements of a table that is no progression.
const MOST_CASES: usize = 8;
/// Elements of any table.
const MOST_ELEMENTS: u64 = 1024;
/// Statements nested deeper than this are left alone.
const MOST_NESTING: usize = 100;

/// Reads the tables of a kernel as formulas.
pub fn tabulate(kernel: &mut Kernel) {
    let is_small = |bytes: Option<u64>| bytes.is_some_and(|bytes| bytes <= 8 * MOST_ELEMENTS);
    let is_candidate = |array: ArrayId| {
        let each = &kernel.arrays[array];
        let reached = |arrays: &Option<Vec<ArrayId>>| arrays.as_ref().is_none_or(|arrays| arrays.contains(&array));
        each.space == Space::Private
            && is_small(each.bytes)
            && !kernel.unsupported.iter().any(|entry| reached(&entry.arrays))
    };
    let candidates = kernel.arrays.iter().map(|(array, _)| array).filter(|array| is_candidate(*array));
    let mut survey = Survey {
        exprs: &kernel.exprs,
        fillings: candidates.map(|array| (array, Filling::default())).collect(),
        lists: 0,
    };
    if survey.fillings.is_empty() || nesting(&kernel.body) > MOST_NESTING {
        return;
    }
    survey.block(&kernel.body, &mut Vec::new());
    let fillings = survey.fillings;
    let tables = fillings.into_iter().filter_map(|(array, filling)| {
        let bytes = kernel.arrays[array].bytes?;
        Some((array, filling.table(&kernel.exprs, bytes)?))
    });
    let tables: FxHashMap<_, _> = tables.collect();
    if !tables.is_empty() {
        let body = std::mem::take(&mut kernel.body);
        kernel.body = rewritten(kernel, &tables, body);
    }
}

/// How an array is filled.
#[derive(Default)]
struct Filling {
    /// Something is done with it that is done with no table.
    spoilt: bool,
    /// The list of statements that fills it.
    home: Option<u32>,
    /// What is stored last, by offset, and the size of an element.
    values: FxHashMap<i128, ExprId>,
    width: Option<u32>,
    read: bool,
}

/// What an array holds.
struct Table {
    width: u32,
    ty: ScalarType,
    values: Vec<ExprId>,
}

struct Survey<'a> {
    exprs: &'a Exprs,
    fillings: FxHashMap<ArrayId, Filling>,
    lists: u32,
}

impl Survey<'_> {
    /// Looks at statements within the lists `around`, in the order of the text.
    fn block(&mut self, body: &[Stmt], around: &mut Vec<u32>) {
        self.lists += 1;
        around.push(self.lists);
        for statement in body {
            match statement {
                Stmt::Read { access, .. } => {
                    if let Some(filling) = self.fillings.get_mut(&access.array) {
                        filling.read = true;
                        filling.spoilt |= !filling.home.is_some_and(|home| around.contains(&home));
                    }
                }
                Stmt::Write { access, value } => self.fill(access, *value, around),
                Stmt::Atomic { access, .. } => _ = self.fillings.remove(&access.array),
                Stmt::If { then, otherwise, .. } => {
                    self.block(then, around);
                    self.block(otherwise, around);
                }
                Stmt::For(each) => self.block(&each.body, around),
                Stmt::Loop { body, .. } => self.block(body, around),
                Stmt::Let { .. }
                | Stmt::Sync { .. }
                | Stmt::Fence { .. }
                | Stmt::Havoc { .. }
                | Stmt::Assume { .. }
                | Stmt::Assert { .. } => {}
            }
        }
        around.pop();
    }

    fn fill(&mut self, access: &Access, value: Option<ExprId>, around: &[u32]) {
        let Some(filling) = self.fillings.get_mut(&access.array) else { return };
        let here = around.last().copied();
        let stays = value.filter(|value| is_fixed(self.exprs, *value));
        match (self.exprs.as_int(access.offset), stays) {
            (Some(offset), Some(value))
                if !filling.read
                    && filling.home.is_none_or(|home| Some(home) == here)
                    && filling.width.is_none_or(|width| width == access.bytes) =>
            {
                filling.home = here;
                filling.width = Some(access.bytes);
                filling.values.insert(offset, value);
            }
            _ => filling.spoilt = true,
        }
    }
}

/// Whether no variable decides the value of an integer expression, and nothing that is not computed with.
fn is_fixed(exprs: &Exprs, root: ExprId) -> bool {
    let mut stack = vec![root];
    let mut visited = 0;
    while let Some(id) = stack.pop() {
        visited += 1;
        let node = &exprs[id];
        if visited > 64 || matches!(node, Expr::Var(_) | Expr::Opaque(..) | Expr::Call(..)) {
            return false;
        }
        stack.extend(operands(node));
    }
    exprs.ty(root).range().is_some()
}

impl Filling {
    /// The table that an array of so many bytes is.
    fn table(self, exprs: &Exprs, bytes: u64) -> Option<Table> {
        let width = self.width.filter(|_| !self.spoilt && self.read)?;
        let count = bytes / u64::from(width);
        if count * u64::from(width) != bytes || count > MOST_ELEMENTS || self.values.len() as u64 != count {
            return None;
        }
        let element = |index: u64| self.values.get(&i128::from(index * u64::from(width))).copied();
        let values = (0..count).map(element).collect::<Option<Vec<_>>>()?;
        let ty = exprs.ty(*values.first()?);
        let alike = ty.bytes() == width && values.iter().all(|value| exprs.ty(*value) == ty);
        alike.then_some(Table { width, ty, values })
    }
}

impl Table {
    /// What stands at a byte offset.
    fn at(&self, exprs: &mut Exprs, offset: ExprId) -> Option<ExprId> {
        if let Some((first, step)) = self.progression(exprs) {
            let width = i128::from(self.width);
            let (unit, by) = if step % width == 0 { (1, step / width) } else { (width, step) };
            let unit = exprs.int(unit, ScalarType::I64);
            let index = exprs.binary(BinaryOp::Div, offset, unit);
            let by = exprs.int(by, ScalarType::I64);
            let moved = exprs.binary(BinaryOp::Mul, index, by);
            let first = exprs.int(first, ScalarType::I64);
            let value = exprs.binary(BinaryOp::Add, moved, first);
            return Some(exprs.convert(self.ty, value));
        }
        let (&last, others) = self.values.split_last()?;
        if others.len() >= MOST_CASES {
            return None;
        }
        let mut value = last;
        for (index, &each) in others.iter().enumerate().rev() {
            let place = exprs.int(index as i128 * i128::from(self.width), ScalarType::I64);
            let is_here = exprs.binary(BinaryOp::Eq, offset, place);
            value = exprs.select(is_here, each, value);
        }
        Some(value)
    }

    /// First element and distance of its neighbours, if all are equal: of constants that fit a signed word.
    fn progression(&self, exprs: &Exprs) -> Option<(i128, i128)> {
        let values = self.values.iter().map(|value| exprs.as_int(*value)).collect::<Option<Vec<_>>>()?;
        let first = *values.first()?;
        let step = values.get(1).map_or(0, |second| second - first);
        let fits = |value: &i128| i64::try_from(*value).is_ok();
        let even = values.windows(2).all(|pair| pair[1] - pair[0] == step);
        (even && values.iter().all(fits) && fits(&(step * values.len() as i128))).then_some((first, step))
    }
}

/// The statements, where reads of tables tell what they read.
fn rewritten(kernel: &mut Kernel, tables: &FxHashMap<ArrayId, Table>, body: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(body.len());
    for statement in body {
        match statement {
            Stmt::Read { var, access } => {
                out.push(Stmt::Read { var, access });
                if let Some(table) = tables.get(&access.array)
                    && access.bytes == table.width
                    && kernel.vars[var].ty == table.ty
                    && kernel.exprs.is_multiple(access.offset, table.width)
                    && !kernel.exprs.mentions(access.offset, var)
                    && let Some(value) = table.at(&mut kernel.exprs, access.offset)
                {
                    out.push(Stmt::Let { var, value });
                }
            }
            Stmt::If { cond, then, otherwise } => {
                let then = rewritten(kernel, tables, then);
                let otherwise = rewritten(kernel, tables, otherwise);
                out.push(Stmt::If { cond, then, otherwise });
            }
            Stmt::For(mut each) => {
                each.body = rewritten(kernel, tables, std::mem::take(&mut each.body));
                out.push(Stmt::For(each));
            }
            Stmt::Loop { test, body, site } => {
                let body = rewritten(kernel, tables, body);
                out.push(Stmt::Loop { test, body, site });
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::tabulate;
    use crate::calculus::text::{parse, print};
    use crate::calculus::validate;

    /// What becomes of the body of a kernel with a private array `t` of `size` bytes.
    fn after(size: u32, body: &str) -> String {
        let text = format!(
            "kernel k(n: i32) {{\n  private t: element 4, size {size}\n  shared s: element 4, size 4096\n  var v: i32\n  \
             var i: i32\n{body}}}\n"
        );
        let mut kernel = parse(&text).unwrap_or_else(|error| panic!("{error:?}"));
        tabulate(&mut kernel);
        assert!(validate::validate(&kernel).is_empty(), "{:?}", validate::validate(&kernel));
        print(&kernel)
    }

    const FILL: &str = "  write t[0; 4] := 5 @0\n  write t[4; 4] := 12 @1\n  write t[8; 4] := 19 @2\n";
    const READ: &str = "  let v = read t[convert<i64>(i) * 4; 4] @5\n";

    #[test]
    fn a_progression_is_a_product() {
        let text = after(12, &format!("{FILL}{READ}"));
        assert!(text.contains("let v = convert<i32>(convert<i64>(i) * 4 / 4 * 7 + 5)"), "{text}");
    }

    #[test]
    fn steps_of_whole_elements_need_no_quotient() {
        let fill = "  write t[0; 4] := 0 @0\n  write t[4; 4] := 768 @1\n  write t[8; 4] := 1536 @2\n";
        let text = after(12, &format!("{fill}{READ}"));
        assert!(text.contains("* 192") && !text.contains('/'), "{text}");
    }

    #[test]
    fn other_tables_are_cases() {
        let fill = "  write t[0; 4] := 5 @0\n  write t[4; 4] := n @1\n  write t[8; 4] := 1 @2\n";
        let text = after(12, &format!("{fill}{READ}"));
        assert!(text.contains("let v = ") && text.contains("? n : 1"), "{text}");
    }

    #[test]
    fn what_changes_is_no_table() {
        let unchanged = |size: u32, body: &str| {
            let text = after(size, body);
            assert!(!text.contains("let v = convert") && !text.contains('?'), "{text}");
        };
        unchanged(12, &format!("{FILL}{READ}  write t[4; 4] := 1 @6\n"));
        unchanged(12, &format!("{FILL}  write t[convert<i64>(n) * 4; 4] := 1 @6\n{READ}"));
        unchanged(12, &format!("{READ}{FILL}"));
        unchanged(12, &format!("  if n > 0 {{\n{FILL}  }}\n{READ}"));
        unchanged(16, &format!("{FILL}{READ}"));
        unchanged(12, &format!("{}{READ}", FILL.replace("12", "i")));
        unchanged(12, &format!("{FILL}  if n > 0 {{\n    write t[4; 4] := 3 @6\n  }}\n{READ}"));
        unchanged(12, &format!("{FILL}  write t[0; 8] @6\n{READ}"));
        unchanged(12, &format!("{FILL}  write t[4; 4] @6\n{READ}"));
    }

    #[test]
    fn a_read_that_overwrites_its_own_index_is_left() {
        let text = after(12, &format!("{FILL}  let i = read t[convert<i64>(i) * 4; 4] @5\n"));
        assert!(!text.contains("let i = convert"), "{text}");
    }
}
