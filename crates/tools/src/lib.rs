//! The built-in tools. Each has one file or folder: code, words for the model, limits, tests.
//!
//! Below the tools stands what they share: `place` (where a path leads, what is walled off there, and how
//! it is opened so that it stays that), `guard` (nobody overwrites what they have not seen), `atomic` (a
//! file is replaced in one step), `walk` (which files a search sees), `blocking` (work beside the runtime).
//!
//! Invariant: no tool decides whether it may run. Its facts say what a call would touch; the
//! verdict is somebody else's.

mod apply_patch;
mod ask_user;
mod bash;
mod batch;
mod calculator;
mod current_time;
mod edit;
mod exec;
mod file_info;
mod git;
mod glob;
mod grep;
mod list;
mod message;
mod multi_edit;
mod read;
mod todo;
mod trained;
mod web;
mod write;

mod atomic;
mod blocking;
mod guard;
mod hunk;
mod ignores;
mod place;
mod temporary;
mod text;
mod walk;

#[cfg(test)]
mod testing;

use std::sync::Arc;

use heeler_core::Tool;

pub use apply_patch::{ApplyPatch, ApplyPatchInput, PATCH_BYTES_MAX, PATCH_FILES_MAX};
pub use ask_user::{
    ANSWER_CHARS_MAX, AskUser, AskUserInput, CHOICE_CHARS_MAX, CHOICES_MAX, QUESTION_CHARS_MAX,
};
pub use bash::{
    BASH_COMMAND_BYTES_MAX, BASH_OUTPUT_BYTES_MAX, BASH_TIMEOUT_MILLIS_DEFAULT,
    BASH_TIMEOUT_MILLIS_MAX, Bash, BashInput, PrivateTemp, allowed_environment,
};
pub use batch::{BATCH_CALLS_MAX, Batch};
pub use calculator::{Calculator, CalculatorInput};
pub use current_time::{CurrentTime, CurrentTimeInput, CurrentTimeOutput, zone_of_system};
pub use edit::{EDIT_MATCHES_MAX, Edit, EditInput};
pub use exec::{
    EXEC_DATA_BYTES_MAX, EXEC_IDLE_MILLIS_MAX, EXEC_LIFE_MILLIS_MAX, EXEC_OUTPUT_BYTES_MAX,
    EXEC_SESSIONS_MAX, EXEC_TAIL_BYTES_MAX, EXEC_VARIABLES_MAX, Exec, ExecAction, ExecAnswer,
    ExecInput, ExecSessionInfo, ExecStatus,
};
pub use file_info::{FILE_INFO_SCAN_BYTES_MAX, FileInfo, FileInfoInput};
pub use git::git;
pub use glob::{GLOB_RESULTS_MAX, Glob, GlobInput};
pub use grep::{GREP_LINE_CHARS_MAX, GREP_LINES_DEFAULT, Grep, GrepInput, OutputMode};
pub use list::{LIST_ENTRIES_MAX, List, ListInput};
pub use message::{MESSAGE_CHARS_MAX, MESSAGE_MEDIA_MAX, SendMessage, SendMessageInput};
pub use multi_edit::{MULTI_EDITS_MAX, MultiEdit, MultiEditInput, OneEditInput};
pub use place::{DENIED_ENTRIES_MAX, DENIED_PLACES_MAX, DeniedPlaces, denied_places};
pub use read::{
    READ_IMAGE_BYTES_MAX, READ_LINE_CHARS_MAX, READ_LINES_DEFAULT, READ_OUTPUT_BYTES_MAX,
    READ_SCAN_BYTES_MAX, Read, ReadInput,
};
pub use todo::{
    TODO_CHARS_MAX, TODO_ITEMS_MAX, TodoRead, TodoReadInput, TodoWrite, TodoWriteInput,
};
pub use trained::{TextEditor, TextEditorCommand, TextEditorInput, TrainedBash, TrainedBashInput};
pub use web::{
    Allowed, Brave, SEARCH_RESULTS_MAX, SearchBackend, SearchHit, SearchPage, SearchRequest,
    Searxng, Tavily, WebFetch, WebFetchInput, WebSearch, WebSearchInput, WebSearchOutput,
    WebSearchResult,
};
pub use write::{Write, WriteInput};

/// The file tools: Read, Write, Edit, Glob, Grep, LS; always in the same order, which is part of the
/// cached prefix. Each works in the workspace of its call and says what it touches.
#[must_use]
pub fn standard() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Read::default()),
        Arc::new(Write::default()),
        Arc::new(Edit::default()),
        Arc::new(Glob::default()),
        Arc::new(Grep::default()),
        Arc::new(List::default()),
    ]
}

