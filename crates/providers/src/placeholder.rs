//! What stands on the wire for a message of which a dialect takes nothing, such as reasoning that
//! only another provider reads.
//!
//! Without it the messages around would meet, both of one role, and servers that want the roles in
//! turn refuse that. Joining those two would change bytes that the request before began with.

use heeler_core::Role;

/// What is said in its place.
pub(crate) fn of(role: Role) -> &'static str {
    match role {
        Role::User => "(something that cannot be sent here)",
        Role::Assistant => "OK.",
    }
}
