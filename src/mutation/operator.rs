//! The operators: each changes a program in one place, as a bug that people make would.
//!
//! What each is, and which bug it imitates, stands in `pages.md`, a section for each.

use serde::{Deserialize, Serialize};

/// Declares the operators with their names, in the order in which they are listed.
macro_rules! operators {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What is done to a program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Operator {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Operator {
            /// All of them.
            pub const ALL: [Operator; [$($name),*].len()] = [$(Operator::$variant),*];

            /// Its name, as users write it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Operator::$variant => $name,)*
                }
            }
        }
    };
}

operators! {
    /// A barrier is not there.
    BarrierRemoved = "barrier-removed",
    /// A barrier stands behind the statement that follows it.
    BarrierDelayed = "barrier-delayed",
    /// Half of the threads do not come to a barrier.
    BarrierConditional = "barrier-conditional",
    /// A barrier of the block is one of the warp.
    BarrierNarrowed = "barrier-narrowed",
    /// A fence is not there.
    FenceRemoved = "fence-removed",
    /// A fence of the device is one of the block.
    FenceNarrowed = "fence-narrowed",
    /// An atomic reads and writes in two steps.
    AtomicSplit = "atomic-split",
    /// An atomic or a fence is one among fewer threads.
    ScopeWeakened = "scope-weakened",
    /// Shared memory is read or written in the place of global memory, or the other way round.
    MemorySwapped = "memory-swapped",
    /// The id or the extent of another dimension, or of the block for the thread.
    IdSwapped = "id-swapped",
    /// An index is one more, or one less.
    IndexShifted = "index-shifted",
    /// A step of a loop is made twice.
    StrideDoubled = "stride-doubled",
    /// A loop begins one later.
    LoopStartShifted = "loop-start-shifted",
    /// The comparison that ends a loop is another one.
    BoundChanged = "bound-changed",
    /// A loop makes no turn.
    LoopSkipped = "loop-skipped",
    /// A condition is the opposite.
    GuardNegated = "guard-negated",
    /// A guard lets everybody in.
    GuardOpened = "guard-opened",
    /// A guard lets nobody in.
    GuardClosed = "guard-closed",
    /// `&&` and `||` are confused, or one of their sides is left out.
    LogicalReplaced = "logical-replaced",
    /// An operator of arithmetic is another one.
    ArithmeticReplaced = "arithmetic-replaced",
    /// A comparison is another one.
    ComparisonReplaced = "comparison-replaced",
    /// What is added is subtracted, or the other way round.
    UpdateNegated = "update-negated",
    /// Something is not stored.
    StoreRemoved = "store-removed",
    /// A launch has a block more, or one less.
    GridChanged = "grid-changed",
    /// A launch has blocks of half or of twice the size.
    BlockChanged = "block-changed",
}

/// The sections of all operators.
const PAGES: &str = include_str!("pages.md");

impl Operator {
    /// The operator of that name.
    pub fn from_name(name: &str) -> Option<Operator> {
        Operator::ALL.into_iter().find(|operator| operator.name() == name)
    }

    /// What it does and which bug it imitates, in Markdown.
    pub fn page(self) -> &'static str {
        let head = format!("\n## {}\n", self.name());
        let from = PAGES.find(&head).map_or(PAGES.len(), |at| at + 1);
        let rest = &PAGES[from..];
        let end = rest.get(3..).and_then(|rest| rest.find("\n## ")).map_or(rest.len(), |at| at + 4);
        &rest[..end]
    }

    /// The first sentence of its page.
    pub fn summary(self) -> &'static str {
        let prose = self.page().lines().find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
        prose.split_inclusive(". ").next().unwrap_or(prose).trim_end_matches([' ', '.'])
    }

    /// Whether it takes order away and changes no value: between kernels without races nothing can then differ.
    pub fn only_orders(self) -> bool {
        matches!(
            self,
            Operator::BarrierRemoved
                | Operator::BarrierDelayed
                | Operator::BarrierNarrowed
                | Operator::FenceRemoved
                | Operator::FenceNarrowed
                | Operator::ScopeWeakened
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_has_a_page_with_the_bug_that_it_imitates() {
        for operator in Operator::ALL {
            let page = operator.page();
            assert!(page.starts_with(&format!("## {}\n", operator.name())), "{}: {page}", operator.name());
            assert!(page.contains("```cuda"), "{}: no example", operator.name());
            assert_eq!(page.matches("## ").count(), 1, "{}", operator.name());
            assert!(!operator.summary().is_empty(), "{}", operator.name());
            assert_eq!(Operator::from_name(operator.name()), Some(operator));
        }
        assert_eq!(PAGES.matches("\n## ").count(), Operator::ALL.len(), "a page belongs to no operator");
    }
}
