//! Rule for the finished tasks that are kept after an edit of the instance.

/// The finished tasks that keep their state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptTasks {
    /// Tasks with the same name, command and inputs.
    SameNames,
    /// Tasks with the same command and inputs. Names are ignored, because they were generated.
    SameDeeds,
    /// No tasks. All tasks of the instance must be run.
    Nothing,
}
