//! Turns settings and environment into a ready agent.
