//! Schemas that come back to themselves without going into the value: the standard gives them no
//! meaning, and checking by them has no end.

use crate::SchemaError;
use crate::document::Part;
use crate::keyword::{Demand, Keyword, Node};

/// How far a node has been looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// What it leads to is being looked at.
    Open,
    Done,
}

/// Refuses the first schema that leads back to itself about the same value.
pub(super) fn refuse(nodes: &[Node], parts: &[Part<'_>]) -> Result<(), SchemaError> {
    let mut states = vec![State::New; nodes.len()];
    // Kept in a list: a chain of references may be longer than the stack is deep.
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    for start in 0..nodes.len() {
        if states[start] == State::New {
            states[start] = State::Open;
            open.push((start, leads_to(&nodes[start])));
        }
        while let Some((node, rest)) = open.last_mut() {
            let Some(next) = rest.pop() else {
                states[*node] = State::Done;
                open.pop();
                continue;
            };
            match states[next] {
                State::Done => {}
                State::New => {
                    states[next] = State::Open;
                    open.push((next, leads_to(&nodes[next])));
                }
                State::Open => {
                    let why = "the schema refers to itself without end";
                    return Err(SchemaError::new(&parts[next].place, why));
                }
            }
        }
    }
    Ok(())
}

/// The nodes that are about the same value. Where a dynamic reference is taken over is not known
/// here; the count of steps ends what comes of that.
fn leads_to(node: &Node) -> Vec<usize> {
    let mut found = Vec::new();
    for keyword in &node.keywords {
        match keyword {
            Keyword::AllOf(nodes) | Keyword::AnyOf(nodes) | Keyword::OneOf(nodes) => {
                found.extend(nodes);
            }
            Keyword::Not(node, _) | Keyword::Reference(node) => found.push(*node),
            Keyword::DynamicReference(node, _) => found.push(*node),
            Keyword::If { test, then, otherwise } => {
                found.push(*test);
                found.extend(then.iter().chain(otherwise));
            }
            Keyword::Dependent(all) => {
                found.extend(all.iter().filter_map(|(_, demand)| match demand {
                    Demand::Schema(node) => Some(*node),
                    Demand::Names(_) => None,
                }))
            }
            _ => {}
        }
    }
    found
}
