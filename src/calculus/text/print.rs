//! From a kernel to text.

use super::expressions::{Names, Printer};
use super::words::{
    ATOMICS, BASES, CLAIMED, INFIX, ORDERS, PARTS, SCOPES, SPACES, distinct, is_plain_name, quoted, type_text, word,
};
use crate::calculus::{
    Access, Among, Array, ArrayId, Arrivals, BinaryOp, Count, ExprId, For, HavocReason, Kernel, Placeholder, Platform,
    ScalarType, SiteId, Stmt, SyncMemory, Test, Told,
};

/// Greatest number of nodes that [`print_expr`] writes.
const GREATEST_EXPRESSION: u32 = 2000;

/// The kernel as text.
pub fn print(kernel: &Kernel) -> String {
    let names = Names::of(kernel);
    let mut roots = Vec::new();
    collect_roots(&kernel.body, &mut roots);
    let mut printer = KernelPrinter::new(kernel, &names, &roots);
    printer.head("kernel");
    printer.block(&kernel.body, 1);
    printer.finish()
}

/// One expression of the kernel as text; `…` if it is too large to be read.
pub fn print_expr(kernel: &Kernel, id: ExprId) -> String {
    let mut size = vec![1u32; id.index() + 1];
    kernel.exprs.visit(id, |below, node| {
        let operands = crate::calculus::operands(node);
        size[below.index()] = operands.iter().fold(1, |sum, operand| sum.saturating_add(size[operand.index()]));
    });
    if size[id.index()] > GREATEST_EXPRESSION {
        return "…".to_owned();
    }
    Printer::plain(&kernel.exprs, &Names::of(kernel)).expr(id, kernel.exprs.ty(id))
}

/// Expressions that statements use, as often as they are used.
fn collect_roots(body: &[Stmt], roots: &mut Vec<ExprId>) {
    for stmt in body {
        match stmt {
            Stmt::Let { value, .. } => roots.push(*value),
            Stmt::Read { access, .. } => roots.push(access.offset),
            Stmt::Write { access, value } => roots.extend([Some(access.offset), *value].into_iter().flatten()),
            Stmt::Atomic { access, operands, .. } => {
                roots.push(access.offset);
                roots.extend(operands);
            }
            Stmt::If { cond, then, otherwise } => {
                roots.push(*cond);
                collect_roots(then, roots);
                collect_roots(otherwise, roots);
            }
            Stmt::For(counted) => {
                roots.extend([counted.start, counted.bound, counted.step.by]);
                collect_roots(&counted.body, roots);
            }
            Stmt::Loop { test: Test::Before(cond) | Test::After(cond), body, .. } => {
                roots.push(*cond);
                collect_roots(body, roots);
            }
            Stmt::Assume { cond, .. } | Stmt::Assert { cond, .. } => roots.push(*cond),
            Stmt::Sync { among, .. } => roots.extend(among.mentioned()),
            Stmt::Fence { .. } | Stmt::Havoc { .. } => {}
        }
    }
}

/// Prints a kernel; or, for texts about kernels, its declarations and expressions.
pub(crate) struct KernelPrinter<'a> {
    kernel: &'a Kernel,
    exprs: Printer<'a>,
    arrays: Vec<String>,
    out: String,
    /// One more than the greatest site written so far.
    sites: usize,
    /// Where the declarations end in `out`.
    declarations: usize,
}

impl<'a> KernelPrinter<'a> {
    /// A printer for a kernel of which the expressions below `roots` will be written.
    pub(crate) fn new(kernel: &'a Kernel, names: &'a Names, roots: &[ExprId]) -> Self {
        let exprs = Printer::new(&kernel.exprs, names, roots);
        let arrays = distinct(kernel.arrays.iter().map(|(_, array)| array.name.as_str()));
        KernelPrinter { kernel, exprs, arrays, out: String::new(), sites: 0, declarations: 0 }
    }

