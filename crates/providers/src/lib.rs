//! Model providers: dialects, transport, server-sent events, the scripted model.
