//! Judges a kernel under a contract that somebody states, and holds the launches that were found against it.
//!
//! The conditions are put into the kernel as if its source stated them, and the whole kernel is judged for all launches. If it
//! is free, what is stated is enough, and each launch that was found keeps it, breaks it or leaves it open:
//!
//! - it *keeps* it if every condition is true of its constants, or follows from what host code says of it;
//! - it *breaks* it if its constants make a condition false, whether a run of it shows a race or not;
//! - it is *open* else, and where what is taken for granted at a barrier does not hold of it.
//!
//! Dimensions that the kernel never reads are taken as 1 in the proof; of launches that may have more there, that is a
//! condition, too.
//!
//! Guarantees: a stated contract that nothing satisfies is not enough. Deliberately absent: whether each condition is needed,
//! and whether a launch is free that does not keep what is stated.

use super::data;
use super::terms::{Phrase, Terms};
use super::vocabulary::{Condition, Leaf, Relation, Sum};
use crate::arena::{Arena, Handle};
use crate::calculus::eval::Program;
use crate::calculus::{Axis, Claimed, ExprId, Exprs, Kernel, Param, SiteId};
use crate::check::verdict::{CheckedLaunch, Conjunct, Contract, Keeping, Standing, Verdict};
use crate::diagnostic::report::{Race, ScopeKind};
use crate::judge::attempt::{Case, Persistence};
use crate::judge::scopes::{self, Candidate};
use crate::judge::settings::{Launches, Settings};
use crate::judge::{judge, takes_blocks_for_granted};
use crate::launch::{Facts, Given};
use crate::protocol::{Before, Claim, Protocol};
use crate::prove::premises::{self, Budget, Premises};
use crate::prove::{Assumption, Conflict, Pair, Scope};
use crate::source::Language;

/// A kernel and its protocol.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// What was inferred of it.
    pub protocol: &'a Protocol,
}

/// What comes of a kernel under a stated contract.
#[derive(Debug)]
pub struct Under {
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the kernel is free under what is stated.
    pub is_enough: bool,
    /// What it needs besides, if it is not free and that is known.
    pub besides: Vec<Conjunct>,
    /// Launches that break it and of which no run shows a race, by position, and the conditions that they break.
    pub broken: Vec<(usize, Vec<String>)>,
}

/// Judges a kernel under a stated contract: `stating` states these terms, and `found` has what its launches say instead. The
/// launches are held against the terms that are `stated`; the others are assumed.
pub fn judge_under(
    (stated, terms): (&Terms, &Terms),
    (stating, found): (Subject<'_>, Subject<'_>),
    launches: &[Facts],
    language: Language,
    settings: &Settings,
) -> Under {
    let strict = Settings { launches: Launches::All, ..settings.clone() };
    let mut verdict = judge(stating.kernel, stating.protocol, &[], language, &strict);
    let is_own = terms.is_own(stating.protocol);
    verdict.assumptions.retain(|assumption| !is_own(assumption));
    verdict.assumptions.extend(super::wide(stating.kernel, &terms.conditions));
    let besides = verdict.contract.take().map_or_else(Vec::new, |contract| contract.conjuncts);
    if let Some(scope) = verdict.scope.as_mut().filter(|_| !stated.is_empty()) {
        scope.kind = ScopeKind::Contract;
    }
    if verdict.race != Race::RaceFree {
        return Under { verdict, is_enough: false, besides, broken: Vec::new() };
    }
    let case = Case::new(found.kernel, found.protocol, language, settings);
    let program = Program::new(found.kernel);
    let holding = Holding { case: &case, program: &program, launches };
    let broken = holding.settle(stated, &mut verdict);
    Under { verdict, is_enough: true, besides: Vec::new(), broken }
}

/// Whether the constants of some launch make one of these conditions false.
pub fn are_contradicted(
    conditions: &[&str],
    subject: Subject<'_>,
    (launches, language): (&[Facts], Language),
    settings: &Settings,
) -> bool {
    let phrases = conditions.iter().map(|text| text.parse().ok()).collect::<Option<Vec<Phrase>>>();
    let Some(terms) = phrases.and_then(|phrases| Terms::of(&phrases, subject.kernel).ok()) else { return false };
    let case = Case::new(subject.kernel, subject.protocol, language, settings);
    let program = Program::new(subject.kernel);
    let holding = Holding { case: &case, program: &program, launches };
    let is_false = |at: usize, condition: &Condition| condition.holds(&|leaf| holding.value(at, leaf)) == Some(false);
    (0..launches.len()).any(|at| terms.conditions.iter().any(|condition| is_false(at, condition)))
}