    fn array_text(&self, array: &Array, name: &str) -> String {
        let mut text = word(SPACES, &array.space).to_owned();
        if array.is_param {
            text.push_str(" param");
        }
        text.push_str(&format!(" {name}: element {}", array.element_bytes));
        if let Some(bytes) = array.bytes {
            text.push_str(&format!(", size {bytes}"));
        }
        if !array.inner_dims.is_empty() {
            let dims: Vec<_> = array.inner_dims.iter().map(u64::to_string).collect();
            text.push_str(&format!(", inner [{}]", dims.join(", ")));
        }
        if array.is_filled_elsewhere {
            text.push_str(", filled elsewhere");
        }
        if let Some((holder, offset)) = array.held_in {
            text.push_str(&format!(", held in {} at {offset}", self.array(holder)));
        }
        if let Some(given) = array.given {
            text.push_str(&format!(", given {}", self.exprs.names.params[given.index()]));
        }
        text
    }

    /// Adds an indented line.
    pub(crate) fn line(&mut self, depth: usize, text: &str) {
        self.out.push_str(&"  ".repeat(depth));
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Writes everything that stands before the first statement.
    pub(crate) fn head(&mut self, keyword: &str) {
        let header = self.header(keyword);
        self.line(0, &header);
        for (index, (_, array)) in self.kernel.arrays.iter().enumerate() {
            let text = self.array_text(array, &self.arrays[index]);
            self.line(1, &text);
        }
        for (id, variable) in self.kernel.vars.iter() {
            let text = format!("var {}: {}", self.exprs.names.vars[id.index()], type_text(variable.ty));
            self.line(1, &text);
        }
        if let Some(returned) = self.kernel.returned {
            let text = format!("returned {}", self.exprs.names.vars[returned.index()]);
            self.line(1, &text);
        }
        self.told();
        self.unsupported();
        for definition in self.exprs.definitions().collect::<Vec<_>>() {
            self.line(1, &definition);
        }
        self.declarations = self.out.len();
    }

    /// The whole text.
    pub(crate) fn finish(mut self) -> String {
        if self.kernel.sites.len() > self.sites {
            let text = format!("  sites {}\n", self.kernel.sites.len());
            self.out.insert_str(self.declarations, &text);
        }
        self.line(0, "}");
        self.out
    }

    fn header(&self, keyword: &str) -> String {
        let kernel = self.kernel;
        let name = if is_plain_name(&kernel.name) { kernel.name.clone() } else { quoted(&kernel.name, '`') };
        let mut header = format!("{keyword} {name}");
        if !kernel.template_args.is_empty() {
            let args: Vec<_> = kernel.template_args.iter().map(|arg| quoted(arg, '"')).collect();
            header.push_str(&format!("<{}>", args.join(", ")));
        }
        let params: Vec<_> = kernel
            .params
            .iter()
            .map(|(id, param)| format!("{}: {}", self.exprs.names.params[id.index()], type_text(param.ty)))
            .collect();
        header.push_str(&format!("({}) ", params.join(", ")));
        let facts = [
            kernel.geometry.required_block.map(|[x, y, z]| format!("block {x} {y} {z}")),
            kernel.geometry.max_threads.map(|threads| format!("threads <= {threads}")),
            kernel.geometry.cluster.map(|[x, y, z]| format!("cluster {x} {y} {z}")),
            (kernel.geometry.platform != Platform::default()).then(|| kernel.geometry.platform.rules().word.to_owned()),
        ];
        let facts: Vec<_> = facts.into_iter().flatten().collect();
        if !facts.is_empty() {
            header.push_str(&format!("[{}] ", facts.join(", ")));
        }
        header.push('{');
        header
    }

    fn told(&mut self) {
        for (site, entry) in self.kernel.sites.iter() {
            if let Some(Told { array, start }) = entry.told {
                let text = format!("told {} by {}[{start}]", self.site(site), self.array(array));
                self.line(1, &text);
            }
        }
    }

    fn unsupported(&mut self) {
        for entry in &self.kernel.unsupported {
            let mut text = format!("unsupported {}", quoted(&entry.reason, '"'));
            if let Some(arrays) = &entry.arrays {
                let names: Vec<_> = arrays.iter().map(|array| self.arrays[array.index()].clone()).collect();
                text.push_str(&format!(
                    " touches {}",
                    if names.is_empty() { "nothing".into() } else { names.join(", ") }
                ));
                text.push_str(if entry.barriers { " and barriers" } else { "" });
                text.push_str(if entry.is_of_thread { " alone" } else { "" });
            }
            self.line(1, &text);
        }
    }

    fn block(&mut self, body: &[Stmt], depth: usize) {
        for stmt in body {
            self.stmt(stmt, depth);
        }
    }

    /// `@3`
    pub(crate) fn site(&mut self, site: SiteId) -> String {
        self.sites = self.sites.max(site.index() + 1);
        format!("@{}", site.index())
    }

    /// The text of a variable.
    pub(crate) fn var(&self, var: crate::calculus::VarId) -> &str {
        &self.exprs.names.vars[var.index()]
    }

    /// An expression where a literal stands for a value of the type that the expression has anyway.
    pub(crate) fn own(&self, id: ExprId, context: ScalarType) -> String {
        self.exprs.expr(id, context)
    }

    fn access(&self, access: &Access) -> String {
        self.aligned_place(access.array, access.offset, (access.bytes, access.align))
    }

    /// A place, with what its address must be a multiple of.
    pub(crate) fn aligned_place(&self, array: ArrayId, offset: ExprId, (bytes, align): (u32, u32)) -> String {
        let mut text = self.place(array, offset, bytes);
        if align != 1 {
            text.pop();
            text.push_str(&format!(" align {align}]"));
        }
        text
    }

    /// The text of an array.
    pub(crate) fn array(&self, array: ArrayId) -> &str {
        &self.arrays[array.index()]
    }

    /// `y[4 * i; 4]`
    pub(crate) fn place(&self, array: ArrayId, offset: ExprId, bytes: u32) -> String {
        format!("{}[{}; {bytes}]", self.array(array), self.own(offset, ScalarType::I64))
    }

    /// `shared global only a `
    pub(crate) fn memory(&self, SyncMemory { shared, global, images, array, library }: SyncMemory) -> String {
        let words = [(shared, "shared "), (global, "global "), (images, "images "), (library, "library ")];
        let words: String = words.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
        words + &array.map_or(String::new(), |array| format!("only {} ", self.array(array)))
    }

    /// `tiles 16 `, for which threads of its scope a barrier is.
    pub(crate) fn among(&self, among: Among) -> String {
        match among {
            Among::All => String::new(),
            Among::Counted => "counted ".to_owned(),
            Among::Named(cond) => format!("named {} ", self.own(cond, ScalarType::Bool)),
            Among::Tiles(threads) => format!("tiles {threads} "),
            Among::InStep(threads) => format!("step {threads} "),
            Among::Arrivals(Arrivals { array, offset, circle, count, part }) => {
                let circle = if circle == 1 { String::new() } else { format!("round {circle} ") };
                let count = match count {
                    Count::Block => String::new(),
                    Count::Number(count) => format!("of {count} "),
                    Count::Range(from, to) => format!("of {from} to {to} "),
                    Count::Open => "open ".to_owned(),
                };
                let offset = self.own(offset, ScalarType::I64);
                format!("{} {}[{offset}] {circle}{count}", word(PARTS, &part), self.array(array))
            }
            Among::Placeholder(Placeholder::Mask(mask)) => format!("mask {} ", self.own(mask, ScalarType::I32)),
            Among::Placeholder(Placeholder::Object { array, offset }) => {
                format!("object {}[{}] ", self.array(array), self.own(offset, ScalarType::I64))
            }
            Among::Placeholder(Placeholder::Numbered { number, threads }) => {
                let [number, threads] = [number, threads].map(|value| self.own(value, ScalarType::I32));
                format!("numbered {number} of {threads} ")
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) {
        let text = match stmt {
            Stmt::Let { var, value } => {
                format!("let {} = {}", self.var(*var), self.own(*value, self.kernel.vars[*var].ty))
            }
            Stmt::Read { var, access } => {
                let site = self.site(access.site);
                format!("let {} = read {} {site}", self.var(*var), self.access(access))
            }
            Stmt::Write { access, value } => {
                let site = self.site(access.site);
                let value = value.map_or(String::new(), |value| format!(":= {} ", self.own(value, ScalarType::I32)));
                format!("write {} {value}{site}", self.access(access))
            }
            Stmt::Atomic { .. } => self.atomic(stmt),
            Stmt::If { cond, then, otherwise } => return self.branch(*cond, then, otherwise, depth),
            Stmt::For(counted) => return self.counted(counted, depth),
            Stmt::Loop { test, body, site } => return self.looped(*test, body, *site, depth),
            Stmt::Sync { scope, memory, among, site } => {
                let site = self.site(*site);
                let among = self.among(*among);
                format!("sync {} {}{among}{site}", word(SCOPES, scope), self.memory(*memory))
            }
            Stmt::Fence { order, scope, memory, site } => {
                let site = self.site(*site);
                format!("fence {} {} {}{site}", word(ORDERS, order), word(SCOPES, scope), self.memory(*memory))
            }
            Stmt::Havoc { var, reason, .. } => format!("havoc {} {}", self.var(*var), reason_text(reason)),
            Stmt::Assume { cond, basis, .. } => {
                format!("{} {}", word(BASES, basis), self.own(*cond, ScalarType::Bool))
            }
            Stmt::Assert { cond, claimed, site } => {
                let site = self.site(*site);
                format!("{} {} {site}", word(CLAIMED, claimed), self.own(*cond, ScalarType::Bool))
            }
        };
        self.line(depth, &text);
    }

    fn atomic(&mut self, stmt: &Stmt) -> String {
        let Stmt::Atomic { var, access, op, operands, order, scope } = stmt else { return String::new() };
        let site = self.site(access.site);
        let target = var.map_or(String::new(), |var| format!("let {} = ", self.var(var)));
        let operands: Vec<_> = operands.iter().map(|&operand| self.own(operand, ScalarType::I32)).collect();
        format!(
            "{target}atomic {} {}({}) {} {} {site}",
            word(ATOMICS, op),
            self.access(access),
            operands.join(", "),
            word(ORDERS, order),
            word(SCOPES, scope)
        )
    }

    fn branch(&mut self, cond: ExprId, then: &[Stmt], otherwise: &[Stmt], depth: usize) {
        let text = format!("if {} {{", self.own(cond, ScalarType::Bool));
        self.line(depth, &text);
        self.block(then, depth + 1);
        if !otherwise.is_empty() {
            self.line(depth, "} else {");
            self.block(otherwise, depth + 1);
        }
        self.line(depth, "}");
    }

    fn counted(&mut self, counted: &For, depth: usize) {
        let ty = self.kernel.vars[counted.var].ty;
        let var = self.var(counted.var).to_owned();
        let site = self.site(counted.site);
        let text = format!(
            "for {var} = {} while {var} {} {} step {} {} {site} {{",
            self.own(counted.start, ty),
            sign(counted.cmp),
            self.own(counted.bound, ty),
            sign(counted.step.op),
            self.own(counted.step.by, ty)
        );
        self.line(depth, &text);
        self.block(&counted.body, depth + 1);
        self.line(depth, "}");
    }

    fn looped(&mut self, test: Test, body: &[Stmt], site: SiteId, depth: usize) {
        let site = self.site(site);
        let (head, tail) = match test {
            Test::Before(cond) => {
                (format!("loop while {} {site} {{", self.own(cond, ScalarType::Bool)), "}".to_owned())
            }
            Test::After(cond) => (format!("loop {site} {{"), format!("}} while {}", self.own(cond, ScalarType::Bool))),
        };
        self.line(depth, &head);
        self.block(body, depth + 1);
        self.line(depth, &tail);
    }
}

fn sign(op: BinaryOp) -> &'static str {
    INFIX.iter().find(|(_, entry, _)| *entry == op).map_or(if op == BinaryOp::Min { "min" } else { "max" }, |row| row.0)
}

/// `call "f"`
pub(crate) fn reason_text(reason: &HavocReason) -> String {
    match reason {
        HavocReason::Uninitialized => "uninitialized".to_owned(),
        HavocReason::Choice => "choice".to_owned(),
        HavocReason::Call(name) => format!("call {}", quoted(name, '"')),
        HavocReason::Common(scope, name) => format!("common {} {}", word(SCOPES, scope), quoted(name, '"')),
        HavocReason::Undeclared(name) => format!("undeclared {}", quoted(name, '"')),
        HavocReason::Schedule(name) => format!("schedule {}", quoted(name, '"')),
        HavocReason::Implementation(text) => format!("implementation {}", quoted(text, '"')),
        HavocReason::Pointer(text) => format!("pointer {}", quoted(text, '"')),
        HavocReason::Other(text) => format!("other {}", quoted(text, '"')),
    }
}
