//! Small trees in a notation of their own: `r` and `w` are accesses, `S` a sync, `L(…)` a loop, `I(…|…)` an `if`; `W(…)` is
//! a loop while a flag is false, `N(…)` an `if` that it is, `X` sets it, and `Y` resets it.

use super::{Relation, Turn, analyze};
use crate::calculus::{
    Access, Among, Array, BinaryOp, ExprId, For, Kernel, ScalarType, Site, SiteId, Space, Step, Stmt, SyncMemory,
    SyncScope, Test, VarId, Variable,
};
use std::iter::Peekable;
use std::str::Chars;

struct Parser<'t> {
    text: Peekable<Chars<'t>>,
    kernel: Kernel,
    value: ExprId,
    var: VarId,
    flag: VarId,
    named: Vec<(char, SiteId)>,
}

impl Parser<'_> {
    fn body(&mut self) -> Vec<Stmt> {
        let mut body = Vec::new();
        while let Some(&letter) = self.text.peek() {
            if matches!(letter, ')' | '|') {
                break;
            }
            self.text.next();
            if letter != ' ' {
                body.push(self.statement(letter));
            }
        }
        body
    }

    fn statement(&mut self, letter: char) -> Stmt {
        if letter == 'I' {
            self.text.next();
            let then = self.body();
            let otherwise = if self.text.next() == Some('|') {
                let otherwise = self.body();
                self.text.next();
                otherwise
            } else {
                Vec::new()
            };
            let cond = self.kernel.exprs.opaque("c", ScalarType::Bool);
            return Stmt::If { cond, then, otherwise };
        }
        let flag = self.kernel.exprs.var(self.flag, ScalarType::Bool);
        let is_clear = self.kernel.exprs.not(flag);
        match letter {
            'N' => {
                self.text.next();
                let then = self.body();
                self.text.next();
                return Stmt::If { cond: is_clear, then, otherwise: Vec::new() };
            }
            'X' | 'Y' => return Stmt::Let { var: self.flag, value: self.kernel.exprs.bool(letter == 'X') },
            _ => {}
        }
        let site = self.kernel.sites.push(Site { span: None, inlined: Vec::new(), told: None });
        self.named.push((letter, site));
        match letter {
            'S' | 'T' => {
                let memory = SyncMemory::BOTH;
                Stmt::Sync { scope: SyncScope::Block, memory, among: Among::All, site }
            }
            'L' | 'M' => {
                self.text.next();
                let body = self.body();
                self.text.next();
                let (var, start, bound) = (self.var, self.value, self.value);
                let step = Step { op: BinaryOp::Add, by: self.value };
                Stmt::For(Box::new(For { var, start, cmp: BinaryOp::Lt, bound, step, body, site }))
            }
            'W' => {
                self.text.next();
                let body = self.body();
                self.text.next();
                Stmt::Loop { test: Test::Before(is_clear), body, site }
            }
            _ => {
                let array = self.kernel.arrays.handles().next().unwrap();
                let access = Access { array, offset: self.value, bytes: 1, align: 1, site };
                Stmt::Write { access, value: None }
            }
        }
    }
}

/// The meetings of accesses `a` and `b` of `tree` as text; syncs called `T` do not order.
fn meetings(tree: &str, a: char, b: char) -> Vec<String> {
    let mut kernel = Kernel::default();
    let value = kernel.exprs.int(0, ScalarType::I64);
    let var = kernel.vars.push(Variable { name: "i".to_owned(), ty: ScalarType::I64 });
    let flag = kernel.vars.push(Variable { name: "flag".to_owned(), ty: ScalarType::Bool });
    kernel.arrays.push(Array {
        name: "a".to_owned(),
        space: Space::Global,
        bytes: None,
        element_bytes: 1,
        inner_dims: Vec::new(),
        is_param: true,
        is_filled_elsewhere: false,
        held_in: None,
        given: None,
        span: None,
    });
    let mut parser = Parser { text: tree.chars().peekable(), kernel, value, var, flag, named: Vec::new() };
    parser.kernel.body = parser.body();
    let named = parser.named;
    let site = |name: char| named.iter().find(|(letter, _)| *letter == name).unwrap().1;
    let letter = |site: SiteId| named.iter().find(|(_, other)| *other == site).unwrap().0;
    let intervals = analyze(&parser.kernel, &|sync| letter(sync) == 'S');
    let mut texts = Vec::new();
    for meeting in intervals.meetings(site(a), site(b)) {
        let mut text = String::new();
        for (each, relation) in meeting.relations {
            let sign = match relation {
                Relation::Same => '=',
                Relation::Next => '+',
                Relation::Previous => '-',
                Relation::Any => '*',
            };
            text.extend([letter(each), sign]);
        }
        for instance in meeting.between {
            text.push_str(" S");
            for (each, turn) in instance.iterations {
                let turn = match turn {
                    Turn::First => "1",
                    Turn::AfterFirst => "1+",
                    Turn::Second => "2",
                    Turn::AfterSecond => "2+",
                    Turn::BeforeFirst => "1-",
                    Turn::BeforeSecond => "2-",
                    Turn::Zero => "0",
                };
                text.push(letter(each));
                text.push_str(turn);
            }
        }
        texts.push(text);
    }
    texts
}