/// What a model is not told of until it searches for it: rarely needed, and each definition is paid
/// with every first request.
#[must_use]
pub fn further() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Batch),
        Arc::new(MultiEdit::default()),
        Arc::new(ApplyPatch::default()),
        Arc::new(FileInfo::default()),
        Arc::new(AskUser),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All seven tools are to stay under this; the six here leave room for `Bash`.
    const DEFINITIONS_BYTES_MAX: usize = 6_500;
    const BASH_DEFINITION_BYTES: usize = 1_500;

    #[test]
    fn definitions_fit_their_budget() {
        let bytes: usize = standard()
            .iter()
            .map(|tool| serde_json::to_string(&tool.definition()).unwrap().len())
            .sum();
        assert!(bytes <= DEFINITIONS_BYTES_MAX - BASH_DEFINITION_BYTES, "{bytes} bytes");
    }

    #[test]
    fn the_tools_that_only_look_say_so_and_their_facts_agree() {
        let input = r#"{"file_path": "a", "path": "a", "pattern": "a", "content": "",
            "old_string": "a", "new_string": "b"}"#;
        let input = heeler_core::RawJson::parse(input).unwrap();
        let mut read_only = Vec::new();
        for tool in standard().iter().filter(|tool| tool.metadata().read_only) {
            let name = tool.definition().name;
            let facts = tool.facts(&only_its_own(&tool.definition(), &input), "/space");
            assert!(facts.replay_safe && !facts.exclusive && !facts.terminal, "{name}");
            assert!(facts.resources.iter().all(|resource| !resource.write), "{name}");
            let reads =
                |access: &heeler_core::Access| matches!(access, heeler_core::Access::Read(_));
            assert!(!facts.accesses.is_empty() && facts.accesses.iter().all(reads), "{name}");
            read_only.push(name);
        }
        assert_eq!(read_only, ["Read", "Glob", "Grep", "LS"]);
    }

    /// The fields of `input` that a tool knows.
    fn only_its_own(
        definition: &heeler_core::ToolDefinition,
        input: &heeler_core::RawJson,
    ) -> heeler_core::RawJson {
        let schema = definition.input_schema.value();
        let mut value = input.value();
        value.as_object_mut().unwrap().retain(|name, _| schema["properties"].get(name).is_some());
        heeler_core::RawJson::from_value(&value)
    }

    /// Every number in these words comes from the constant that a test of that tool reaches.
    #[test]
    fn the_words_for_the_model() {
        let words: String = standard()
            .iter()
            .map(|tool| tool.definition())
            .map(|it| format!("{}: {}\n{}\n", it.name, it.description, it.input_schema.get()))
            .collect();
        expect_test::expect![[r#"
            Read: Reads a text file as numbered lines (number, tab, line), or shows a png, jpeg, gif or webp image. Gives 2000 lines unless told otherwise; use offset and limit for the rest. Lines are cut at 2000 characters. Relative paths start at the workspace. A file must be read before it can be changed.
            {"type":"object","additionalProperties":false,"properties":{"file_path":{"type":"string","description":"File to read."},"offset":{"type":"integer","minimum":0,"description":"First line, from 1."},"limit":{"type":"integer","minimum":0,"description":"Number of lines."}},"required":["file_path"]}
            Write: Writes a whole file, creating folders as needed. An existing file is replaced, and only if you have read it in this session. To change a part of a file use Edit.
            {"type":"object","additionalProperties":false,"properties":{"file_path":{"type":"string","description":"File to write."},"content":{"type":"string","description":"Its whole content."}},"required":["file_path","content"]}
            Edit: Replaces text in a file you have read in this session. old_string must occur once, unless replace_all is true, and be the file's text; other indentation or quotes are forgiven where one place can be meant. Leave out the line numbers that Read shows. Line ends and byte order mark are kept. An empty old_string creates a new file.
            {"type":"object","additionalProperties":false,"properties":{"file_path":{"type":"string","description":"File to change."},"old_string":{"type":"string","description":"Text to replace, copied from the file."},"new_string":{"type":"string","description":"Text to put there."},"replace_all":{"type":"boolean","description":"Replace every occurrence."}},"required":["file_path","old_string","new_string"]}
            Glob: Finds files whose path matches a glob, newest first, at most 200. `*` stays within one folder, `**` crosses folders. Honors .gitignore; hidden files only if the pattern names them. Paths are relative to the workspace.
            {"type":"object","additionalProperties":false,"properties":{"pattern":{"type":"string","description":"Such as `src/**/*.{ts,tsx}`."},"path":{"type":"string","description":"Folder to search; default the workspace."}},"required":["pattern"]}
            Grep: Searches file contents, line by line. Honors .gitignore; skips binary files, and hidden ones unless glob names them. Results are sorted by path, at most 250 lines unless head_limit says otherwise; lines are cut at 500 characters.
            {"type":"object","additionalProperties":false,"properties":{"pattern":{"type":"string","description":"Regular expression (Rust syntax)."},"path":{"type":"string","description":"File or folder; default the workspace."},"glob":{"type":"string","description":"Such as `*.rs` or `src/**`; `!` excludes."},"type":{"type":"string","description":"File type, such as rust, py, js."},"output_mode":{"type":"string","enum":["content","files_with_matches","count"],"description":"What to show.","default":"files_with_matches"},"-i":{"type":"boolean","description":"Ignore case."},"-n":{"type":"boolean","description":"Line numbers; default true."},"-A":{"type":"integer","minimum":0,"description":"Lines after."},"-B":{"type":"integer","minimum":0,"description":"Lines before."},"-C":{"type":"integer","minimum":0,"description":"Lines around."},"head_limit":{"type":"integer","minimum":0,"description":"Output lines."},"multiline":{"type":"boolean","description":"Let matches span lines."}},"required":["pattern"]}
            LS: Lists one folder, hidden and ignored entries included: size (or `dir`, `link`) and name, sorted by name, at most 1000.
            {"type":"object","additionalProperties":false,"properties":{"path":{"type":"string","description":"Folder to list."},"ignore":{"type":"array","items":{"type":"string"},"description":"Globs of names to leave out."}},"required":["path"]}
        "#]].assert_eq(&words);
    }

    #[test]
    fn the_order_and_every_byte_of_the_definitions_stay() {
        let names: Vec<_> = standard().iter().map(|tool| tool.definition().name).collect();
        assert_eq!(names, ["Read", "Write", "Edit", "Glob", "Grep", "LS"]);
        for (one, other) in standard().iter().zip(standard()) {
            assert_eq!(one.definition(), other.definition());
        }
    }
}
