//! Typed handles into growable tables, and side tables indexed by them.
//!
//! A [`Handle<T>`] is a 32-bit index that remembers what it points to, so that a variable cannot be used
//! where an expression is meant. An [`Arena<T>`] only grows; a handle stays valid for the arena it came
//! from. A [`SideTable<T, V>`] attaches facts to handles without touching the nodes, which is how every
//! analysis result in raceproof is kept.
//!
//! Deliberately absent: removal, generations and interior mutability. Passes build new arenas instead.

use crate::work::memory::look;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An index into an [`Arena<T>`].
pub struct Handle<T> {
    index: u32,
    marker: PhantomData<fn() -> T>,
}

impl<T> Handle<T> {
    /// The handle of the element at `index`; the caller knows that the arena is that long.
    #[inline]
    pub const fn from_index(index: usize) -> Self {
        Handle { index: index as u32, marker: PhantomData }
    }

    /// The position in the arena.
    #[inline]
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

impl<T> Clone for Handle<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Handle<T> {}
impl<T> Serialize for Handle<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.index.serialize(serializer)
    }
}
impl<'de, T> Deserialize<'de> for Handle<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u32::deserialize(deserializer).map(|index| Handle { index, marker: PhantomData })
    }
}
impl<T> PartialEq for Handle<T> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}
impl<T> Eq for Handle<T> {}
impl<T> PartialOrd for Handle<T> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Handle<T> {
    #[inline]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.index.cmp(&other.index)
    }
}
impl<T> Hash for Handle<T> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}
impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.index)
    }
}

/// A table that only grows and hands out [`Handle`]s.
pub struct Arena<T> {
    items: Vec<T>,
}

impl<T> Arena<T> {
    /// An empty arena.
    pub const fn new() -> Self {
        Arena { items: Vec::new() }
    }

    /// Adds `item` and returns its handle.
    pub fn push(&mut self, item: T) -> Handle<T> {
        look();
        let handle = Handle::from_index(self.items.len());
        self.items.push(item);
        handle
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing was added yet.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Elements with their handles, in order of insertion.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Handle<T>, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(index, item)| (Handle::from_index(index), item))
    }

    /// All handles, in order of insertion.
    pub fn handles(&self) -> impl DoubleEndedIterator<Item = Handle<T>> + ExactSizeIterator + use<T> {
        (0..self.items.len()).map(Handle::from_index)
    }

    /// The element, or `None` if the handle belongs to a longer arena.
    #[inline]
    pub fn get(&self, handle: Handle<T>) -> Option<&T> {
        self.items.get(handle.index())
    }
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self::new()
    }
}
impl<T: Clone> Clone for Arena<T> {
    #[inline]
    fn clone(&self) -> Self {
        Arena { items: self.items.clone() }
    }
}
impl<T: PartialEq> PartialEq for Arena<T> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}
impl<T: Eq> Eq for Arena<T> {}
impl<T: fmt::Debug> fmt::Debug for Arena<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}
impl<T> Index<Handle<T>> for Arena<T> {
    type Output = T;
    #[inline]
    fn index(&self, handle: Handle<T>) -> &T {
        &self.items[handle.index()]
    }
}
impl<T> IndexMut<Handle<T>> for Arena<T> {
    #[inline]
    fn index_mut(&mut self, handle: Handle<T>) -> &mut T {
        &mut self.items[handle.index()]
    }
}

/// Facts about the elements of an [`Arena<T>`]; a handle without an entry reads as `None`.
pub struct SideTable<T, V> {
    entries: Vec<Option<V>>,
    marker: PhantomData<fn() -> T>,
}

impl<T, V> SideTable<T, V> {
    /// An empty table.
    pub const fn new() -> Self {
        SideTable { entries: Vec::new(), marker: PhantomData }
    }

    /// Sets the entry of `handle` and returns the one that it replaces.
    pub fn insert(&mut self, handle: Handle<T>, value: V) -> Option<V> {
        if self.entries.len() <= handle.index() {
            self.entries.resize_with(handle.index() + 1, || None);
        }
        self.entries[handle.index()].replace(value)
    }

    /// The entry of `handle`.
    #[inline]
    pub fn get(&self, handle: Handle<T>) -> Option<&V> {
        self.entries.get(handle.index()).and_then(Option::as_ref)
    }

    /// The entry of `handle`, for changing it.
    #[inline]
    pub fn get_mut(&mut self, handle: Handle<T>) -> Option<&mut V> {
        self.entries.get_mut(handle.index()).and_then(Option::as_mut)
    }

    /// Entries that are set, in the order of their handles.
    pub fn iter(&self) -> impl Iterator<Item = (Handle<T>, &V)> {
        self.entries
            .iter()
            .enumerate()
            .filter_map(|(index, entry)| entry.as_ref().map(|value| (Handle::from_index(index), value)))
    }
}

impl<T, V> Default for SideTable<T, V> {
    fn default() -> Self {
        Self::new()
    }
}
impl<T, V: Clone> Clone for SideTable<T, V> {
    #[inline]
    fn clone(&self) -> Self {
        SideTable { entries: self.entries.clone(), marker: PhantomData }
    }
}
impl<T, V: fmt::Debug> fmt::Debug for SideTable<T, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
