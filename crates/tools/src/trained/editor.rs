//! `str_replace_based_edit_tool`: view, create, str_replace and insert.

use std::sync::Arc;

use heeler_core::{
    BoxFuture, Facts, RawJson, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput, TypedTool,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::declared;
use crate::blocking::blocking;
use crate::guard::{self, Loaded};
use crate::hunk::{self, File, Fit, Line, Replacement};
use crate::place::{self, Place};
use crate::{Edit, EditInput, List, ListInput, Read, ReadInput, Write, WriteInput};
use crate::{atomic, edit, write};

const NAME: &str = "str_replace_based_edit_tool";
const KIND: &str = "text_editor_20250728";

const WORDS: &str = "Views and changes text files. view shows a file with line numbers, or a folder; \
    create makes a new file; str_replace replaces old_str, which must be in the file once; insert \
    puts insert_text behind line insert_line, 0 for the start. View a file before you change it.";

/// The tool.
#[derive(Default)]
pub struct TextEditor {
    typed: Arc<Typed>,
}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextEditorInput {
    /// What to do.
    pub command: TextEditorCommand,
    /// File or folder.
    pub path: String,
    /// view: first and last line, from 1; -1 for the end.
    pub view_range: Option<[i64; 2]>,
    /// create: the whole content.
    pub file_text: Option<String>,
    /// str_replace: the text to replace.
    pub old_str: Option<String>,
    /// str_replace: the text to put there.
    pub new_str: Option<String>,
    /// insert: the line to insert behind.
    pub insert_line: Option<u64>,
    /// insert: the lines to insert.
    pub insert_text: Option<String>,
}

/// What the editor can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TextEditorCommand {
    /// Shows a file or a folder.
    View,
    /// Makes a new file.
    Create,
    /// Replaces a text.
    StrReplace,
    /// Inserts lines.
    Insert,
}

impl Tool for TextEditor {
    fn definition(&self) -> ToolDefinition {
        let schema = self.typed.definition().input_schema;
        declared(NAME, KIND, WORDS, schema)
    }

    fn facts(&self, input: &RawJson, workspace: &str) -> Facts {
        Tool::facts(&*self.typed, input, workspace)
    }

    fn check(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<(), ToolError>> {
        Tool::check(Arc::clone(&self.typed), context, input)
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Tool::call(Arc::clone(&self.typed), context, input)
    }

    fn clean_up(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<(), ToolError>> {
        Tool::clean_up(Arc::clone(&self.typed), context, input)
    }
}

/// The tool without the vendor's declaration.
#[derive(Default)]
struct Typed {
    read: Arc<Read>,
    list: Arc<List>,
    write: Arc<Write>,
    edit: Arc<Edit>,
}

impl TypedTool for Typed {
    type Input = TextEditorInput;

    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        WORDS
    }

    fn facts(&self, input: &TextEditorInput, workspace: &str) -> Facts {
        match input.command {
            TextEditorCommand::View => place::read_facts(workspace, &input.path),
            _ => place::write_facts(workspace, &input.path),
        }
    }

    fn check(
        self: Arc<Self>,
        context: ToolContext,
        input: TextEditorInput,
    ) -> BoxFuture<Result<(), ToolError>> {
        let paths = vec![input.path.clone()];
        let checked = guard::check(context, NAME, paths, |context| {
            Wanted::of(context, input)?.check(context)
        });
        Box::pin(async move { checked.await.map_err(in_own_words) })
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: TextEditorInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.run(context, input).await.map_err(in_own_words) })
    }

    fn clean_up(
        self: Arc<Self>,
        context: ToolContext,
        input: TextEditorInput,
    ) -> BoxFuture<Result<(), ToolError>> {
        let written = match input.command {
            TextEditorCommand::View => Vec::new(),
            _ => vec![input.path],
        };
        atomic::clean_up(context, NAME, written)
    }
}

impl Typed {
    async fn run(
        &self,
        context: ToolContext,
        input: TextEditorInput,
    ) -> Result<ToolOutput, ToolError> {
        match Wanted::of(&context, input)? {
            Wanted::List(wanted) => Arc::clone(&self.list).call_typed(context, wanted).await,
            Wanted::Read(wanted) => Arc::clone(&self.read).call_typed(context, wanted).await,
            Wanted::Write(wanted) => Arc::clone(&self.write).call_typed(context, wanted).await,
            Wanted::Edit(wanted) => Arc::clone(&self.edit).call_typed(context, wanted).await,
            Wanted::Insert(wanted) => {
                blocking(context, move |context| insert(context, &wanted)).await
            }
        }
    }
}

/// What is to be done, and by whom.
enum Wanted {
    List(ListInput),
    Read(ReadInput),
    Write(WriteInput),
    Edit(EditInput),
    Insert(Insert),
}

/// A text to put behind a line.
struct Insert {
    path: String,
    line: u64,
    text: String,
}

