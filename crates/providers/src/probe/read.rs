//! What servers answer about their models, each in its own shape.

use heeler_core::from_json_bytes;
use serde::Deserialize;
use serde_json::Value;

use super::LocalModel;

/// The most models that are told of.
const MODELS_MAX: usize = 1000;

/// vLLM's list: each has its window.
pub(super) fn vllm(models: &[u8]) -> Option<Vec<LocalModel>> {
    list(models, |model| LocalModel {
        name: model.id,
        window: told(model.max_model_len),
        window_max: told(model.max_model_len),
        is_loaded: true,
    })
}

/// LM Studio's: what is loaded has a window of its own; what embeds answers nobody.
pub(super) fn lmstudio(models: &[u8]) -> Option<Vec<LocalModel>> {
    let mut models = list(models, |model| LocalModel {
        name: if model.kind == "embeddings" { String::new() } else { model.id },
        window: told(model.loaded_context_length),
        window_max: told(model.max_context_length),
        is_loaded: model.state == "loaded",
    })?;
    models.retain(|model| !model.name.is_empty());
    Some(models)
}

/// llama.cpp's: the properties are those of the one model it serves.
pub(super) fn llamacpp(models: &[u8], properties: &[u8]) -> Option<Vec<LocalModel>> {
    let properties: Value = from_json_bytes(properties).unwrap_or_default();
    let window = &properties["default_generation_settings"]["n_ctx"];
    let window = told(window.as_u64());
    let mut models = list(models, |model| LocalModel {
        name: model.id,
        window: None,
        window_max: told(model.meta["n_ctx_train"].as_u64()),
        is_loaded: model.status["value"].as_str().is_none_or(|status| status == "loaded"),
    })?;
    if let [only] = &mut models[..] {
        only.window = window;
    }
    Some(models)
}

/// Ollama's list of what is on the disk.
pub(super) fn ollama_tags(tags: &[u8]) -> Option<Vec<LocalModel>> {
    let tags: Tags = from_json_bytes(tags).ok()?;
    let model =
        |tag: Tag| LocalModel { name: tag.name, window: None, window_max: None, is_loaded: false };
    Some(tags.models.into_iter().take(MODELS_MAX).map(model).collect())
}

/// What is in memory has the window it was loaded with.
pub(super) fn ollama_running(running: &[u8], models: &mut [LocalModel]) {
    let running: Tags = from_json_bytes(running).unwrap_or_default();
    for tag in running.models {
        if let Some(model) = models.iter_mut().find(|model| model.name == tag.name) {
            model.is_loaded = true;
            model.window = told(tag.context_length);
        }
    }
}

/// What is not in memory is loaded with what its file says, if that says anything: how much it could
/// read is not how much it will.
pub(super) fn ollama_shown(shown: &[u8], model: &mut LocalModel) {
    let shown: Shown = from_json_bytes(shown).unwrap_or_default();
    let mut lengths = shown.model_info.iter().filter(|(key, _)| key.ends_with(".context_length"));
    model.window_max = lengths.find_map(|(_, length)| told(length.as_u64()));
    let mut parameters = shown.parameters.lines().filter_map(|line| line.split_once(' '));
    let set = parameters.find(|(name, _)| *name == "num_ctx");
    let set = set.and_then(|(_, value)| value.trim().parse().ok());
    model.window = model.window.or(told(set));
}

/// A window of nothing is one that is not known.
fn told(tokens: Option<u64>) -> Option<u64> {
    tokens.filter(|tokens| *tokens > 0)
}

