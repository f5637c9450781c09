//! Orders of blocks and threads, as `Plan` of the runtime makes them (`instrument/runtime/cpu/plan.hpp`), and an order as the list of
//! those that are pulled to the front one after the other.

use super::{Of, Order, Part, Schedule};

/// splitmix64, as the runtime has it.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a limit, which is not 0.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        ((self.next() >> 32) * limit) >> 32
    }
}

/// The order of so many blocks, or threads of each block, of a launch under a schedule: first which number, then which, and so on. It
/// has each number once, whatever the schedule.
pub fn of_launch(schedule: &Schedule, of: Of, launch: u64, count: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..count).collect();
    for part in &schedule.parts {
        match part {
            Part::Order { of: what, how, launch: only } if *what == of && only.is_none_or(|only| only == launch) => {
                put_in_order(&mut numbers, *how, launch);
            }
            _ => {}
        }
    }
    for part in schedule.parts.iter().rev() {
        match part {
            Part::Front { of: what, launch: only, number } if (*what, *only) == (of, launch) => {
                pull(&mut numbers, *number);
            }
            _ => {}
        }
    }
    numbers
}

/// Pulls a number to the front.
fn pull(numbers: &mut [u64], number: u64) {
    if let Some(at) = numbers.iter().position(|&other| other == number) {
        numbers[..=at].rotate_right(1);
    }
}

fn put_in_order(numbers: &mut [u64], how: Order, launch: u64) {
    let count = numbers.len() as u64;
    match how {
        Order::Reversed => numbers.reverse(),
        Order::Last => pull(numbers, count.saturating_sub(1)),
        Order::First(number) => pull(numbers, number),
        Order::Seed(seed) => {
            let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ launch);
            for i in (2..=count).rev() {
                let other = usize::try_from(random.below(i)).unwrap_or(0);
                numbers.swap(usize::try_from(i - 1).unwrap_or(0), other);
            }
        }
    }
}

/// The order of so many in a launch.
fn order(how: Order, launch: u64, count: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..count).collect();
    put_in_order(&mut numbers, how, launch);
    numbers
}

/// The same order as parts, each of which pulls one to the front; the fewest of them, since those at the end that stand in
/// order need none.
pub(super) fn as_fronts(of: Of, how: Order, launch: u64, (blocks, threads): (u64, u64)) -> Vec<Part> {
    let order = match of {
        Of::Blocks => order(how, launch, blocks),
        Of::Threads => order(how, launch, threads),
        Of::Warps => {
            let warps = order(how, launch, threads.div_ceil(32));
            warps.into_iter().flat_map(|warp| warp * 32..(warp * 32 + 32).min(threads)).collect()
        }
    };
    let mut pulled = order.len();
    while pulled > 1 && order[pulled - 2] < order[pulled - 1] {
        pulled -= 1;
    }
    let of = if of == Of::Blocks { Of::Blocks } else { Of::Threads };
    order[..pulled.saturating_sub(1)].iter().map(|&number| Part::Front { of, launch, number }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_of_a_launch_has_each_number_once_and_is_that_of_its_parts() {
        let order = |text: &str, of, launch| of_launch(&text.parse().unwrap(), of, launch, 5);
        assert_eq!(order("baseline", Of::Blocks, 1), [0, 1, 2, 3, 4]);
        assert_eq!(order("blocks=reversed,blocks=last@2", Of::Blocks, 1), [4, 3, 2, 1, 0]);
        assert_eq!(order("blocks=first:9,threads=reversed", Of::Blocks, 1), [0, 1, 2, 3, 4]);
        assert_eq!(order("front=1@3,front=1@2,front=2@4,lead=1@1", Of::Blocks, 1), [3, 2, 0, 1, 4]);
        assert_eq!(order("front=1@3,lead=1@1", Of::Threads, 1), [1, 0, 2, 3, 4]);
        for text in ["blocks=seed:7", "blocks=seed:7,blocks=reversed,front=3@1", "blocks=last,blocks=first:2"] {
            let mut numbers = order(text, Of::Blocks, 3);
            assert_ne!(numbers, [0, 1, 2, 3, 4], "{text}");
            numbers.sort_unstable();
            assert_eq!(numbers, [0, 1, 2, 3, 4], "{text}");
        }
        assert!(of_launch(&"blocks=last".parse().unwrap(), Of::Blocks, 1, 0).is_empty());
    }

    #[test]
    fn pulling_to_the_front_makes_the_order() {
        for how in [Order::Reversed, Order::Last, Order::First(2), Order::Seed(1), Order::Seed(9)] {
            let wanted = order(how, 3, 7);
            let mut pulled: Vec<u64> = (0..7).collect();
            for part in as_fronts(Of::Blocks, how, 3, (7, 1)).iter().rev() {
                let Part::Front { number, .. } = part else { panic!("{part}") };
                pulled.retain(|other| other != number);
                pulled.insert(0, *number);
            }
            assert_eq!(pulled, wanted, "{how:?}");
        }
        assert_eq!(as_fronts(Of::Blocks, Order::Last, 1, (9, 1)).len(), 1);
        assert_eq!(as_fronts(Of::Warps, Order::Last, 1, (1, 64)).len(), 32);
    }
}
