//! Rule that decides which finished tasks are kept after an edit of the instance.

/// The finished tasks that keep their state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Tasks with the same name that do the same.
    SameNames,
    /// Tasks that do the same. Their names were generated and do not count.
    SameDeeds,
    /// No tasks: everything in the instance must be done.
    Nothing,
}
