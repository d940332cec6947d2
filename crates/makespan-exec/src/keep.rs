//! Rule that decides which finished tasks are kept after an edit of the instance.

/// Which tasks that have ended stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Those of the same name that do the same.
    SameNames,
    /// Those that do the same; their names are made up.
    SameDeeds,
    /// None: the instance is what is to be done.
    Nothing,
}