#[test]
fn a_sync_in_line_separates() {
    assert_eq!(meetings("a b", 'a', 'b'), [""]);
    assert_eq!(meetings("a S b", 'a', 'b'), [""; 0]);
    assert_eq!(meetings("a S b", 'b', 'a'), [""; 0]);
    assert_eq!(meetings("a T b", 'a', 'b'), [""]);
    assert_eq!(meetings("a S", 'a', 'a'), [""]);
    assert_eq!(meetings("I(a S b)", 'a', 'b'), [""; 0]);
}

#[test]
fn a_guarded_sync_is_a_circumstance() {
    assert_eq!(meetings("a I(S) b", 'a', 'b'), [" S"]);
    assert_eq!(meetings("I(a S) b", 'a', 'b'), [" S"]);
    assert_eq!(meetings("I(a S|b)", 'a', 'b'), [" S"]);
    assert_eq!(meetings("a L(S) b", 'a', 'b'), [" SL0"]);
}

#[test]
fn a_loop_without_sync_leaves_turns_private() {
    assert_eq!(meetings("L(a b)", 'a', 'b'), ["L*"]);
    assert_eq!(meetings("S L(a M(b)) S", 'a', 'b'), ["L*"]);
    assert_eq!(meetings("S L(M(a b)) S", 'a', 'b'), ["L*M*"]);
}

#[test]
fn a_loop_with_a_sync_joins_neighbouring_turns() {
    assert_eq!(meetings("L(a S)", 'a', 'a'), ["L="]);
    assert_eq!(meetings("L(a S b)", 'a', 'a'), ["L="]);
    assert_eq!(meetings("L(a S b)", 'a', 'b'), ["L-"]);
    assert_eq!(meetings("L(a S b)", 'b', 'a'), ["L+"]);
    assert_eq!(meetings("L(a S b S)", 'a', 'b'), [""; 0]);
    assert_eq!(meetings("L(a b S)", 'a', 'b'), ["L="]);
    assert_eq!(meetings("L(S a)", 'a', 'a'), ["L="]);
}

#[test]
fn a_body_that_can_skip_its_syncs_joins_any_turns() {
    assert_eq!(meetings("L(a I(S))", 'a', 'a'), ["L* SL1", "L* SL2", "L="]);
    assert_eq!(meetings("L(a M(S))", 'a', 'a'), ["L* SL1M0", "L* SL2M0", "L="]);
    assert_eq!(meetings("L(a M(S) b)", 'a', 'b'), ["L* SL1M0 SL2M0", "L*", "L= SL1M0"]);
}

#[test]
fn a_sync_beside_one_access_in_its_loop_counts_in_its_turn() {
    assert_eq!(meetings("L(a S) b", 'a', 'b'), [""; 0]);
    assert_eq!(meetings("L(a I(S)) b", 'a', 'b'), [" SL1"]);
    assert_eq!(meetings("L(S a) b", 'a', 'b'), [" SL1+"]);
    assert_eq!(meetings("a L(S b)", 'a', 'b'), [""; 0]);
    assert_eq!(meetings("a L(b S)", 'a', 'b'), [" SL2-"]);
}

#[test]
fn nested_loops_with_an_inner_sync() {
    assert_eq!(meetings("L(M(a S))", 'a', 'a'), ["L=M="]);
    // From the last turn of M in one turn of L to the first one in a later turn of L there is no sync; that M goes
    // on after `b`, or that `a` is not in its first turn, would put one between.
    assert_eq!(meetings("L(M(a S b))", 'a', 'b'), ["L*M* SL2M2+ SL1M1-", "L=M-"]);
    assert_eq!(meetings("L(M(a S b) S)", 'a', 'b'), ["L=M-"]);
}

#[test]
fn what_the_end_of_a_loop_skips_is_skipped_in_its_last_turn() {
    assert_eq!(meetings("W(a S b I(X) N(S))", 'a', 'b'), [""; 0]);
    assert_eq!(meetings("W(a S b I(X) N(S))", 'b', 'a'), [""; 0]);
    // The flag is set after the arm, where it says nothing of it yet.
    assert_eq!(meetings("W(a S b N(S) I(X))", 'a', 'b'), [""; 0]);
    // An arm for another reason, inside or outside.
    assert_eq!(meetings("W(a S b I(X) N(I(S)))", 'a', 'b'), ["W- SW2"]);
    assert_eq!(meetings("W(a S b I(X) I(N(S)))", 'a', 'b'), ["W- SW2"]);
    // In the last turn it may be skipped.
    assert_eq!(meetings("W(a I(X) N(S)) b", 'a', 'b'), [" SW1"]);
    assert_eq!(meetings("W(a I(X) N(S) b S)", 'a', 'b'), ["W= SW1"]);
    // A flag that is reset tells nothing.
    assert_eq!(meetings("W(a S b I(X) N(S) I(Y))", 'a', 'b'), ["W- SW2"]);
    // A flag of no loop.
    assert_eq!(meetings("L(a S b I(X) N(S))", 'a', 'b'), ["L- SL2"]);
    // Of the outer loop, not of the one between.
    assert_eq!(meetings("W(L(a S b I(X) N(S)))", 'a', 'b'), ["W=L- SW1L2"]);
}
