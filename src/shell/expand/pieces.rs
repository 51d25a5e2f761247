//! The pieces of an argument. The copies of an argument share them until one is changed: a word of a command stands in its words, its
//! operands and the values of its options.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use super::Piece;

/// Pieces, shared by all copies of an argument.
#[derive(Debug, Clone, Default)]
pub struct Pieces(Rc<Vec<Piece>>);

impl From<Vec<Piece>> for Pieces {
    fn from(pieces: Vec<Piece>) -> Pieces {
        Pieces(Rc::new(pieces))
    }
}

impl Deref for Pieces {
    type Target = Vec<Piece>;

    fn deref(&self) -> &Vec<Piece> {
        &self.0
    }
}

/// What is changed is no copy's any more.
impl DerefMut for Pieces {
    fn deref_mut(&mut self) -> &mut Vec<Piece> {
        Rc::make_mut(&mut self.0)
    }
}

impl PartialEq for Pieces {
    fn eq(&self, other: &Pieces) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for Pieces {}

impl<'a> IntoIterator for &'a Pieces {
    type Item = &'a Piece;
    type IntoIter = std::slice::Iter<'a, Piece>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a mut Pieces {
    type Item = &'a mut Piece;
    type IntoIter = std::slice::IterMut<'a, Piece>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
