//! The model of GLM against the library: what a kernel computes compiles with both and gives the same, and types have the same layout.

use crate::support::tools;
use std::path::Path;
use std::process::Command;

/// The text of the model.
fn model() -> String {
    let file = std::fs::read_to_string(format!("{}/raceproof.models/glm.toml", env!("CARGO_MANIFEST_DIR"))).unwrap();
    file.split("'''").nth(1).unwrap().to_owned()
}

/// A program that does everything twice: with the library, and with the model under another name.
fn program() -> String {
    let numbers = "
#define NUMBERS(G)                                                                                   \\
  static int G##_numbers(double *out) {                                                              \\
    int n = 0;                                                                                       \\
    G::vec3 v(1.5f, -2.f, 3.25f), u(0.5f, 1.f, -1.f);                                                \\
    G::vec4 q(v, 2.f);                                                                               \\
    G::ivec3 i(7, 8, 9);                                                                             \\
    G::mat3 m(1, 2, 3, 4, 5, 6, 7, 8, 10);                                                           \\
    G::mat4 w(2.f);                                                                                  \\
    v += 0.5f * G::normalize(v);                                                                     \\
    G::vec3 all[] = {v, m * v, v * m, G::cross(v, u), G::min(v, u), G::max(v, u), v / u, -v,         \\
                     G::clamp(v, -1.f, 1.f), G::mix(v, u, 0.25f), G::reflect(v, u), G::abs(v),       \\
                     G::fract(v), G::floor(v), G::vec3(q), G::vec3(i), m[1], G::transpose(m)[2],     \\
                     (m * m)[1], G::vec3(w * q), G::vec3((i * 2 + 1) % G::ivec3(4)), v * u - 1.f};   \\
    for (auto &each : all)                                                                           \\
      for (int k = 0; k < 3; ++k) out[n++] = each[k];                                                \\
    out[n++] = G::dot(v, u);                                                                         \\
    out[n++] = G::length(v);                                                                         \\
    out[n++] = G::distance(v, u);                                                                    \\
    out[n++] = q.w + q.r;                                                                            \\
    out[n++] = G::max(2.f, 3.f) + G::clamp(7, 1, 5);                                                 \\
    out[n++] = v == u;                                                                               \\
    out[n++] = v.length();                                                                           \\
    return n;                                                                                        \\
  }
NUMBERS(glm)
NUMBERS(modelled)
";
    let layout = |name: &str, members: &[&str]| {
        let offsets: String = members
            .iter()
            .map(|member| {
                format!(
                    "static_assert(offsetof(glm::{name}, {member}) == offsetof(modelled::{name}, {member}), \"\");\n"
                )
            })
            .collect();
        format!("static_assert(sizeof(glm::{name}) == sizeof(modelled::{name}), \"{name}\");\n{offsets}")
    };
    let mut layouts = String::new();
    for prefix in ["", "d", "i", "u", "b"] {
        for (size, members) in [(2, &["x", "y"][..]), (3, &["x", "y", "z", "b"]), (4, &["x", "y", "z", "w", "a", "q"])]
        {
            layouts += &layout(&format!("{prefix}vec{size}"), members);
        }
    }
    for name in ["mat2", "mat3", "mat4", "dmat2", "dmat3", "dmat4"] {
        layouts += &layout(name, &[]);
    }
    format!(
        "#include <cmath>\n#include <cstddef>\n#include <cstdio>\n#include <cstdlib>\n#include <glm/glm.hpp>\n\
         #define __host__\n#define __device__\n#define glm modelled\n{}\n#undef glm\n{numbers}\n{layouts}\n\
         int main() {{\n  double real[200], own[200];\n  int n = glm_numbers(real);\n  \
         if (n != modelled_numbers(own)) return 1;\n  for (int k = 0; k < n; ++k)\n    \
         if (!(std::fabs(real[k] - own[k]) <= 1e-5 * (1 + std::fabs(real[k])))) {{ \
         std::printf(\"%d: %g and %g\\n\", k, real[k], own[k]); return 2; }}\n  return n < 60;\n}}\n",
        model()
    )
}

#[test]
fn the_model_gives_what_the_library_gives() {
    let header = Path::new("/usr/include/glm/glm.hpp");
    let is_there = || header.is_file().then_some(()).ok_or("no /usr/include/glm/glm.hpp: libglm-dev");
    if tools::used("libglm-dev", is_there).is_none() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let (source, built) = (place.path().join("both.cpp"), place.path().join("both"));
    std::fs::write(&source, program()).unwrap();
    let mut compiler = Command::new(tools::cxx());
    let output = compiler.args(["-std=c++17", "-O0", "-w"]).arg(&source).arg("-o").arg(&built).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new(&built).output().unwrap();
    assert!(output.status.success(), "{:?} {}", output.status, String::from_utf8_lossy(&output.stdout));
}
