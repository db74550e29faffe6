//! The LLM toolkit library under one name.
