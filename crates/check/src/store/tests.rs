//! Exact stores against a hash set, by one thread and by more.

use super::packed::Form;
use super::shape::Shape;
use super::{Aim, ExactStore, Full, Known, Name, PackedStore, Store, Token, TreeStore, Writer};
use crate::memory::Budget;
use ir::rows::Head;
use std::collections::HashSet;
use std::sync::Arc;

/// A small generator: the tests need no better one.
fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *seed >> 33
}

fn exact(hidden: usize, limit: u64) -> ExactStore {
    ExactStore::new(hidden, false, &Arc::new(Budget::new(limit))).expect("room for a small store")
}

fn tree(shapes: Vec<Shape>, limit: u64) -> TreeStore {
    TreeStore::new(shapes, &Arc::new(Budget::new(limit))).expect("room for a small store")
}

/// A store that all of the states fit into.
fn packed(states: &[Vec<u8>], limit: u64) -> PackedStore {
    let known = Known::of(states.iter().map(Vec::as_slice));
    let form = known.and_then(Form::new).expect("states in which few bits vary");
    let budget = Arc::new(Budget::new(limit));
    PackedStore::new(form, Aim::Memory, 0, &budget).expect("room for a small store")
}

/// States of two lengths in which 40 bits vary.
fn narrow_states(n: usize) -> Vec<Vec<u8>> {
    let mut seed = 11;
    let mut state = || {
        let mut state = vec![7; if random(&mut seed).is_multiple_of(3) { 21 } else { 30 }];
        for at in [1, 2, 5, 8, 11, 13, 16, 17, 19, 20] {
            state[at] = 0x50 | (random(&mut seed) % 4) as u8;
        }
        for at in [9, 10] {
            state[at] = (random(&mut seed) % 2) as u8 * 0x82;
        }
        state
    };
    (0..n).map(|_| state()).collect()
}

/// Inserts one state; its token if it was new.
fn insert(writer: &mut impl Writer, state: &[u8]) -> Result<Option<Token>, Full> {
    let mut new = None;
    writer.rows().push(state);
    writer.settle(|token, _, _| new = Some(token))?;
    Ok(new)
}

/// States of many lengths, some of them long, few of them random in all bytes.
fn states(n: usize, longest: usize) -> Vec<Vec<u8>> {
    let mut seed = 7;
    let mut state = |i: usize| {
        let len = 3 + random(&mut seed) as usize % 40;
        let mut state: Vec<u8> = (0..len).map(|_| (random(&mut seed) % 3) as u8).collect();
        if i.is_multiple_of(10_000) {
            state.resize(longest + i, 3);
        }
        state
    };
    (0..n).map(&mut state).collect()
}

fn agrees_with_a_hash_set<S: Store>(store: &S, hidden: usize, states: &[Vec<u8>]) {
    let mut writer = store.writer();
    let mut set = HashSet::new();
    let mut tokens = Vec::new();
    for (i, state) in states.iter().enumerate() {
        // Successors of some state that is there, or of none.
        if let Some((token, _)) = tokens.get(i * 31 % (2 * tokens.len() + 1)) {
            let mut space = Vec::new();
            assert_eq!(writer.read(*token, &mut space), tokens[i * 31 % (2 * tokens.len() + 1)].1);
        }
        let new = set.insert(state[hidden..].to_vec());
        assert_eq!(writer.contains(state), !new);
        let token = insert(&mut writer, state).expect("room");
        assert_eq!(token.is_some(), new);
        tokens.extend(token.map(|token| (token, state.clone())));
    }
    let mut space = Vec::new();
    for (token, state) in &tokens {
        assert_eq!(writer.read(*token, &mut space), *state);
    }
}

#[test]
fn the_exact_store_agrees_with_a_hash_set() {
    agrees_with_a_hash_set(&exact(0, 1 << 30), 0, &states(100_000, 3 << 20));
    agrees_with_a_hash_set(&exact(2, 1 << 30), 2, &states(50_000, 100));
}

