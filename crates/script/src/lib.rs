//! The format of scripted models, and the checks every model request must pass.
