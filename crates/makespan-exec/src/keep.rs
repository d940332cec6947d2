//! Rule that decides which finished tasks are kept after an edit of the instance.

/// Rule for keeping finished tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Keep tasks whose name and content are unchanged.
    SameNames,
    /// Keep tasks whose content is unchanged, because names are generated.
    SameDeeds,
    /// Keep no task: the instance contains only work to be done.
    Nothing,
}