#[test]
fn the_tree_agrees_with_a_hash_set() {
    let states = states(100_000, 5000);
    agrees_with_a_hash_set(&tree(Vec::new(), 1 << 30), 0, &states);
    let of = |len| {
        let sample: Vec<&[u8]> = states.iter().map(|s| &s[..]).filter(|s| s.len() == len).collect();
        Shape::new(len, &sample)
    };
    agrees_with_a_hash_set(&tree([3, 9, 32, 40, 42].map(of).to_vec(), 1 << 30), 0, &states);
}

#[test]
fn the_packed_store_agrees_with_a_hash_set() {
    let states = narrow_states(100_000);
    agrees_with_a_hash_set(&packed(&states, 1 << 30), 0, &states);
}

#[test]
fn a_packed_store_makes_room_for_what_does_not_fit() {
    let budget = Arc::new(Budget::new(1 << 30));
    let store = ExactStore::new(0, false, &budget).expect("room");
    let mut tokens = Vec::new();
    let mut writer = store.writer();
    for state in narrow_states(5_000) {
        let token = insert(&mut writer, &state).expect("room");
        tokens.extend(token.map(|token| (token, state)));
    }
    drop(writer);
    let there = |writer: &mut dyn FnMut(Token) -> Vec<u8>, tokens: &[(Token, Vec<u8>)]| {
        tokens.iter().all(|(token, state)| writer(*token) == *state)
    };
    let rename = |tokens: &mut Vec<(Token, Vec<u8>)>,
                  name: &mut dyn FnMut(Token) -> Result<Token, Full>| {
        tokens.iter_mut().try_for_each(|(token, _)| name(*token).map(|new| *token = new))
    };
    let packed =
        store.pack::<Full>(Aim::Memory, &budget, |name| rename(&mut tokens, name)).expect("room");
    let mut packed = packed.ok().expect("a form");
    // Another value of a byte, another length.
    let mut other = tokens[0].1.clone();
    other[3] = 9;
    let longer = [&other[..], &[7]].concat();
    for misfit in [other, longer] {
        let mut writer = packed.writer();
        assert!(!writer.contains(&misfit));
        assert_eq!(insert(&mut writer, &misfit), Err(Full));
        drop(writer);
        assert!(packed.has_misfits());
        let wider = packed.widen::<Full>(&budget, |name| rename(&mut tokens, name));
        assert_eq!(wider, Ok(true), "a wider form");
        assert!(!packed.has_misfits());
        let mut writer = packed.writer();
        let token = insert(&mut writer, &misfit).expect("room").expect("a new state");
        tokens.push((token, misfit));
        let mut space = Vec::new();
        assert!(there(&mut |token| writer.read(token, &mut space).to_vec(), &tokens));
        assert!(tokens.iter().all(|(_, state)| insert(&mut writer, state) == Ok(None)));
    }
    // Too many bits for a word.
    let mut writer = packed.writer();
    assert_eq!(insert(&mut writer, &[0xCC; 30]), Err(Full));
    drop(writer);
    assert_eq!(packed.widen::<Full>(&budget, |_| Ok(())), Ok(false));
    let tree = packed.fold::<Full>(&budget, |name| rename(&mut tokens, name)).expect("room");
    let mut writer = tree.writer();
    let mut space = Vec::new();
    assert!(there(&mut |token| writer.read(token, &mut space).to_vec(), &tokens));
    assert!(tokens.iter().all(|(_, state)| insert(&mut writer, state) == Ok(None)));
}

