//! What people confuse calls and conditions of OpenCL and CUDA with, as text: what mutants are made of.
//!
//! Deliberately absent: operators of the language, and where any of this stands in a program. What CUDA's variables are confused with is
//! in [`super::variables`], which barrier or fence is narrower in [`super::functions`].

use super::Builtin;
use super::atomics::operand_count;
use super::functions::function;
use crate::calculus::SyncScope;
use crate::source::Language;

/// The two memories that flags of barriers and fences name.
const FLAGS: [&str; 2] = ["CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE"];

/// Atomics of CUDA that there are in all three scopes, by what stands behind `atomic` in their names.
const ATOMICS: [&str; 11] = ["Add", "Sub", "Exch", "Min", "Max", "Inc", "Dec", "CAS", "And", "Or", "Xor"];

/// Names of scopes, and those of the next narrower ones.
const SCOPES: [(Language, &str, &str); 7] = [
    (Language::Cuda, "thread_scope_system", "thread_scope_device"),
    (Language::Cuda, "thread_scope_device", "thread_scope_block"),
    (Language::Cuda, "__NV_THREAD_SCOPE_SYSTEM", "__NV_THREAD_SCOPE_DEVICE"),
    (Language::Cuda, "__NV_THREAD_SCOPE_DEVICE", "__NV_THREAD_SCOPE_BLOCK"),
    (Language::OpenCl, "memory_scope_all_svm_devices", "memory_scope_device"),
    (Language::OpenCl, "memory_scope_all_devices", "memory_scope_device"),
    (Language::OpenCl, WEAKER_THAN_UNNAMED[0], WEAKER_THAN_UNNAMED[1]),
];

/// The scope of an atomic of OpenCL 2 that names none, and the one with fewer work-items.
const WEAKER_THAN_UNNAMED: [&str; 2] = ["memory_scope_device", "memory_scope_work_group"];

/// What an id or an extent of OpenCL is confused with, of another dimension and of another level.
pub fn other_ids(name: &str, dimension: u64) -> Vec<String> {
    let other_level = match name {
        "get_global_id" => "get_local_id",
        "get_local_id" => "get_global_id",
        "get_group_id" => "get_local_id",
        "get_global_size" => "get_local_size",
        "get_local_size" => "get_num_groups",
        "get_num_groups" => "get_local_size",
        _ => return Vec::new(),
    };
    let other_dimension = u64::from(dimension == 0);
    vec![format!("{name}({other_dimension})"), format!("{other_level}({dimension})")]
}

/// What may stand for the flags of a barrier or a fence of OpenCL that orders another memory then, or one memory in the place of two.
pub fn other_flags(flags: &str) -> Vec<&'static str> {
    let words: Vec<&str> = flags.split('|').map(|word| word.trim_matches([' ', '(', ')', '\n', '\t', '\r'])).collect();
    match FLAGS.map(|flag| words.contains(&flag)) {
        _ if words.iter().any(|word| !FLAGS.contains(word)) => Vec::new(),
        [true, true] => FLAGS.to_vec(),
        [true, false] => vec![FLAGS[1]],
        [false, true] => vec![FLAGS[0]],
        [false, false] => Vec::new(),
    }
}

/// The function that does the same atomic among fewer threads, for one of CUDA or HIP whose scope is in its name.
pub fn weaker_atomic(name: &str) -> Option<String> {
    let stem = name.strip_suffix("_system").unwrap_or(name);
    let is_known = stem.strip_prefix("atomic").is_some_and(|op| ATOMICS.contains(&op));
    is_known.then(|| if stem == name { format!("{name}_block") } else { stem.to_owned() })
}

/// The scope with fewer threads than the one that a name of the language or of its library stands for; none below that of the block.
pub fn weaker_scope(language: Language, name: &str) -> Option<&'static str> {
    SCOPES.iter().find(|(of, wide, _)| *of == language && *wide == name).map(|(.., narrow)| *narrow)
}

/// The call of an atomic of OpenCL 2 that names no scope, among the work-items of one work-group. `name` is the function, `given` how many
/// arguments it has; `callee` and `arguments`, in parentheses, are what stands there.
pub fn with_weaker_scope(name: &str, given: usize, callee: &str, arguments: &str) -> Option<String> {
    let meaning = function(Language::OpenCl, name)?.builtin;
    // Those of OpenCL 1 have the scope of the device by their name, and no form that says another.
    let (operands, orders) = match meaning {
        Builtin::Atomic { op, scope: SyncScope::System, .. } => (1 + operand_count(op), 1),
        Builtin::CompareAndExchange { .. } => (3, 2),
        _ => return None,
    };
    let inside = arguments.strip_suffix(')')?;
    let narrow = WEAKER_THAN_UNNAMED[1];
    match name.ends_with("_explicit") {
        true if given == operands + orders => Some(format!("{callee}{inside}, {narrow})")),
        false if given == operands => {
            let orders = ", memory_order_seq_cst".repeat(orders);
            Some(format!("{callee}_explicit{inside}{orders}, {narrow})"))
        }
        _ => None,
    }
}

