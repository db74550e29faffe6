//! Servers on this machine, asked for their models.

use heeler_providers::probe::PROBE_TIMEOUT;

use super::*;

#[tokio::test]
async fn vllm_is_asked_with_its_key() {
    let answers = vec![document(r#"{"data":[{"id":"m","max_model_len":4096}]}"#)];
    let (seen, server) = ask("vllm", answers, "/v1").await;
    expect![[r#"
        LocalModel { name: "m", window: Some(4096), window_max: Some(4096), is_loaded: true }
    "#]]
    .assert_eq(&seen);
    expect![[r#"
        get /v1/models http/1.1
        accept: application/json
        authorization: bearer sk-proj-secret
        content-type: application/json
        user-agent: heeler/0.1.0"#]]
    .assert_eq(&head(&server.requests()[0].head));
}

#[tokio::test]
async fn ollama_is_asked_about_each_model() {
    let answers = vec![
        document(r#"{"models":[{"name":"a"},{"name":"b"}]}"#),
        document(r#"{"models":[{"name":"a","context_length":4096}]}"#),
        document(r#"{"model_info":{"llama.context_length":131072}}"#),
        refusal("404 Not Found", "gone"),
    ];
    let (seen, server) = ask("ollama", answers, "/v1/").await;
    expect![[r#"
        LocalModel { name: "a", window: Some(4096), window_max: Some(131072), is_loaded: true }
        LocalModel { name: "b", window: None, window_max: None, is_loaded: false }
    "#]]
    .assert_eq(&seen);
    let lines: Vec<String> = server
        .requests()
        .iter()
        .map(|request| {
            let line = request.head.lines().next().unwrap_or_default();
            format!("{line} {}", String::from_utf8_lossy(&request.body))
        })
        .collect();
    expect![[r#"
        get /api/tags http/1.1 
        get /api/ps http/1.1 
        post /api/show http/1.1 {"model":"a"}
        post /api/show http/1.1 {"model":"b"}"#]]
    .assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn llamacpp_may_keep_its_properties_to_itself() {
    let models = r#"{"data":[{"id":"m.gguf","meta":{"n_ctx_train":32768}}]}"#;
    let answers = vec![document(models), refusal("501 Not Implemented", "")];
    expect![[r#"
        LocalModel { name: "m.gguf", window: None, window_max: Some(32768), is_loaded: true }
    "#]]
    .assert_eq(&ask("llamacpp", answers, "/v1").await.0);
}

#[tokio::test]
async fn lmstudio_has_a_list_of_its_own() {
    let models = r#"{"data":[{"id":"m","type":"llm","state":"loaded","max_context_length":9,"loaded_context_length":8}]}"#;
    expect![[r#"
        LocalModel { name: "m", window: Some(8), window_max: Some(9), is_loaded: true }
    "#]]
    .assert_eq(&ask("lmstudio", vec![document(models)], "/v1").await.0);
}

#[tokio::test]
async fn what_does_not_answer_says_what_to_do() {
    let mut seen = Vec::new();
    for answer in [
        vec![Part::Close],
        refusal("401 Unauthorized", "who are you?"),
        document("<html>"),
        // It would be longer than the most that is read, so it is no list.
        document(&format!("[{}", " ".repeat(5 * 1024 * 1024))),
    ] {
        seen.push(ask("vllm", vec![answer], "/v1").await.0);
    }
    seen.push(Preset::named("groq").unwrap().models(|_| None).await.unwrap_err().to_string());
    expect![[r#"
        vLLM at URL/v1 does not run, or is somewhere else. Start it, or set VLLM_BASE_URL
        vLLM at URL/v1 answers /v1/models with HTTP 401. Start it, or set VLLM_BASE_URL
        vLLM at URL/v1 does not answer as vLLM does. Start it, or set VLLM_BASE_URL
        vLLM at URL/v1 does not answer as vLLM does. Start it, or set VLLM_BASE_URL
        Groq is not asked for its models"#]]
    .assert_eq(&seen.join("\n"));
}

#[tokio::test]
async fn nobody_waits_long() {
    let begun = std::time::Instant::now();
    let (seen, server) = ask("vllm", vec![vec![Part::Hang]], "/v1").await;
    assert!(begun.elapsed() < PROBE_TIMEOUT * 3);
    expect!["vLLM at URL/v1 did not answer within 2 s. Start it, or set VLLM_BASE_URL"]
        .assert_eq(&seen);
    server.closed_by_client().await;
}

/// What a server tells, and the server.
async fn ask(preset: &str, answers: Vec<Vec<Part>>, path: &str) -> (String, Server) {
    let server = Server::start(answers).await;
    let preset = Preset::named(preset).unwrap();
    let url = server.url.clone() + path;
    let lookup = |name: &str| match name {
        "VLLM_API_KEY" => Some(KEY.to_owned()),
        name if name == preset.base_url_variable => Some(url.clone()),
        _ => None,
    };
    let seen = match preset.models(lookup).await {
        Ok(models) => models.iter().map(|model| format!("{model:?}\n")).collect(),
        Err(error) => error.to_string(),
    };
    (seen.replace(&server.url, "URL"), server)
}
