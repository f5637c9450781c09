//! What verdicts count on, through the real binary: each is told where it decides, and only there.

use super::cli::Place;

/// Clang drops statements with names that nothing declares, so that this is asked of tree-sitter. What nothing declares may change anything, unless its name says that it is a message: that is told.
#[test]
fn an_undeclared_call_that_tells_something_is_assumed_to_and_another_is_unknown() {
    let kernel = |call: &str| format!("__global__ void k(int *x) {{ {call}; x[threadIdx.x] = 1; }}\n");
    let place = Place::with(&[("told.cu", &kernel("log_it(1)")), ("done.cu", &kernel("prepare_it(1)"))]);
    let checked = |name: &str| {
        let seen =
            place.run(&["check", name, "--front", "tree-sitter", "--solver", "none", "--format", "json"]).expect(0);
        seen.json()["files"][0]["kernels"][0].clone()
    };
    let told = checked("told.cu");
    let assumed = "what is called here without a declaration only tells or checks something (line 1)";
    assert_eq!(told["race"], "race-free", "{told}");
    assert!(told["assumptions"].as_array().unwrap().iter().any(|it| it == assumed), "{told}");
    let done = checked("done.cu");
    assert_eq!((&done["race"], done["unknowns"].as_array().unwrap().len()), (&"unknown".into(), 1), "{done}");
}

/// That it is a function of its arguments is of a kind of its own, and told of races, too.
#[test]
fn a_function_that_is_not_defined_is_assumed_to_be_one_of_its_arguments() {
    let declared = "__device__ float far(float);\n";
    let text = format!("{declared}__global__ void k(float *x) {{ x[threadIdx.x] = far(x[threadIdx.x]); }}\n");
    let racy = text.replace("far(x[threadIdx.x])", "far(x[threadIdx.x + 1])");
    let place = Place::with(&[("free.cu", &text), ("racy.cu", &racy)]);
    let checked = |name: &str, options: &[&str]| {
        let arguments =
            [&["check", name, "--solver", "none", "--format", "json", "--fail-on", "never"], options].concat();
        place.run(&arguments).expect(0).json()["files"][0]["kernels"][0].clone()
    };
    for (name, race) in [("free.cu", "race-free"), ("racy.cu", "racy")] {
        let seen = checked(name, &[]);
        let expected = serde_json::json!([{ "kind": "external", "text": "`far` is a function of its arguments" }]);
        assert_eq!((&seen["race"], &seen["assumed"]), (&race.into(), &expected), "{seen}");
        let line = place.run(&["check", name, "--solver", "none"]);
        assert!(line.out.contains("assuming `far` is a function of its arguments"), "{line:?}");
    }
    let strict = checked("free.cu", &["--strict-externals"]);
    assert_eq!((&strict["race"], &strict["assumed"]), (&"unknown".into(), &serde_json::Value::Null), "{strict}");
    assert_eq!(strict["unknowns"][0]["line"], 2, "{strict}");
    assert!(strict["unknowns"][0]["reason"].as_str().unwrap().contains("call of 'far', which is not defined"));
    let wrong = place.run(&["check", "free.cu", "--external", "f[r"]).expect(2);
    assert!(wrong.err.contains("--external f[r"), "{wrong:?}");
}

/// In OpenCL a division by 0 has some value, so that what is proved of a quotient counts on its divisor.
#[test]
fn that_no_integer_is_divided_by_zero_is_told_where_a_division_would_go_on() {
    let body = "{ x[i / n * n + i % n] = 1; }\n";
    let opencl = format!("kernel void k(global int *x, int n) {{ int i = get_global_id(0); {body} }}\n");
    let cuda = format!("__global__ void k(int *x, int n) {{ int i = threadIdx.x; {body} }}\n");
    let place = Place::with(&[("k.cl", &opencl), ("k.cu", &cuda)]);
    let is_told = |name: &str| {
        let arguments = ["check", name, "--front", "tree-sitter", "--solver", "none", "--format", "json"];
        let seen = place.run(&arguments).expect(0).json()["files"][0]["kernels"][0].clone();
        assert_eq!(seen["race"], "race-free", "{seen}");
        seen["assumptions"].as_array().unwrap().iter().any(|it| it == "no integer is divided by 0")
    };
    assert_eq!([is_told("k.cl"), is_told("k.cu")], [true, false]);
}

/// Where C++ leaves an order open and it decides something, the one that is taken is told.
#[test]
fn an_open_order_of_arguments_is_told_where_it_decides() {
    let given = "struct C { int n = 0; __device__ int next() { return ++n; } };\n\
        __device__ int second(int a, int b) { return b; }\n";
    let kernel = |name: &str, other: &str| {
        format!("__global__ void {name}(int *x) {{ C c, d; x[threadIdx.x + second(c.next(), {other}.next())] = 1; }}\n")
    };
    let place = Place::with(&[("k.cu", &(given.to_owned() + &kernel("one", "c") + &kernel("two", "d")))]);
    let arguments = ["check", "k.cu", "--front", "tree-sitter", "--solver", "none", "--format", "json"];
    let seen = place.run(&arguments).expect(0).json();
    let is_told = |kernel: usize| {
        let kernel = &seen["files"][0]["kernels"][kernel];
        assert_eq!(kernel["race"], "race-free", "{kernel}");
        let text = "arguments and operands are evaluated from left to right (line 3)";
        kernel["assumptions"].as_array().unwrap().iter().any(|it| it == text)
    };
    assert_eq!([is_told(0), is_told(1)], [true, false], "{seen}");
}

#[test]
fn an_undeclared_type_with_the_name_of_a_number_is_one_and_that_is_said() {
    let text = "#include <numbers_from_elsewhere.h>\n\
        __global__ void added(const real_t *in, real_t *out) {\n\
          int i = blockIdx.x * blockDim.x + threadIdx.x;\n\
          real_t sum = in[i];\n  sum += in[i + 1];\n  out[i] = sum;\n}\n";
    let place = Place::with(&[("k.cu", text), ("other.cu", &text.replace("real_t", "Real"))]);
    let seen = place.run(&["check", "k.cu", "--front", "tree-sitter", "--verbose"]).expect(0);
    assert!(seen.out.contains("types that nothing declares are numbers"), "{}", seen.out);
    let seen = place.run(&["check", "other.cu", "--front", "tree-sitter", "--format", "json"]);
    assert_ne!(seen.json()["files"][0]["kernels"][0]["race"], "race-free");
}
