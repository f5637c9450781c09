//! Texts that must read, texts that must not, and the round trip.

use super::{parse, print, same};
use crate::calculus::{Expr, Kernel, ScalarType, Stmt};

const EVERYTHING: &str = r#"kernel saxpy<"float", "a\"b">(n: i32, p.width: u32, `q != 0`: bool) [block 8 8 1, threads <= 256] {
  global param y: element 4, size 4096, inner [33]
  global param q: element 4, held in y at 16, given `q != 0`
  shared s: element 4
  shared s#2: element 1
  var i: i32
  var i#2: i32
  var `min`: bool
  var v: opaque4
  returned `min`
  unsupported "call of 'f'" touches y and barriers
  unsupported "own copy" touches y alone
  unsupported "inline assembly" touches y, s#2
  unsupported "call through a pointer"
  sites 22
  let i = convert<i32>(bid.x * bdim.x + tid.x)
  let i#2 = -3
  let `min` = !(i < n) && (p.width & 3) != 0
  if i < n {
    let v = read y[convert<i64>(i) * 4; 4] @0
    write y[4 * convert<i64>(i) + 8; 4] := v @1
    write s[-4; 4] @2
  } else {
    write s#2[0; 1] := "0.5f":opaque4 @3
  }
  for i = 8 while i > 0 step >> 1 @4 {
    sync block shared global @5
  }
  loop while i < n @6 {
    let i = i + (i < 2 ? 1 : 7u32 << 2 * 1) - -(4)
  }
  loop @7 {
    let i = min(i, 3) - max(2u8, 4)
  } while `min`
  let v = atomic add y[0; 4](1, 2u32) relaxed grid @8
  atomic exchange s[0; 4](sqrtf(v, 1):opaque4) acquire_release block @9
  havoc i call "f"
  havoc i uninitialized
  havoc i pointer "loaded"
  assume n > 0
  assert i - 1 - (i - (1 - n)) == ~i @10
  sync block shared global counted @11
  sync block shared global library counted @12
  sync block shared global named i < n @13
  sync warp shared global tiles 8 @14
  sync warp shared global step 32 @15
  sync warp shared global mask n @16
  sync block shared global object s[8] @17
  sync block shared global numbered 1 of 64u32 @18
  sync block shared global arrives s[8] open @19
}
"#;

fn reads(text: &str) -> Kernel {
    parse(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn everything_prints_as_it_was_written() {
    let kernel = reads(EVERYTHING);
    assert_eq!(print(&kernel), EVERYTHING);
    assert!(same(&kernel, &reads(&print(&kernel))));
}

#[test]
fn a_literal_takes_the_type_beside_it() {
    let kernel = reads("kernel k(n: u32) { var x: u64 let x = 1 assume n < 2 assume 1 < 2 }");
    let Stmt::Let { value, .. } = kernel.body[0] else { panic!() };
    assert_eq!(kernel.exprs.ty(value), ScalarType::U64);
    let right = |index: usize| match kernel.body[index] {
        Stmt::Assume { cond, .. } => match kernel.exprs[cond] {
            Expr::Binary(_, _, right) => kernel.exprs.ty(right),
            _ => panic!(),
        },
        _ => panic!(),
    };
    assert_eq!((right(1), right(2)), (ScalarType::U32, ScalarType::I32));
}

#[test]
fn kernels_that_differ_are_not_the_same() {
    let text = "kernel k(n: i32) { var x: i32 let x = n + 1 }";
    for other in ["kernel k(n: i32) { var x: i32 let x = n + 2 }", "kernel k(n: i32) { var x: i32 let x = n - 1 }"] {
        assert!(!same(&reads(text), &reads(other)));
    }
}

#[test]
fn shared_and_deep_expressions_are_printed_in_linear_size() {
    let mut kernel = reads("kernel k(n: u32) { var x: u32 let x = n }");
    let Stmt::Let { var, value: mut id } = kernel.body[0] else { panic!() };
    for _ in 0..2000 {
        id = kernel.exprs.intern(Expr::Binary(crate::calculus::BinaryOp::Mul, id, id), ScalarType::U32);
    }
    for _ in 0..2000 {
        id = kernel.exprs.intern(Expr::Unary(crate::calculus::UnaryOp::BitNot, id), ScalarType::U32);
    }
    kernel.body = vec![Stmt::Let { var, value: id }];
    let text = print(&kernel);
    assert!(text.len() < 200_000, "{} bytes", text.len());
    assert!(same(&kernel, &reads(&text)));
    assert_eq!(super::print_expr(&kernel, id), "…");
}

#[test]
fn errors_say_where() {
    let cases = [
        ("", "1:1: expected `kernel`"),
        ("kernel k() {\n  let x = 1\n}", "2:7: no variable `x` is declared"),
        ("kernel k() { var x: i33 }", "1:21: `i33` is not a type"),
        ("kernel k() { var x: i32 var x: i32 }", "1:32: `x` is declared twice; call the second one `x#2`"),
        ("kernel k() { var x: u8 let x = 256 }", "1:32: 256 does not fit the type u8"),
        ("kernel k() { sync block @99999999 }", "1:26: more than 1048576 sites"),
        ("kernel k() { assume \"x", "1:21: \" is never closed"),
        ("kernel k() { sync galaxy @1 }", "1:19: expected a scope: warp, block, cluster, grid or system"),
        ("kernel k() { assume true } }", "1:28: expected the end of the text"),
    ];
    for (text, message) in cases {
        assert_eq!(parse(text).expect_err(text).to_string(), message);
    }
}

#[test]
fn nesting_is_bounded() {
    let parentheses = format!("kernel k() {{ assume {} true", "(".repeat(100_000));
    let minuses = format!("kernel k() {{ assume {} 1", "!".repeat(100_000));
    let blocks = format!("kernel k() {{ {}", "if true { ".repeat(100_000));
    for text in [parentheses, minuses, blocks] {
        assert!(parse(&text).expect_err("too deep").message.contains("nested more than 256 deep"));
    }
    let long = format!("kernel k() {{ assume true {} }}", "&& true ".repeat(100_000));
    assert!(parse(&long).is_ok());
}
