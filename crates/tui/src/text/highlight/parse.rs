//! Code to classes: the grammars, and the state they are in behind a piece.

use std::sync::Arc;

use syntect::parsing::{ParseState, ScopeStack, ScopeStackOp, SyntaxReference, SyntaxSet};

use super::classes::ClassTable;
use super::known::Recent;
use super::toml::{self, TomlState};
use super::typescript::{self, ScriptState};
use super::{Classes, CodePlace, Run};

/// Longer lines stay plain: generated code, which would hold up all that follows.
const LINE_BYTES_MAX: usize = 2_000;

/// Languages by names the grammars do not know, and what stands in for them.
const NAMES: [(&str, &str); 17] = [
    ("jsx", "js"),
    ("mjs", "js"),
    ("cjs", "js"),
    ("jsonc", "json"),
    ("json5", "json"),
    ("jsonl", "json"),
    ("shell", "sh"),
    ("console", "sh"),
    ("shellsession", "sh"),
    ("golang", "go"),
    ("csharp", "cs"),
    ("python3", "py"),
    ("cxx", "cpp"),
    ("patch", "diff"),
    ("vue", "html"),
    ("svelte", "html"),
    ("scss", "css"),
];

/// The grammars, and the states in which pieces end.
pub(super) struct Grammars {
    syntaxes: SyntaxSet,
    table: ClassTable,
    ends: Recent<CodePlace, State>,
}

/// In what a piece ends.
#[derive(Clone)]
enum State {
    Grammar(ParseState, ScopeStack),
    Toml(TomlState),
    Script(ScriptState),
    /// No grammar, or none that could read what came before.
    Plain,
}

impl Grammars {
    /// Takes a while and some MB.
    pub(super) fn load() -> Self {
        let syntaxes = SyntaxSet::load_defaults_newlines();
        Self { syntaxes, table: ClassTable::new(), ends: Recent::default() }
    }

    /// The classes of a piece that stands at `place`.
    pub(super) fn classes(&mut self, place: &CodePlace, code: &str) -> Classes {
        let mut state = match self.ends.get(place) {
            Some(state) => state.clone(),
            None if place.bytes == 0 => self.start(place.language()),
            None => State::Plain,
        };
        let mut lines = Vec::new();
        // The grammars want to see the line feed.
        for line in code.split_inclusive('\n') {
            let runs = if line.len() > LINE_BYTES_MAX { None } else { self.line(line, &mut state) };
            lines.push(runs.unwrap_or_default());
        }
        self.ends.put(place.after(code), state);
        Arc::new(lines)
    }

    fn start(&self, language: &str) -> State {
        let name = language.to_ascii_lowercase();
        match name.as_str() {
            "toml" => return State::Toml(TomlState::default()),
            "typescript" | "ts" | "tsx" | "mts" | "cts" => {
                return State::Script(ScriptState::default());
            }
            _ => {}
        }
        match self.grammar(&name) {
            Some(found) => State::Grammar(ParseState::new(found), ScopeStack::new()),
            None => State::Plain,
        }
    }

    fn grammar(&self, name: &str) -> Option<&SyntaxReference> {
        let known = NAMES.iter().find(|(each, _)| *each == name).map_or(name, |(_, known)| known);
        self.syntaxes.find_syntax_by_token(known)
    }

    /// The runs of a line; `None` if the grammar gave up, which it then does for good.
    fn line(&self, line: &str, state: &mut State) -> Option<Vec<Run>> {
        match state {
            State::Plain => None,
            State::Toml(begins) => {
                let (runs, ends) = toml::line(line.trim_end_matches('\n'), *begins);
                *begins = ends;
                Some(runs)
            }
            State::Script(begins) => {
                let (runs, ends) = typescript::line(line.trim_end_matches('\n'), *begins);
                *begins = ends;
                Some(runs)
            }
            State::Grammar(parse, scopes) => {
                let found = parse
                    .parse_line(line, &self.syntaxes)
                    .ok()
                    .and_then(|ops| self.runs(line, &ops, scopes));
                if found.is_none() {
                    *state = State::Plain;
                }
                found
            }
        }
    }

