//! The tokio driver of the turn machine and the tool call pipeline.