/// The verdict on a kernel some launch of which breaks one of these conditions, by what host code says of its sizes, and races:
/// `<<<rows, 256>>>(y, width, width - 1)` of a kernel that is free if `pitch >= width`. `None` if there is no such launch.
///
/// `found` states what hosts say.
pub fn broken_by_hosts(
    conditions: &[&str],
    found: Subject<'_>,
    (launches, language): (&[Facts], Language),
    settings: &Settings,
) -> Option<Verdict> {
    let phrases = conditions.iter().map(|text| text.parse().ok()).collect::<Option<Vec<Phrase>>>()?;
    let terms = Terms::of(&phrases, found.kernel).ok().filter(|terms| terms.data.is_empty())?;
    let case = Case::new(found.kernel, found.protocol, language, settings);
    let program = Program::new(found.kernel);
    let holding = Holding { case: &case, program: &program, launches };
    let mut conflicts = Vec::new();
    let looked = (0..launches.len()).map(|at| {
        let is_refuted = |index: &usize| holding.is_refuted(at, &terms.conditions[*index]);
        let missing: Vec<usize> = (0..terms.conditions.len()).filter(is_refuted).collect();
        let shown = if missing.is_empty() { Vec::new() } else { holding.conflicts(at) };
        let races = shown.iter().map(|conflict: &Conflict| conflict.witness.clone()).collect();
        let keeping = if shown.is_empty() { Keeping::Open } else { Keeping::Broken };
        conflicts.extend(shown);
        CheckedLaunch { launches: vec![at], keeping, missing, races }
    });
    let looked: Vec<CheckedLaunch> = looked.collect();
    if conflicts.is_empty() {
        return None;
    }
    let mut verdict = judge(found.kernel, found.protocol, launches, language, settings);
    let conjunct = |condition: &Condition| Conjunct {
        text: condition.words(&found.kernel.params),
        kind: condition.kind(),
        necessary: None,
    };
    verdict.race = Race::Racy;
    verdict.conflicts = conflicts;
    verdict.possible.clear();
    verdict.contract = Some(Contract {
        conjuncts: terms.conditions.iter().map(conjunct).collect(),
        standing: Standing::Plausible,
        assumptions: verdict.assumptions.clone(),
        launches: looked,
    });
    if let Some(scope) = &mut verdict.scope {
        scope.kind = ScopeKind::Launch;
    }
    Some(verdict)
}

/// The conditions that a kernel needs besides, if all that they say is that numbers fit into what computes with them: that is
/// assumed of all numbers.
pub fn that_numbers_fit(terms: &Terms, besides: &[Conjunct], kernel: &Kernel) -> Option<(Terms, Vec<Assumption>)> {
    let phrases = besides.iter().map(|conjunct| conjunct.text.parse().ok()).collect::<Option<Vec<Phrase>>>()?;
    let more = Terms::of(&phrases, kernel).ok()?;
    let fits = |condition: &Condition| {
        let (param, bits) = condition.bits()?;
        Some(Assumption::FitsInto { expression: kernel.params[param].name.clone(), bits, span: None })
    };
    let assumptions = more.conditions.iter().map(fits).collect::<Option<Vec<Assumption>>>()?;
    let all = terms.conditions.iter().chain(&more.conditions).cloned().collect();
    let is_all = !assumptions.is_empty() && more.data.is_empty();
    is_all.then(|| (Terms { conditions: all, data: terms.data.clone() }, assumptions))
}

/// Launches that are held against conditions.
struct Holding<'h, 'a> {
    case: &'h Case<'a>,
    program: &'a Program,
    launches: &'h [Facts],
}

/// What a launch says of each condition.
struct Held {
    at: usize,
    says: Vec<Option<bool>>,
}

