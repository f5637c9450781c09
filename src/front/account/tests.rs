//! The law: whatever is taken out of a tree is missed, and nothing is missed in a tree that is whole.

use super::settle;
use crate::front::tree_sitter::parse;
use crate::preprocess::{Options, Output, preprocess};
use crate::source::{FileId, Language, SourceMap, Span};
use crate::syntax::{
    Expr, ExprKind, Function, Init, Item, ItemKind, Stmt, StmtKind, TemplateArg, Type, TypeKind, Variable,
};
use std::ops::Range;
use std::path::Path;

/// A kernel with a bit of everything.
const KERNEL: &str = r#"
#define TWICE(x) ((x) + (x))
__global__ void k(int *out, const float *in, int n) {
  __shared__ volatile float tile[32][(33)];
  int i = blockIdx.x * blockDim.x + threadIdx.x, j{1};
  const char *text = "a" "b";
  unsigned long long mask = 0xffull, other = ~mask;
  if (i >= n || !(i % 2 == 0)) return;
  else if (n - i > 3) j += 2;
  for (int step = 1; step < n; step <<= 1) { tile[step][threadIdx.y] = -in[i + step]; __syncthreads(); }
  while (j != 0) { --j; if (j == 'x') break; else continue; }
  do { j++; } while (j < 3);
  switch (n) { case 1: out[i] = TWICE(j); break; default: out[i] = static_cast<int>(sizeof(float) + sizeof j); }
  auto add = [&](int x) { return x + j; };
  float4 whole = make_float4(1.0f, 2.f, .5f, 0);
  out[i] = true ? add(3) : (int)whole.x | 4;
  struct Inner { int first, second; __device__ int sum() const { return first + second; } };
  Inner inner = {1, 2};
  asm volatile("mov.u32 %0, %1;" : "=r"(j) : "r"(i) : "memory");
  using Other = Inner;
  Other copy = inner;
  out[0] = copy.sum() ^ (int)(mask | other);
}
"#;

/// The functions of a text that have bodies, each with its tokens from its declarator to its end, and the tokens of the text.
fn functions(path: &Path, text: &str, language: Language) -> (Vec<(Function, Range<usize>)>, Output) {
    let options = Options::new(language);
    let mut sources = SourceMap::new();
    let main = sources.add_file(path, text);
    let output = preprocess(sources.clone(), main, &options);
    let answer = parse(sources, main, &options);
    let found = answer.unit.items.into_iter().filter_map(|item| match item.kind {
        ItemKind::Function(function) if function.body.is_some() => Some(*function),
        _ => None,
    });
    let with_tokens = |function: Function| {
        let name = function.path.segments.last()?.name.span;
        let from = output.tokens.iter().position(|token| token.span == name)?;
        Some((function, from..end_of_body(&output, from)))
    };
    (found.filter_map(with_tokens).collect(), output)
}

/// Behind the brace that closes the first one from `from` on.
fn end_of_body(output: &Output, from: usize) -> usize {
    let mut depth = 0;
    for (at, token) in output.tokens.iter().enumerate().skip(from) {
        match output.text(token) {
            "{" => depth += 1,
            "}" if depth == 1 => return at + 1,
            "}" => depth -= 1,
            _ => {}
        }
    }
    output.tokens.len()
}

/// The only kernel of a text, with its tokens.
fn kernel(text: &str) -> (Function, Output, Range<usize>) {
    let (functions, output) = functions(Path::new("k.cu"), text, Language::Cuda);
    let (function, tokens) = functions.into_iter().next().expect("there is a kernel");
    (function, output, tokens)
}

fn is_missed(function: &Function) -> bool {
    let first = function.body.as_ref().and_then(|body| body.first());
    matches!(first, Some(Stmt { kind: StmtKind::Unsupported(_), .. }))
}

/// Something that could be taken out.
enum Part<'a> {
    Stmt(&'a mut Stmt),
    Expr(&'a mut Expr),
    Type(&'a mut Type),
}

/// Shows every part to `visit`.
struct Parts<'v> {
    visit: &'v mut dyn FnMut(Part<'_>),
}