/// The condition that holds for every other thread of a block.
pub fn every_other_thread(language: Language) -> &'static str {
    match language {
        Language::Cuda => "threadIdx.x % 2 == 0",
        Language::OpenCl => "get_local_id(0) % 2 == 0",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::atomics::Numbering;
    use crate::builtins::variables::{Variable, variable};

    #[test]
    fn what_stands_for_an_id_is_an_id_of_opencl() {
        for name in
            ["get_global_id", "get_local_id", "get_group_id", "get_global_size", "get_local_size", "get_num_groups"]
        {
            for other in other_ids(name, 1) {
                let called = other.split('(').next().unwrap_or_default();
                assert!(function(Language::OpenCl, called).is_some(), "{other}");
                assert_ne!(other, format!("{name}(1)"));
            }
        }
        assert_eq!(other_ids("get_local_id", 0), ["get_local_id(1)", "get_global_id(0)"]);
        assert!(other_ids("get_work_dim", 0).is_empty());
    }

    #[test]
    fn a_weaker_atomic_is_the_same_one_among_fewer_threads() {
        let scope = |name: &str| match function(Language::Cuda, name).map(|meaning| meaning.builtin) {
            Some(Builtin::Atomic { op, scope, .. }) => (op, scope),
            other => panic!("{name}: {other:?}"),
        };
        for op in ATOMICS {
            let (system, device) = (format!("atomic{op}_system"), format!("atomic{op}"));
            assert_eq!(weaker_atomic(&system).as_ref(), Some(&device));
            let block = weaker_atomic(&device).unwrap();
            assert_eq!([&system, &device, &block].map(|name| scope(name).0), [scope(&device).0; 3]);
            assert_eq!(scope(&block).1, SyncScope::Block);
            assert_eq!(weaker_atomic(&block), None);
        }
        for other in ["atomicAddNoRet", "unsafeAtomicAdd", "atomic_add", "atomically"] {
            assert_eq!(weaker_atomic(other), None, "{other}");
        }
    }

    #[test]
    fn a_weaker_scope_is_a_scope_of_the_same_language() {
        for (language, wide, narrow) in SCOPES {
            assert_eq!(weaker_scope(language, wide), Some(narrow));
            let number = |name| match variable(language, name) {
                Some(Variable::Constant(number, _)) => Some(number),
                _ => None,
            };
            if let (Some(wide), Some(narrow)) = (number(wide), number(narrow)) {
                let of = if language == Language::OpenCl { Numbering::OpenCl } else { Numbering::Nvcc };
                assert_ne!(of.scope(wide), of.scope(narrow), "{narrow}");
            }
        }
        assert_eq!(weaker_scope(Language::Cuda, "memory_scope_device"), None);
        let explicit = |name, given| with_weaker_scope(name, given, "f", "(p, 1)");
        assert_eq!(
            explicit("atomic_fetch_add", 2).as_deref(),
            Some("f_explicit(p, 1, memory_order_seq_cst, memory_scope_work_group)")
        );
        assert_eq!(explicit("atomic_fetch_add_explicit", 3).as_deref(), Some("f(p, 1, memory_scope_work_group)"));
        let exchange = with_weaker_scope("atomic_compare_exchange_strong", 3, "f", "(p, e, v)").unwrap();
        assert_eq!(
            exchange,
            "f_explicit(p, e, v, memory_order_seq_cst, memory_order_seq_cst, memory_scope_work_group)"
        );
        // It names its scope, or has none.
        assert_eq!(explicit("atomic_fetch_add_explicit", 4).or(explicit("atomic_add", 2)), None);
    }

    #[test]
    fn flags_are_those_of_the_other_memory_or_of_one() {
        assert_eq!(other_flags("CLK_LOCAL_MEM_FENCE"), ["CLK_GLOBAL_MEM_FENCE"]);
        assert_eq!(other_flags("(CLK_GLOBAL_MEM_FENCE)"), ["CLK_LOCAL_MEM_FENCE"]);
        assert_eq!(other_flags("CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE").len(), 2);
        assert!(other_flags("flags").is_empty() && other_flags("CLK_LOCAL_MEM_FENCE | more").is_empty());
    }
}