impl Holding<'_, '_> {
    /// Puts into the verdict what the launches say; those that break the contract without a race that is shown.
    fn settle(&self, terms: &Terms, verdict: &mut Verdict) -> Vec<(usize, Vec<String>)> {
        let stated = terms.conditions.len();
        let mut conditions = terms.conditions.clone();
        conditions.extend(taken_as_one(verdict));
        let held: Vec<Held> = (0..self.launches.len()).map(|at| self.held(at, (&conditions, stated))).collect();
        // What is taken for granted is a condition where a launch does not keep it.
        let is_told = |at: usize| at < stated || held.iter().any(|held| held.says[at] != Some(true));
        let told: Vec<usize> = (0..conditions.len()).filter(|&at| is_told(at)).collect();
        let words: Vec<String> = told.iter().map(|&at| conditions[at].words(&self.case.kernel.params)).collect();
        // What memory holds, no launch says.
        let of_data: Vec<Conjunct> = terms.data.iter().map(|&datum| data::conjunct(self.case.kernel, datum)).collect();
        let mut broken = Vec::new();
        let mut launches = Vec::new();
        for Held { at, says } in held {
            let mut missing: Vec<usize> = (0..told.len()).filter(|&index| says[told[index]] != Some(true)).collect();
            let is_false = |&&index: &&usize| says[told[index]] == Some(false);
            let wrong: Vec<String> = missing.iter().filter(is_false).map(|&index| words[index].clone()).collect();
            missing.extend(told.len()..told.len() + of_data.len());
            let keeping = match (missing.is_empty(), wrong.is_empty()) {
                (true, _) if self.is_excluded(at) => Keeping::Open,
                (true, _) => Keeping::Kept,
                (false, true) => Keeping::Open,
                (false, false) => Keeping::Broken,
            };
            let mut races = Vec::new();
            if keeping == Keeping::Broken {
                let conflicts = self.conflicts(at);
                if conflicts.is_empty() {
                    broken.push((at, wrong));
                } else {
                    verdict.race = Race::Racy;
                    races.extend(conflicts.iter().map(|conflict| conflict.witness.clone()));
                    verdict.conflicts.extend(conflicts);
                }
            }
            launches.push(CheckedLaunch { launches: vec![at], keeping, missing, races });
        }
        let conjuncts = told.iter().zip(&words).map(|(&at, words)| Conjunct {
            text: words.clone(),
            kind: conditions[at].kind(),
            necessary: None,
        });
        let (conjuncts, assumptions) = (conjuncts.chain(of_data).collect::<Vec<_>>(), verdict.assumptions.clone());
        if !conjuncts.is_empty() {
            verdict.contract = Some(Contract { conjuncts, standing: Standing::Plausible, assumptions, launches });
            let kind = if verdict.race == Race::Racy { ScopeKind::Launch } else { ScopeKind::Contract };
            verdict.scope.iter_mut().for_each(|scope| scope.kind = kind.clone());
            let dimensions = words.iter().zip(&told).filter(|&(_, &at)| at >= stated);
            dimensions.for_each(|(words, _)| no_longer_taken(verdict, words));
        }
        broken
    }

    /// What a launch says of each condition; those behind the first `stated` ones matter only where it may race.
    fn held(&self, at: usize, (conditions, stated): (&[Condition], usize)) -> Held {
        let says = conditions.iter().enumerate().map(|(index, condition)| {
            let said = condition.holds(&|leaf| self.value(at, leaf));
            match said {
                None if index >= stated && !self.may_vary(at, condition) => Some(true),
                None if self.follows(at, condition) => Some(true),
                said => said,
            }
        });
        Held { at, says: says.collect() }
    }

    /// An extent or argument of a launch, if it is a constant.
    fn value(&self, at: usize, leaf: Leaf) -> Option<i128> {
        let launch = &self.launches[at];
        let required = self.case.kernel.geometry.required_block;
        match leaf {
            Leaf::Block(axis) => {
                let own = launch.block[axis.index()].or(required.map(|block| block[axis.index()]));
                own.map(i128::from)
            }
            Leaf::Grid(axis) => launch.grid[axis.index()].map(i128::from),
            Leaf::Param(param) => {
                let name = &self.case.kernel.params[param].name;
                let given = launch.params.iter().find(|(other, _)| other == name).map(|&(_, value)| value);
                // Conditions are computed in 64 bits with a sign.
                given.filter(|&value| i64::try_from(value).is_ok())
            }
        }
    }

    /// Whether a launch says of an extent that it is given, and not what it is.
    fn may_vary(&self, at: usize, condition: &Condition) -> bool {
        let given = |of: usize| matches!(self.launches[at].given[of], Given::ByAxis | Given::AsAWhole | Given::Unread);
        condition.leaves().iter().any(|leaf| match leaf {
            Leaf::Block(_) => given(0),
            Leaf::Grid(_) => given(1),
            Leaf::Param(_) => true,
        })
    }

    /// Whether what is taken for granted at a barrier excludes a launch, so that the verdict says nothing of it.
    fn is_excluded(&self, at: usize) -> bool {
        let Case { kernel, protocol, .. } = self.case;
        takes_blocks_for_granted(kernel) && premises::excludes(protocol, &self.scope(at))
    }

    /// Whether a condition is proved from what host code says of a launch, and from nothing that is only assumed.
    fn follows(&self, at: usize, condition: &Condition) -> bool {
        self.is_proved(at, |exprs, params| condition.expression(exprs, params))
    }