#[test]
fn a_packed_store_keeps_ways_when_it_is_told_to() {
    let budget = Arc::new(Budget::new(1 << 30));
    let states: Vec<Vec<u8>> = (0..60_000).map(|number| numbered(number, false)).collect();
    let known = Known::of(states.iter().map(Vec::as_slice));
    let form = known.and_then(Form::new).expect("states in which few bits vary");
    let mut store = PackedStore::new(form, Aim::Speed, 0, &budget).expect("room");
    let rename = |tokens: &mut [Token], name: &mut Name| {
        tokens.iter_mut().try_for_each(|token| name(*token).map(|new| *token = new))
    };
    let is_there = |store: &PackedStore, tokens: &[Token]| {
        let (mut writer, mut space) = (store.writer(), Vec::new());
        let pairs = tokens.iter().zip(&states);
        pairs.into_iter().all(|(token, state)| writer.read(*token, &mut space) == *state)
            && states[..tokens.len()].iter().all(|state| insert(&mut writer, state) == Ok(None))
    };
    // Each is found from the one before it.
    let add = |store: &PackedStore, tokens: &mut Vec<Token>, n: usize| {
        let mut writer = store.writer();
        for state in &states[tokens.len()..n] {
            writer.rows().set_head(Head::new(0, tokens.last().copied().unwrap_or(0)));
            tokens.extend(insert(&mut writer, state).expect("room"));
        }
        assert_eq!(tokens.len(), n);
    };
    let mut tokens = Vec::new();
    add(&store, &mut tokens, 20_000);
    assert!(!store.keeps_ways() && store.parent(tokens[7]).is_none());
    store.keep_ways::<Full>(&budget, |name| rename(&mut tokens, name)).expect("room");
    add(&store, &mut tokens, 40_000);
    assert!(store.keeps_ways() && is_there(&store, &tokens));
    assert!(tokens[..20_000].iter().all(|token| store.parent(*token).is_none()));
    let from = |i: usize| store.parent(tokens[i]) == Some(tokens[i - 1]);
    assert!((20_000..40_000).all(from));
    // What is in the way of a wider form has the same name in it.
    let mut other = numbered(1, false);
    other[10] = 9;
    assert_eq!(insert(&mut store.writer(), &other), Err(Full));
    assert_eq!(store.widen::<Full>(&budget, |_| panic!("names stay")), Ok(true));
    assert!(
        is_there(&store, &tokens)
            && (20_000..40_000).all(|i| { store.parent(tokens[i]) == Some(tokens[i - 1]) })
    );
    let mut in_full = tokens.clone();
    let exact = store.unpack::<Full>(&budget, |name| rename(&mut in_full, name)).expect("room");
    let (mut writer, mut space) = (exact.writer(), Vec::new());
    let pairs = in_full.iter().zip(&states);
    assert!(pairs.into_iter().all(|(token, state)| writer.read(*token, &mut space) == *state));
    assert_eq!(insert(&mut writer, &states[40_000]).map(|token| token.is_some()), Ok(true));
    drop(writer);
    drop(exact);
    let before = store.bytes();
    store.shrink::<Full>(&budget, |name| rename(&mut tokens, name)).expect("room");
    assert!(!store.keeps_ways() && is_there(&store, &tokens) && store.bytes() < before / 2);
    add(&store, &mut tokens, 60_000);
    assert!(is_there(&store, &tokens));
    drop(store);
    assert_eq!(budget.used(), budget.spare(), "all of it is given back or kept for others");
}

#[test]
fn a_state_moves_from_store_to_store() {
    let budget = Arc::new(Budget::new(1 << 30));
    let store = ExactStore::new(0, false, &budget).expect("room");
    let mut set = HashSet::new();
    let mut tokens = Vec::new();
    let mut writer = store.writer();
    for state in states(50_000, 3000) {
        tokens
            .extend(insert(&mut writer, &state).expect("room").map(|token| (token, state.clone())));
        set.insert(state);
    }
    drop(writer);
    let rename = |name: &mut dyn FnMut(Token) -> Result<Token, Full>| {
        tokens.iter_mut().try_for_each(|(token, _)| name(*token).map(|new| *token = new))
    };
    let tree = store.fold::<Full>(&budget, rename, || Ok(())).expect("room");
    let mut writer = tree.writer();
    let mut space = Vec::new();
    for (token, state) in &tokens {
        assert_eq!(writer.read(*token, &mut space), *state);
        assert_eq!(insert(&mut writer, state), Ok(None));
    }
    assert_eq!(insert(&mut writer, &[9; 20]).map(|token| token.is_some()), Ok(true));
}