impl Wanted {
    fn of(context: &ToolContext, input: TextEditorInput) -> Result<Self, ToolError> {
        let path = input.path;
        match input.command {
            TextEditorCommand::View => {
                // What it is decides only who looks: both look where the path leads.
                if place::absolute(&context.workspace, &path).is_dir() {
                    return Ok(Self::List(ListInput { path, ignore: None }));
                }
                let (offset, limit) = lines(input.view_range)?;
                Ok(Self::Read(ReadInput { file_path: path, offset, limit }))
            }
            TextEditorCommand::Create => {
                let content = given(input.file_text, "create", "file_text")?;
                if Place::to_write(context, NAME, &path)?.exists() {
                    return Err(ToolError::for_model(format!(
                        "{path} exists, and create only makes new files; use str_replace"
                    )));
                }
                Ok(Self::Write(WriteInput { file_path: path, content }))
            }
            TextEditorCommand::StrReplace => {
                let old_string = given(input.old_str, "str_replace", "old_str")?;
                let new_string = input.new_str.unwrap_or_default();
                if old_string.is_empty() {
                    return Err(ToolError::for_model("old_str is empty; name the text to replace"));
                }
                let edit = EditInput { file_path: path, old_string, new_string, replace_all: None };
                Ok(Self::Edit(edit))
            }
            TextEditorCommand::Insert => {
                let line = given(input.insert_line, "insert", "insert_line")?;
                let text = given(input.insert_text.or(input.new_str), "insert", "insert_text")?;
                Ok(Self::Insert(Insert { path, line, text }))
            }
        }
    }

    /// Looks at everything that the call may be refused for.
    fn check(&self, context: &ToolContext) -> Result<(), ToolError> {
        match self {
            // Nobody is asked about these where they may look unasked.
            Self::List(_) | Self::Read(_) => Ok(()),
            Self::Write(input) => write::check(context, input),
            Self::Edit(input) => edit::check(context, input),
            Self::Insert(input) => Insertion::of(context, input).map(drop),
        }
    }
}

/// A typed call without its JSON.
trait CallTyped: TypedTool + Sized {
    fn call_typed(
        self: Arc<Self>,
        context: ToolContext,
        input: Self::Input,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        TypedTool::call(self, context, input)
    }
}

impl<T: TypedTool> CallTyped for T {}

fn given<T>(value: Option<T>, command: &str, name: &str) -> Result<T, ToolError> {
    value.ok_or_else(|| ToolError::for_model(format!("{command} needs {name}")))
}

/// The first line and their number.
fn lines(range: Option<[i64; 2]>) -> Result<(Option<u64>, Option<u64>), ToolError> {
    let Some([first, last]) = range else { return Ok((None, None)) };
    let bad = || {
        ToolError::for_model(format!(
            "view_range [{first}, {last}] is none; give the first and the last line, from 1, or -1 \
             for the end"
        ))
    };
    let start = u64::try_from(first).ok().filter(|first| *first > 0).ok_or_else(bad)?;
    match u64::try_from(last) {
        Ok(last) if start <= last => Ok((Some(start), Some(last - start + 1))),
        Err(_) if last == -1 => Ok((Some(start), None)),
        _ => Err(bad()),
    }
}

/// What inserting comes to, and where.
struct Insertion {
    place: Place,
    before: Loaded,
    replacements: Vec<Replacement>,
    after: Vec<u8>,
}

impl Insertion {
    fn of(context: &ToolContext, Insert { path, line, text }: &Insert) -> Result<Self, ToolError> {
        let place = Place::to_write(context, NAME, path)?;
        let Some(before) = guard::load(&place, path)? else {
            return Err(place::missing(&context.workspace, path, &place));
        };
        guard::check_seen(context, &place, path, &before.bytes)?;
        guard::check_edit(path, "", text, &before.bytes)?;
        let file = File::new(&before.bytes);
        let n_lines = file.n_lines();
        let at = usize::try_from(*line).ok().filter(|at| *at <= n_lines).ok_or_else(|| {
            ToolError::for_model(format!("insert_line {line} is none; {path} has {n_lines} lines"))
        })?;
        let text = text.replace("\r\n", "\n");
        let lines: Vec<Line<'_>> =
            text.strip_suffix('\n').unwrap_or(&text).split('\n').map(Line::Add).collect();
        let replacements = hunk::apply(&file, &lines, &Fit::before_line(at)).unwrap_or_default();
        edit::check_size(edit::size_after(&before.bytes, &replacements))?;
        let after = edit::apply(&before.bytes, &replacements);
        Ok(Self { place, before, replacements, after })
    }
}

fn insert(context: &ToolContext, input: &Insert) -> Result<ToolOutput, ToolError> {
    let path = &input.path;
    let Insertion { mut place, before, replacements, after } = Insertion::of(context, input)?;
    atomic::replace(context, &mut place, path, Some(&before), &after)?;
    let snippet = edit::snippet(&before.bytes, &replacements);
    let output = ToolOutput::text(format!("Edited {path}:\n{snippet}"));
    Ok(guard::seen_changed(context, output, &place, &after))
}

fn in_own_words(error: ToolError) -> ToolError {
    match error {
        ToolError::ForModel(text) => ToolError::ForModel(in_its_words(&text)),
        other => other,
    }
}

/// What is told of other tools' inputs, in the names of this one's. What is quoted of the file, below
/// the first line, stays.
fn in_its_words(text: &str) -> String {
    let (told, quoted) = text.split_at(text.find('\n').unwrap_or(text.len()));
    let told = told
        .replace(", or set replace_all", "")
        .replace("old_string", "old_str")
        .replace("new_string", "new_str")
        .replace("; Read it", "; view it")
        .replace("Read the file again", "view the file again")
        .replace("use Glob or LS to find it", "view a folder to find it");
    format!("{told}{quoted}")
}