    /// Whether it is proved to be false.
    fn is_refuted(&self, at: usize, condition: &Condition) -> bool {
        self.is_proved(at, |exprs, params| {
            let cond = condition.expression(exprs, params);
            exprs.not(cond)
        })
    }

    fn is_proved(&self, at: usize, claimed: impl Fn(&mut Exprs, &Arena<Param>) -> ExprId) -> bool {
        let mut protocol = self.case.protocol.clone();
        let is_first = |fact: &&crate::protocol::Fact| {
            let Before { accesses, syncs, .. } = fact.before;
            accesses == 0 && syncs == 0 && fact.guards.is_empty() && fact.loops.is_empty()
        };
        let facts = protocol.facts.iter().take_while(is_first).count();
        let cond = claimed(&mut protocol.exprs, &protocol.params);
        if protocol.sites.handles().next().is_none() {
            return false;
        }
        let claim = Claim {
            site: Handle::from_index(0),
            claimed: Claimed::Asserted,
            cond,
            guards: Vec::new(),
            loops: Vec::new(),
            before: Before { facts, ..Before::default() },
            reasons: Vec::new(),
        };
        let proved = Premises::new(&protocol, &self.scope(at))
            .prove_claim(&claim, &self.case.settings.effort.price(Budget::MIDDLE));
        let is_plain = |assumption: &Assumption| matches!(assumption, Assumption::Stated(_));
        proved.is_ok_and(|proof| proof.assumptions.iter().all(is_plain))
    }

    /// The launch by its constants alone.
    fn scope(&self, at: usize) -> Scope {
        let extents = |leaf: fn(Axis) -> Leaf| {
            Axis::ALL.map(|axis| self.value(at, leaf(axis)).and_then(|extent| u32::try_from(extent).ok()))
        };
        let params = self.case.kernel.params.handles().map(|param| self.value(at, Leaf::Param(param)));
        Scope { block: extents(Leaf::Block), grid: extents(Leaf::Grid), params: params.collect(), most_threads: None }
    }

    /// Races that a run of a launch shows.
    fn conflicts(&self, at: usize) -> Vec<Conflict> {
        let candidates = scopes::candidates(self.case.kernel, self.launches, self.case.settings);
        let Some(stated) = candidates.proofs.last() else { return Vec::new() };
        let is_it = |part: &&Candidate| part.launches.contains(&at);
        let Some(part) = stated.parts.iter().find(is_it) else { return Vec::new() };
        let attempt = super::alone(part, stated.starts);
        let mut hunts = self.case.hunts(&attempt, self.program);
        let rest = self.case.prove(&attempt, (&mut hunts, Persistence::AskAll), None, &mut |_, _, _| {});
        if rest.is_empty() {
            return Vec::new();
        }
        let pairs: Vec<Pair> = rest.pairs.iter().map(|(pair, _)| pair.clone()).collect();
        let sites: Vec<(SiteId, SiteId)> = pairs.iter().map(|pair| self.case.sites(pair)).collect();
        let outcomes =
            hunts.into_iter().map(|hunt| hunt.for_people().finish(Some((self.case.protocol, &pairs)), &sites));
        outcomes.flat_map(|outcome| outcome.conflicts).collect()
    }
}

/// The dimensions that a proof takes as 1 since the kernel never reads them.
fn taken_as_one(verdict: &Verdict) -> Vec<Condition> {
    let of = |assumption: &Assumption| {
        let Assumption::DimensionIsOne(dimension) = assumption else { return None };
        let axis = Axis::ALL.into_iter().find(|axis| dimension.ends_with(["x", "y", "z"][axis.index()]))?;
        let leaf = if dimension.starts_with("block") { Leaf::Block(axis) } else { Leaf::Grid(axis) };
        Some(Condition::Compare(Sum::product(&[leaf]), Relation::Is, Sum::number(1)))
    };
    verdict.assumptions.iter().filter_map(of).collect()
}

/// Takes back that a dimension is taken as 1: that it is, is a condition, in these words.
fn no_longer_taken(verdict: &mut Verdict, words: &str) {
    let dimension = words.strip_suffix(" == 1").unwrap_or(words);
    verdict.assumptions.remove(&Assumption::DimensionIsOne(dimension.to_owned()));
    if let Some(contract) = &mut verdict.contract {
        contract.assumptions.remove(&Assumption::DimensionIsOne(dimension.to_owned()));
    }
    if let Some(scope) = &mut verdict.scope {
        scope.fixes.retain(|fix| *fix != format!("{dimension} = 1"));
    }
}
