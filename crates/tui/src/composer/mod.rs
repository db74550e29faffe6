//! What somebody writes before it is sent.