const STATES: u64 = 200_000;

/// Different in all bits, or in few.
fn numbered(number: u64, spread: bool) -> Vec<u8> {
    let mut state = vec![0; 20];
    let bits = if spread { number.wrapping_mul(0x9E37_79B9_7F4A_7C15) } else { number };
    state[..8].copy_from_slice(&bits.to_le_bytes());
    state[19] = number as u8;
    state
}

fn is_new_to_one_of_many_threads<S: Store>(store: &S, spread: bool) {
    let walk = |offset: u64| {
        let mut writer = store.writer();
        let mut new = Vec::new();
        // All threads come by all states, each from another place on.
        for i in 0..STATES {
            let number = (i + offset) % STATES;
            writer.rows().set_head(Head::new(number as u32, 0));
            writer.rows().push(&numbered(number, spread));
            if writer.rows().is_full() {
                writer.settle(|token, mark, _| new.push((token, mark))).expect("room");
            }
        }
        writer.settle(|token, mark, _| new.push((token, mark))).expect("room");
        new
    };
    let new: Vec<(Token, u32)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|t| scope.spawn(move || walk(t * STATES / 7))).collect();
        threads.into_iter().flat_map(|t| t.join().expect("no panic")).collect()
    });
    let tokens: HashSet<Token> = new.iter().map(|n| n.0).collect();
    let numbers: HashSet<u32> = new.iter().map(|n| n.1).collect();
    assert_eq!((new.len(), tokens.len(), numbers.len()), (200_000, 200_000, 200_000));
}

#[test]
fn a_state_is_new_to_one_of_many_threads() {
    is_new_to_one_of_many_threads(&exact(0, 1 << 30), true);
    is_new_to_one_of_many_threads(&tree(Vec::new(), 1 << 30), true);
    let states: Vec<Vec<u8>> = (0..STATES).map(|number| numbered(number, false)).collect();
    is_new_to_one_of_many_threads(&packed(&states, 1 << 30), false);
}

fn keeps_its_limit<S: Store>(store: &S, budget: &Budget, least: u64) {
    let mut writer = store.writer();
    let mut n = 0u64;
    while insert(&mut writer, &n.to_le_bytes()) != Err(Full) {
        n += 1;
    }
    assert!(budget.peak() <= budget.limit() && store.bytes() <= budget.limit());
    assert!(n > least, "{n}");
    assert!((0..n).all(|i| writer.contains(&i.to_le_bytes())));
    assert!(!writer.contains(&(n + 1).to_le_bytes()));
}

#[test]
fn stores_keep_their_limit() {
    let budget = Arc::new(Budget::new(4 << 20));
    keeps_its_limit(&ExactStore::new(0, false, &budget).expect("room"), &budget, 100_000);
    let budget = Arc::new(Budget::new(4 << 20));
    let states: Vec<Vec<u8>> = (0..1u64 << 20).map(|n| n.to_le_bytes().to_vec()).collect();
    let store = packed(&states, 4 << 20);
    let mut writer = store.writer();
    let n = states.iter().take_while(|state| insert(&mut writer, state) != Err(Full)).count();
    assert!(n > 300_000 && store.bytes() <= 4 << 20 && !store.has_misfits(), "{n}");
    assert!(states[..n].iter().all(|state| writer.contains(state)));
    drop(writer);
    // Half of such a state is different in each: nothing to be saved.
    keeps_its_limit(&TreeStore::new(Vec::new(), &budget).expect("room"), &budget, 50_000);
}