#[derive(Deserialize)]
struct List {
    data: Vec<Listed>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Listed {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    state: String,
    max_model_len: Option<u64>,
    max_context_length: Option<u64>,
    loaded_context_length: Option<u64>,
    meta: Value,
    status: Value,
}

#[derive(Deserialize, Default)]
struct Tags {
    models: Vec<Tag>,
}

#[derive(Deserialize)]
struct Tag {
    name: String,
    #[serde(default)]
    context_length: Option<u64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Shown {
    parameters: String,
    model_info: serde_json::Map<String, Value>,
}

fn list(models: &[u8], model: impl Fn(Listed) -> LocalModel) -> Option<Vec<LocalModel>> {
    let list: List = from_json_bytes(models).ok()?;
    Some(list.data.into_iter().take(MODELS_MAX).map(model).collect())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(models: Option<Vec<LocalModel>>, expected: Expect) {
        let show = |model: LocalModel| {
            let LocalModel { name, window, window_max, is_loaded } = model;
            let tokens = |n: Option<u64>| n.map_or("?".to_owned(), |n| n.to_string());
            let [window, window_max] = [window, window_max].map(tokens);
            format!("{name} {window} of {window_max}{}\n", if is_loaded { ", loaded" } else { "" })
        };
        let seen = models.map(|models| models.into_iter().map(show).collect::<String>());
        expected.assert_eq(&seen.unwrap_or("unclear".into()));
    }

    #[test]
    fn of_vllm() {
        let models = br#"{"object":"list","data":[{"id":"Qwen/Qwen3-8B","object":"model","created":1,"owned_by":"vllm","root":"Qwen/Qwen3-8B","parent":null,"max_model_len":40960,"permission":[]}]}"#;
        check(
            vllm(models),
            expect![[r#"
            Qwen/Qwen3-8B 40960 of 40960, loaded
        "#]],
        );
        check(vllm(b"<html>"), expect!["unclear"]);
        check(vllm(br#"{"data":[]}"#), expect![[""]]);
    }

    #[test]
    fn of_lmstudio() {
        let models = br#"{"object":"list","data":[
            {"id":"qwen2-vl-7b-instruct","object":"model","type":"vlm","state":"not-loaded","max_context_length":32768},
            {"id":"llama","object":"model","type":"llm","state":"loaded","max_context_length":131072,"loaded_context_length":4096},
            {"id":"nomic","object":"model","type":"embeddings","state":"not-loaded","max_context_length":2048}]}"#;
        check(
            lmstudio(models),
            expect![[r#"
            qwen2-vl-7b-instruct ? of 32768
            llama 4096 of 131072, loaded
        "#]],
        );
    }

    #[test]
    fn of_llamacpp() {
        let one = br#"{"object":"list","data":[{"id":"m.gguf","object":"model","meta":{"vocab_type":2,"n_ctx_train":131072,"size":1}}]}"#;
        let properties = br#"{"default_generation_settings":{"id":0,"n_ctx":8192},"total_slots":1,"model_path":"m.gguf"}"#;
        check(
            llamacpp(one, properties),
            expect![[r#"
            m.gguf 8192 of 131072, loaded
        "#]],
        );
        check(
            llamacpp(one, b"not allowed"),
            expect![[r#"
            m.gguf ? of 131072, loaded
        "#]],
        );
        let several = br#"{"data":[{"id":"a","status":{"value":"loaded"}},{"id":"b","status":{"value":"unloaded"}}]}"#;
        check(
            llamacpp(several, properties),
            expect![[r#"
            a ? of ?, loaded
            b ? of ?
        "#]],
        );
    }

    #[test]
    fn of_ollama() {
        let tags = br#"{"models":[{"name":"a:latest","model":"a:latest","size":1,"details":{}},{"name":"b:8b"},{"name":"c"}]}"#;
        let running = br#"{"models":[{"name":"a:latest","expires_at":"x","size_vram":1,"context_length":4096},{"name":"gone","context_length":1}]}"#;
        let mut models = ollama_tags(tags).unwrap();
        ollama_running(running, &mut models);
        for model in &mut models {
            let shown: &[u8] = match model.name.as_str() {
                "c" => b"no such model",
                _ => br#"{"parameters":"num_ctx                        16384\nstop                           \"<x>\"","model_info":{"general.architecture":"llama","llama.context_length":131072}}"#,
            };
            ollama_shown(shown, model);
        }
        check(
            Some(models),
            expect![[r#"
            a:latest 4096 of 131072, loaded
            b:8b 16384 of 131072
            c ? of ?
        "#]],
        );
        check(ollama_tags(br#"{"data":[]}"#), expect!["unclear"]);
    }

    #[test]
    fn a_window_of_nothing_is_not_known() {
        check(vllm(br#"{"data":[{"id":"a","max_model_len":0}]}"#), expect![["a ? of ?, loaded\n"]]);
        let models = br#"{"data":[{"id":"a","max_context_length":0,"loaded_context_length":0}]}"#;
        check(lmstudio(models), expect![["a ? of ?\n"]]);
        let models = br#"{"data":[{"id":"a","meta":{"n_ctx_train":0}}]}"#;
        check(llamacpp(models, b""), expect![["a ? of ?, loaded\n"]]);
        let mut models = ollama_tags(br#"{"models":[{"name":"a"}]}"#).unwrap();
        ollama_running(br#"{"models":[{"name":"a","context_length":0}]}"#, &mut models);
        let shown = br#"{"parameters":"num_ctx 0","model_info":{"l.context_length":0}}"#;
        ollama_shown(shown, &mut models[0]);
        check(Some(models), expect![["a ? of ?, loaded\n"]]);
    }

    #[test]
    fn there_are_so_many_models_and_no_more() {
        let many = vec![r#"{"id":"x"}"#; 1001].join(",");
        let models = vllm(format!(r#"{{"data":[{many}]}}"#).as_bytes()).unwrap();
        assert_eq!(models.len(), MODELS_MAX);
    }
}
