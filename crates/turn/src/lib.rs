//! The pure turn machine: records in, effects out.