impl Parts<'_> {
    fn stmts(&mut self, stmts: &mut [Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::Block(stmts) => self.stmts(stmts),
            StmtKind::Item(item) => self.item(item),
            StmtKind::Expr(value) | StmtKind::Case(Some(value)) | StmtKind::Return(Some(value)) => self.expr(value),
            StmtKind::If { init, cond, then, otherwise, .. } => {
                self.expr(cond);
                for part in [init, otherwise].into_iter().flatten().chain([then]) {
                    self.stmt(part);
                }
            }
            StmtKind::For { init, cond, step, body } => {
                cond.iter_mut().chain(step).for_each(|part| self.expr(part));
                init.iter_mut().for_each(|init| self.stmt(init));
                self.stmt(body);
            }
            StmtKind::While { cond: value, body }
            | StmtKind::Do { body, cond: value }
            | StmtKind::Switch { value, body } => {
                self.expr(value);
                self.stmt(body);
            }
            StmtKind::Asm { outputs, inputs, .. } => {
                outputs.iter_mut().chain(inputs).for_each(|value| self.expr(value))
            }
            _ => {}
        }
        (self.visit)(Part::Stmt(stmt));
    }

    fn item(&mut self, item: &mut Item) {
        match &mut item.kind {
            ItemKind::Variables(variables) => variables.iter_mut().for_each(|variable| self.variable(variable)),
            ItemKind::Record(record) => record.members.iter_mut().flatten().for_each(|member| self.item(member)),
            ItemKind::Function(function) => self.stmts(function.body.as_deref_mut().unwrap_or_default()),
            ItemKind::Alias { ty, .. } => self.ty(ty),
            _ => {}
        }
    }

    fn variable(&mut self, variable: &mut Variable) {
        match &mut variable.init {
            Some(Init::Value(value)) => self.expr(value),
            Some(Init::Call(values) | Init::List(values)) => values.iter_mut().for_each(|value| self.expr(value)),
            None => {}
        }
    }

    fn ty(&mut self, ty: &mut Type) {
        if let TypeKind::Pointer(inner) | TypeKind::Reference(inner, _) | TypeKind::Array(inner, _) = &mut ty.kind {
            return self.ty(inner);
        }
        (self.visit)(Part::Type(ty));
    }

    fn expr(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Unary(_, inner) | ExprKind::Postfix(_, inner) | ExprKind::SizeofExpr(inner) => self.expr(inner),
            ExprKind::Binary(_, left, right) | ExprKind::Assign(_, left, right) | ExprKind::Index(left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Conditional(cond, yes, no) => [cond, yes, no].into_iter().for_each(|part| self.expr(part)),
            ExprKind::Call(callee, values) => {
                self.expr(callee);
                values.iter_mut().for_each(|value| self.expr(value));
            }
            ExprKind::Member { object, .. } => self.expr(object),
            ExprKind::Cast(_, ty, inner) => {
                self.ty(ty);
                self.expr(inner);
            }
            ExprKind::SizeofType(ty) => self.ty(ty),
            ExprKind::InitList(entries) => entries.iter_mut().for_each(|(_, value)| self.expr(value)),
            ExprKind::Lambda(lambda) => {
                lambda.closure.members.iter_mut().flatten().for_each(|member| self.item(member))
            }
            ExprKind::Path(path) => {
                for argument in path.segments.iter_mut().flat_map(|segment| segment.args.iter_mut().flatten()) {
                    match argument {
                        TemplateArg::Type(ty) => self.ty(ty),
                        TemplateArg::Value(value) => self.expr(value),
                        TemplateArg::Expansion(_) => {}
                    }
                }
            }
            _ => {}
        }
        (self.visit)(Part::Expr(expr));
    }
}

/// Takes out one part: what stands there instead lies nowhere.
fn take_out(part: Part<'_>) {
    let nowhere = Span::new(FileId::from_index(0), 0, 0);
    match part {
        Part::Stmt(stmt) => *stmt = Stmt { kind: StmtKind::Empty, span: nowhere },
        Part::Expr(expr) => *expr = Expr { kind: ExprKind::Null, span: nowhere },
        Part::Type(ty) => {
            *ty = Type { kind: TypeKind::Builtin("int".to_owned()), qualifiers: Vec::new(), span: nowhere }
        }
    }
}

/// What a part would be reported as.
fn described(part: &Part<'_>) -> String {
    match part {
        Part::Stmt(stmt) => format!("{:?}", stmt.kind),
        Part::Expr(expr) => format!("{:?}", expr.kind),
        Part::Type(ty) => format!("{:?}", ty.kind),
    }
}

