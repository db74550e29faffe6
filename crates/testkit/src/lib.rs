//! A mock model server on real HTTP, and what tests share.
