//! What people confuse calls and conditions of OpenCL and CUDA with, as text: what mutants are made of.
//!
//! Deliberately absent: operators of the language, and where any of this stands in a program. What CUDA's variables are confused with is
//! in [`super::variables`], which barrier or fence is narrower in [`super::functions`].

use crate::source::Language;

/// The two memories that flags of barriers and fences name.
const FLAGS: [&str; 2] = ["CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE"];

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
    use crate::builtins::functions::function;

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
    fn flags_are_those_of_the_other_memory_or_of_one() {
        assert_eq!(other_flags("CLK_LOCAL_MEM_FENCE"), ["CLK_GLOBAL_MEM_FENCE"]);
        assert_eq!(other_flags("(CLK_GLOBAL_MEM_FENCE)"), ["CLK_LOCAL_MEM_FENCE"]);
        assert_eq!(other_flags("CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE").len(), 2);
        assert!(other_flags("flags").is_empty() && other_flags("CLK_LOCAL_MEM_FENCE | more").is_empty());
    }
}