#[test]
fn a_whole_tree_is_missed_nothing_of() {
    let (mut function, output, tokens) = kernel(KERNEL);
    assert!(!is_missed(&function), "{:?}", function.body.unwrap()[0]);
    settle(&mut function, &output, tokens, Language::Cuda);
    assert!(!is_missed(&function));
}

/// The function without its part number `at`, and what that was.
fn without(function: &Function, at: usize) -> Option<(Function, String)> {
    let mut damaged = function.clone();
    let (mut count, mut taken) = (0, None);
    let mut visit = |part: Part<'_>| {
        if count == at {
            taken = Some(described(&part));
            take_out(part);
        }
        count += 1;
    };
    Parts { visit: &mut visit }.stmts(damaged.body.as_mut().expect("it has a body"));
    taken.map(|taken| (damaged, taken))
}

/// Whether a part has nothing that could be lost: a cast to `void` does nothing.
fn is_nothing(part: &str) -> bool {
    ["Block([])", "Empty", "InitList([])", "Builtin(\"void\")"].contains(&part)
}

#[test]
fn every_part_that_is_taken_out_is_missed() {
    let (function, output, tokens) = kernel(KERNEL);
    let (mut count, mut unseen) = (0, Vec::new());
    while let Some((mut damaged, taken)) = without(&function, count) {
        settle(&mut damaged, &output, tokens.clone(), Language::Cuda);
        if !is_missed(&damaged) && !is_nothing(&taken) {
            unseen.push(taken);
        }
        count += 1;
    }
    assert!(unseen.is_empty(), "{unseen:#?}");
    assert!(count > 150, "only {count} parts were taken out");
}

/// In whatever people write: some parts of each function of the fixtures that is read as a whole.
#[test]
fn parts_that_are_taken_out_of_fixtures_are_missed() {
    let mut paths = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")];
    let (mut count, mut unseen) = (0, Vec::new());
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(std::fs::read_dir(&path).expect("it is read").map(|entry| entry.expect("it is there").path()));
            continue;
        }
        let language = match path.extension().and_then(|extension| extension.to_str()) {
            Some("cu") => Language::Cuda,
            Some("cl") => Language::OpenCl,
            _ => continue,
        };
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let (functions, output) = functions(&path, &text, language);
        for (function, tokens) in functions.iter().filter(|(function, _)| !is_missed(function)) {
            // Parts are visited from the inside out, so that any stride meets small and large ones.
            let parts = (0..).step_by(17).map_while(|at| without(function, at));
            for (mut damaged, taken) in parts {
                settle(&mut damaged, &output, tokens.clone(), language);
                count += 1;
                if !is_missed(&damaged) && !is_nothing(&taken) {
                    unseen.push(format!("{}: {taken}", path.display()));
                }
            }
        }
    }
    assert!(unseen.is_empty(), "{} of {count}: {unseen:#?}", unseen.len());
    assert!(count > 1000, "only {count} parts were taken out");
}

#[test]
fn an_operator_that_is_lost_is_missed() {
    let (function, output, tokens) = kernel("__global__ void k(int *a, bool b) { if (!b) a[0] = -a[1]; }");
    for lost in ["!", "-"] {
        let mut damaged = function.clone();
        let mut visit = |part: Part<'_>| {
            if let Part::Expr(expr) = part
                && let ExprKind::Unary(op, inner) = &mut expr.kind
                && format!("{op:?}") == if lost == "!" { "Not" } else { "Minus" }
            {
                *expr = (**inner).clone();
            }
        };
        Parts { visit: &mut visit }.stmts(damaged.body.as_mut().expect("it has a body"));
        settle(&mut damaged, &output, tokens.clone(), Language::Cuda);
        assert!(is_missed(&damaged), "{lost}");
    }
}

#[test]
fn a_macro_that_is_not_defined_is_named() {
    let (function, ..) = kernel("__global__ void k(int *a, int n) { LOOP(i, n) { a[0] = i; } }");
    let body = function.body.expect("it has a body");
    let Some(Stmt { kind: StmtKind::Unsupported(reason), .. }) = body.first() else { panic!("{body:?}") };
    assert!(reason.starts_with("`LOOP(…)` is no code of this file"), "{reason}");
}