    fn runs(
        &self,
        line: &str,
        ops: &[(usize, ScopeStackOp)],
        scopes: &mut ScopeStack,
    ) -> Option<Vec<Run>> {
        let text = line.trim_end_matches('\n').len();
        let mut runs: Vec<Run> = Vec::new();
        let mut at = 0;
        let ends = ops.iter().map(|(end, op)| (*end, Some(op))).chain([(text, None)]);
        for (end, op) in ends {
            let end = end.min(text);
            if at < end
                && let Some(class) = self.table.class(scopes.as_slice())
            {
                match runs.last_mut() {
                    Some(last) if last.class == class && last.range.end == at => {
                        last.range.end = end;
                    }
                    _ => runs.push(Run { range: at..end, class }),
                }
            }
            at = at.max(end);
            if let Some(op) = op {
                scopes.apply(op).ok()?;
            }
        }
        Some(runs)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// Shows each word that has a class with it.
    fn check(language: &str, code: &str, expected: Expect) {
        let classes = Grammars::load().classes(&CodePlace::start(language), code);
        let mut shown = String::new();
        for (line, runs) in code.lines().zip(classes.iter()) {
            let words: Vec<String> = runs
                .iter()
                .map(|run| format!("{:?}:{}", run.class, &line[run.range.clone()]))
                .collect();
            shown.push_str(&format!("{}\n", words.join(" ")));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn languages_people_use_have_colors() {
        check(
            "rust",
            "/// doc\nfn main() -> u8 { call(\"text\", 1) } // end",
            expect![[r#"
            Comment:/// doc
            Keyword:fn Function:main Keyword:u8 Function:call String:"text" Number:1 Comment:// end
        "#]],
        );
        check(
            "python",
            "def main(self):\n    return f\"{x}\" is not None # end",
            expect![[r#"
            Keyword:def Function:main
            Keyword:return Keyword:f String:" String:" Keyword:is Keyword:not Number:None Comment:# end
        "#]],
        );
        check(
            "js",
            "const main = async () => { return `text ${1}` } // end",
            expect![[r#"
            Keyword:const Function:main Keyword:async Keyword:=> Keyword:return String:`text  Number:1 String:` Comment:// end
        "#]],
        );
        check(
            "ts",
            "export async function main(a: string): Promise<void> { return b.get(`x ${1}`) }\n\
             /* one\ntwo */ const c = 'd\\'e' as unknown // end\n@Dec() class F { g = `h\ni` }",
            expect![[r#"
                Keyword:export Keyword:async Keyword:function Function:main Type:string Type:Promise Keyword:void Keyword:return Function:get String:`x ${1}`
                Comment:/* one
                Comment:two */ Keyword:const String:'d\'e' Keyword:as Type:unknown Comment:// end
                Function:@Dec Keyword:class Type:F String:`h
                String:i`
            "#]],
        );
        check(
            "go",
            "func main() { fmt.Println(\"text\", nil) } // end",
            expect![[r#"
            Keyword:func Function:main Function:Println String:"text" Number:nil Comment:// end
        "#]],
        );
        check(
            "c",
            "#include <a.h>\nint main(void) { return 0; } /* end */",
            expect![[r#"
            Keyword:#include String:<a.h>
            Keyword:int Function:main Keyword:void Keyword:return Number:0 Comment:/* end */
        "#]],
        );
        check(
            "cpp",
            "class A : public B { std::string c = \"text\"; };",
            expect![[r#"
            Keyword:class Type:A Keyword:public Type:B String:"text"
        "#]],
        );
        check(
            "java",
            "public class A { @Override int b() { return 1; } }",
            expect![[r#"
            Keyword:public Keyword:class Type:A Keyword:int Function:b Keyword:return Number:1
        "#]],
        );
        check(
            "json",
            "{ \"key\": [1, true, \"text\"] }",
            expect![[r#"
            String:"key" Number:1 Number:true String:"text"
        "#]],
        );
        check(
            "yaml",
            "key: text # end\nlist: [1, true]",
            expect![[r#"
            Type:key String:text Comment:# end
            Type:list Number:1 Number:true
        "#]],
        );
        check(
            "bash",
            "if [ -n \"$a\" ]; then echo 'text'; fi # end",
            expect![[r#"
            Keyword:if Function:[ String:"$a" Function:] Keyword:then Function:echo String:'text' Keyword:fi Comment:# end
        "#]],
        );
        check(
            "html",
            "<a href=\"text\">b</a> <!-- end -->",
            expect![[r#"
            Type:a Function:href String:"text" Type:a Comment:<!-- end -->
        "#]],
        );
        check(
            "css",
            ".a { color: #fff; } /* end */",
            expect![[r#"
            Function:.a Function:color Number:#fff Comment:/* end */
        "#]],
        );
        check(
            "sql",
            "SELECT a FROM b WHERE c = 'text' -- end",
            expect![[r#"
            Keyword:SELECT Keyword:FROM Keyword:WHERE String:'text' Comment:-- end
        "#]],
        );
        check(
            "markdown",
            "# head\n`code`",
            expect![[r#"
            Keyword:# head
            String:`code`
        "#]],
        );
        check(
            "diff",
            "@@ -1 +1 @@\n-old\n+new",
            expect![[r#"
            Type:@@ -1 +1 @@
            Removed:-old
            Added:+new
        "#]],
        );
        check(
            "toml",
            "[package] # head\nname = \"text\"\n'a'.b = [1, true]\nlong = \"\"\"one\ntwo\\\"\"\" # no\nend\"\"\" # end\nin = { a = 1, b = 'c' }",
            expect![[r#"
            Type:[package] Comment:# head
            Function:name String:"text"
            Function:'a' Function:.b Number:1 Number:true
            Function:long String:"""one
            String:two\""" # no
            String:end""" Comment:# end
            Function:in Function:a Number:1 Function:b String:'c'
        "#]],
        );
        let classes = Grammars::load().classes(&CodePlace::start("nonsense"), "fn main() {}\n");
        assert_eq!(*classes, [Vec::new()]);
    }

    #[test]
    fn a_block_in_pieces_is_one_block() {
        let code = "/* one\ntwo\nthree */ fn main() {}\n";
        let mut grammars = Grammars::load();
        let start = CodePlace::start("rust");
        let whole = grammars.classes(&start, code);
        let mut pieces = Vec::new();
        let mut place = start;
        for line in code.split_inclusive('\n') {
            pieces.extend(grammars.classes(&place, line).iter().cloned());
            place = place.after(line);
        }
        assert_eq!(pieces, *whole);
        assert!(!whole[2].is_empty(), "there is something to compare");
    }

    #[test]
    fn a_line_that_is_too_long_stays_plain() {
        let code = format!("let a = \"{}\";\nlet b = 1;\n", "x".repeat(LINE_BYTES_MAX));
        let classes = Grammars::load().classes(&CodePlace::start("rust"), &code);
        assert!(classes[0].is_empty() && !classes[1].is_empty());
    }
}
