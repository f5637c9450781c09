//! Names of functions that nothing defines, as far as they say that these do more than compute a value.
//!
//! A call of a function that is not defined here may be taken for a value that hangs on its arguments alone, which is an
//! assumption. It is not made where the name says something else: that threads wait for or tell each other, that memory is
//! changed, or, written in capitals, that it is a macro, which may name anything.
//!
//! Deliberately absent: what a function is handed, which says more than its name (`lower`).

/// Words of names of functions that let threads wait for each other, tell each other something, or change memory.
const WORDS: &str = "all alloc any append arrive assign atom atomic await ballot barrier broadcast cas commit consume elect emit enqueue \
    erase exchange exclusive fence flush free guard inclusive insert join launch lock locked memcpy memset mutex notify pipe \
    pop prefix publish push queue reduce reduction release scan scatter scoped shared shfl shuffle signal store swap unlock \
    vote wait";

/// Parts of words that say the same wherever they stand.
const PARTS: [&str; 9] = ["sync", "atomic", "barrier", "mutex", "reduce", "shuffle", "warp", "wave", "acquire"];

/// Words of names of functions that give something else in each thread or at each call, whatever they are handed.
const OF_THREADS: &str =
    "clock counter elected first id idx index lane last leader next now rand random rank thread tid time";

/// Whether what a function of that name gives may hang on the thread that calls it, and on the moment.
pub fn may_differ(name: &str) -> bool {
    let last = name.rsplit("::").next().unwrap_or(name);
    !is_member_name(name) && words(last).iter().any(|word| OF_THREADS.split(' ').any(|known| known == word))
}

/// What stands for reading a member of an object of a type that nothing declares, as a function of the object: `T.x`.
pub fn member_name(of: &str, member: &str) -> String {
    format!("{of}.{member}")
}

/// Whether a name is one of these, or, with `=` behind it, that of writing such a member.
pub fn is_member_name(name: &str) -> bool {
    name.contains('.')
}

/// The type and the member that such a name is about.
pub fn member_of(name: &str) -> Option<(&str, &str)> {
    name.trim_end_matches('=').rsplit_once('.')
}

/// Whether a name is that of an instance of a template (`f<…>`), of which several have one name.
pub fn is_instance(name: &str) -> bool {
    name.split("::").any(|part| part.contains('<') && !part.starts_with("operator"))
}

/// Operators that compute a value of their operands, wherever they are what they seem.
const OPERATORS: [&str; 16] = ["+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "==", "!=", "<", ">", "<=", ">="];

/// Whether a function of that name may be taken for one that only computes a value.
pub fn may_only_compute(name: &str) -> bool {
    let last = name.rsplit("::").next().unwrap_or(name);
    if is_member_name(name) {
        return true;
    }
    if let Some(operator) = last.strip_prefix("operator") {
        return OPERATORS.contains(&operator);
    }
    let is_macro = last.chars().any(|c| c.is_ascii_uppercase()) && !last.chars().any(|c| c.is_ascii_lowercase());
    let lowered = last.to_ascii_lowercase();
    let says_more = PARTS.iter().any(|part| lowered.contains(part))
        || words(last).iter().any(|word| WORDS.split(' ').any(|known| known == word) || is_of_block(word));
    let is_of_compiler = last.starts_with("__");
    !is_macro && !says_more && !is_of_compiler && last.chars().any(|c| c.is_ascii_alphabetic())
}

/// What a whole block does, it mostly does together.
fn is_of_block(word: &str) -> bool {
    matches!(word, "block" | "group" | "cta" | "cluster" | "grid")
}

/// The words of a name, in small letters: those of `computeNext_value` are `compute`, `next` and `value`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_lower = false;
    let mut is_open = false;
    for c in name.chars() {
        if !c.is_ascii_alphabetic() {
            is_open = false;
            continue;
        }
        let starts = !is_open || (c.is_ascii_uppercase() && was_lower);
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(c.to_ascii_lowercase());
        }
        is_open = true;
        was_lower = c.is_ascii_lowercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_does_more_than_compute() {
        for name in
            ["glm::length", "interpolate", "get_density", "operator+", "lib::v::operator<=", "evalSH", "allowed_value"]
        {
            assert!(may_only_compute(name), "{name}");
        }
        for name in [
            "my_sync",
            "read_pipe",
            "blockReduceSum",
            "warpSum",
            "acquireLock",
            "LOAD_TILE",
            "lib::atomic_max",
            "operator+=",
            "operator>>",
            "operator()",
            "operator=",
            "tryPush",
            "syncAll",
            "cas_loop",
        ] {
            assert!(!may_only_compute(name), "{name}");
        }
    }

    #[test]
    fn instances_are_told_from_operators() {
        assert!(is_instance("lib::convert<…>") && is_instance("lib::load<…>::operator+"));
        assert!(!is_instance("lib::v::operator<=") && !is_instance("operator<") && !is_instance("lib::first"));
    }

    #[test]
    fn names_tell_what_hangs_on_the_thread() {
        for name in ["my_thread_index", "lib::laneId", "rng_next", "globalIdx"] {
            assert!(may_differ(name), "{name}");
        }
        for name in ["density", "glm::length", "pair.index", "identity"] {
            assert!(!may_differ(name), "{name}");
        }
    }

    #[test]
    fn names_fall_into_words() {
        assert_eq!(words("computeNext_value2D"), ["compute", "next", "value", "d"]);
        assert_eq!(words("shfl_down"), ["shfl", "down"]);
    }
}
