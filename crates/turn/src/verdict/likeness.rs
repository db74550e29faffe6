//! Whether a command may be one that a rule speaks of which denies or asks: by whatever path, behind
//! whatever options, as the script of another program, and with words that are made when it runs.

use std::collections::BTreeMap;

use heeler_core::ShellCommand;

use super::shell_line;

/// Programs whose operand is a script that they run; versions behind the names make no difference.
const INTERPRETERS: [&str; 20] = [
    "ash", "bash", "bun", "dash", "deno", "fish", "ksh", "lua", "mksh", "node", "perl", "php",
    "pwsh", "python", "rbash", "ruby", "sh", "source", "tsx", "zsh",
];

/// Those of them whose first operand may be a verb, with the script behind it.
const WITH_VERBS: [&str; 2] = ["bun", "deno"];

/// Words that are made when the line runs, as in [`ShellCommand::made`].
type Made = BTreeMap<String, String>;

/// Whether the words of a command may be these, with any behind them where it is a prefix: `Some("")`
/// where they are, whatever is made when the line runs, and else a word that may stand for one of them.
pub(super) fn likeness<'a>(
    command: &'a ShellCommand,
    wanted: &[&str],
    is_prefix: bool,
) -> Option<&'a str> {
    let none = Made::new();
    let forms = || [&command.words, &command.plain].into_iter().filter(|words| !words.is_empty());
    if forms().any(|words| Seen::new(words, &none).is_like(wanted, is_prefix)) {
        return Some("");
    }
    if command.made.is_empty() {
        return None;
    }
    forms().find_map(|words| {
        let mut seen = Seen::new(words, &command.made);
        let is_made = |word: &&String| command.made.contains_key(*word);
        let first = || words.iter().find(is_made).map(String::as_str);
        seen.is_like(wanted, is_prefix).then(|| seen.taken.or_else(first)).flatten()
    })
}

/// From which word on an interpreter may have its script.
fn script_at(words: &[String]) -> Option<usize> {
    let (name, rest) = words.split_first()?;
    let base = base(name).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_one_of = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(base));
    let has_verb = is_one_of(&WITH_VERBS) && rest.first().is_some_and(|verb| verb == "run");
    (name == "." || is_one_of(&INTERPRETERS)).then_some(if has_verb { 2 } else { 1 })
}

/// The words of a command as they are gone through.
struct Seen<'a> {
    words: &'a [String],
    made: &'a Made,
    /// Behind this word, none is an option.
    dashes: usize,
    /// The last of the words that are made which was taken for a wanted one.
    taken: Option<&'a str>,
}

impl<'a> Seen<'a> {
    fn new(words: &'a [String], made: &'a Made) -> Self {
        let dashes = words.iter().position(|word| word == "--").unwrap_or(words.len());
        Self { words, made, dashes, taken: None }
    }

    fn is_like(&mut self, wanted: &[&str], is_prefix: bool) -> bool {
        let mut starts = vec![false; self.words.len() + 1];
        starts[0] = true;
        if let Some(operand) = script_at(self.words) {
            // What comes behind the first operand are words for the script.
            let mut behind = vec![false; self.words.len() + 1];
            behind[operand] = true;
            self.pass_options(&mut behind);
            starts.iter_mut().zip(behind).for_each(|(start, is_reached)| *start |= is_reached);
        }
        self.fits(starts, wanted, is_prefix)
    }

    /// Whether the wanted words stand from one of these places on. Their paths make no difference, nor
    /// do options between them, of which each may have the next word as its value.
    fn fits(&mut self, starts: Vec<bool>, wanted: &[&str], is_prefix: bool) -> bool {
        let Some((name, rest)) = wanted.split_first() else {
            return is_prefix || self.words.is_empty();
        };
        // What is called like a program is hardly ever a script: `python $x` is no `rm`.
        let is_script = !rest.is_empty() || name.contains(['/', '.']);
        let role = if is_script { Role::Script } else { Role::Program };
        let mut places = self.behind(&starts, name, role);
        for text in rest {
            self.pass_options(&mut places);
            places = self.behind(&places, text, Role::Word);
        }
        if is_prefix { places.contains(&true) } else { places.last() == Some(&true) }
    }

    /// The places behind words that are or may be this one, at places that the words before may have
    /// led to.
    fn behind(&mut self, places: &[bool], wanted: &str, role: Role) -> Vec<bool> {
        let told = |word| if role == Role::Word { word } else { base(word) };
        let mut behind = vec![false; places.len()];
        for (at, word) in self.words.iter().enumerate().filter(|(at, _)| places[*at]) {
            if told(word) == told(wanted) {
                behind[at + 1] = true;
                continue;
            }
            let Some(shape) = self.made.get(word) else { continue };
            // What `find` passes on begins like what it was told.
            let is_operand = at > self.dashes || word == "{}" && !shape.is_empty();
            if is_operand && wanted.starts_with('-')
                || role == Role::Program && at > 0
                || !(shape.is_empty() || shell_line::is_like(told(wanted), told(shape)))
            {
                continue;
            }
            self.taken = Some(word);
            behind[at + 1] = true;
            // There may be more words in it.
            behind[at] |= shape.is_empty() && role == Role::Word;
        }
        behind
    }

    /// Adds the places that only options and their values stand before.
    fn pass_options(&self, places: &mut [bool]) {
        let is_option = |word: &String| word.starts_with(['-', '+']);
        let may_be_option = |word: &String| {
            let shape = self.made.get(word);
            is_option(word) || shape.is_some_and(|it| it.is_empty() || it.starts_with('*'))
        };
        for (at, word) in self.words.iter().enumerate() {
            if !places[at] || !may_be_option(word) {
                continue;
            }
            places[at + 1] = true;
            let is_valued =
                !word.contains('=') && self.words.get(at + 1).is_some_and(|next| !is_option(next));
            if is_valued {
                places[at + 2] = true;
            }
        }
    }
}

/// What a word is to a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The name of what runs, perhaps of a script behind its interpreter.
    Program,
    Script,
    /// One behind it.
    Word,
}

/// The last part of a path.
fn base(name: &str) -> &str {
    name.rsplit('/').next().filter(|last| !last.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, rule: &str, expected: bool) {
        let words = line.split(' ').map(str::to_owned).collect();
        let command = ShellCommand { words, ..ShellCommand::default() };
        assert_eq!(told(&command, rule).is_some(), expected, "{line} | {rule}");
    }

    /// The word by which a command may be what a rule says.
    fn told<'a>(command: &'a ShellCommand, rule: &str) -> Option<&'a str> {
        let (prefix, is_prefix) = rule.strip_suffix(":*").map_or((rule, false), |it| (it, true));
        let wanted: Vec<&str> = prefix.split(' ').collect();
        likeness(command, &wanted, is_prefix)
    }

    #[test]
    fn a_word_that_is_made_may_be_any_that_fits_what_is_written_of_it() {
        for (line, made, rule, expected) in [
            ("make $t", "$t", "make deploy:*", Some("$t")),
            ("make $t", "$t", "make:*", Some("")),
            ("make $t", "$t", "make deploy prod:*", Some("$t")),
            ("make \"$t\"", "\"$t\" *", "make deploy prod:*", None),
            ("make -k \"$t\" prod", "\"$t\" *", "make deploy prod:*", Some("\"$t\"")),
            ("make $k deploy", "$k", "make deploy:*", Some("$k")),
            ("make -j$(n) test", "-j$(n) -j*", "make deploy:*", None),
            ("npm run deplo?", "deplo? deplo*", "npm run deploy:*", Some("deplo?")),
            ("npm run dev?", "dev? dev*", "npm run deploy:*", None),
            ("bash a/deploy.s?", "a/deploy.s? a/deploy.s*", "./a/deploy.sh:*", Some("a/deploy.s?")),
            ("bash a/x.s?", "a/x.s? a/x.s*", "./a/deploy.sh:*", None),
            ("bash a/$x", "a/$x a/*", "./a/deploy.sh:*", Some("a/$x")),
            ("python $x", "$x", "rm:*", None),
            ("git rm $x", "$x", "rm:*", None),
            ("echo $x", "$x", "make deploy:*", None),
            ("rm $x", "$x", "rm -rf:*", Some("$x")),
            ("rm -f -- $x", "$x", "rm -rf:*", None),
            ("rm {}", "{} *", "rm -rf:*", None),
            ("rm {}", "{}", "rm -rf:*", Some("{}")),
            ("rm *.o", "*.o *.o", "rm -rf:*", None),
        ] {
            let words = line.split(' ').map(str::to_owned).collect();
            let (word, shape) = made.split_once(' ').unwrap_or((made, ""));
            let made = Made::from([(word.to_owned(), shape.to_owned())]);
            let command = ShellCommand { words, made, ..ShellCommand::default() };
            assert_eq!(told(&command, rule), expected, "{line} | {rule}");
        }
    }

    #[test]
    fn options_between_the_words_hide_nothing() {
        for (line, rule, expected) in [
            ("helm --kube-context p uninstall x", "helm uninstall:*", true),
            ("kubectl -n prod delete pod x", "kubectl delete:*", true),
            ("kubectl --namespace=prod -v delete", "kubectl delete:*", true),
            ("docker --context x compose -f y down", "docker compose down:*", true),
            ("aws --profile p --region r s3 rm x", "aws s3 rm:*", true),
            ("aws --profile p s3 ls rm", "aws s3 rm:*", false),
            ("kubectl get delete", "kubectl delete:*", false),
            ("kubectl -n prod get delete", "kubectl delete:*", false),
            ("git push -u --force", "git push --force:*", true),
            ("git push origin --force", "git push --force:*", false),
            ("helm --debug uninstall", "helm uninstall", true),
            ("helm --debug uninstall x", "helm uninstall", false),
            ("git pushy", "git push:*", false),
            ("git", "git push:*", false),
        ] {
            check(line, rule, expected);
        }
    }

    #[test]
    fn a_script_is_the_same_by_any_path_and_behind_its_interpreter() {
        let rule = "./scripts/deploy.sh:*";
        for line in [
            "./scripts/deploy.sh x",
            "scripts/deploy.sh",
            "/space/scripts/deploy.sh",
            "./deploy.sh",
            "sh ./scripts/deploy.sh",
            "bash -x -o pipefail scripts/deploy.sh prod",
            "/bin/bash deploy.sh",
            ". scripts/deploy.sh",
            "python3.12 scripts/deploy.sh",
        ] {
            check(line, rule, true);
        }
        for line in ["cat scripts/deploy.sh", "git add scripts/deploy.sh", "scripts/deploy.sh.old"]
        {
            check(line, rule, false);
        }
        check("bash +x -- scripts/deploy.sh", rule, true);
        check("deno run -A scripts/deploy.sh", rule, true);
        check("bash deploy.sh prod", "./scripts/deploy.sh prod:*", true);
        check("bash deploy.sh test", "./scripts/deploy.sh prod:*", false);
    }

    #[test]
    fn what_a_script_is_given_is_no_script() {
        for (line, rule) in [
            ("python manage.py test", "test:*"),
            ("node build.js --target rm", "rm:*"),
            ("python -m pip install curl", "curl:*"),
            ("bash a.sh deploy.sh", "deploy.sh:*"),
        ] {
            check(line, rule, false);
        }
        check("python -m pip install curl", "pip install:*", true);
        check("node --require ./a.js rm", "rm:*", true);
    }

    #[test]
    fn a_long_line_is_gone_through_once_for_each_word() {
        let docker = format!("docker {}", "-a compose ".repeat(50_000));
        check(docker.trim_end(), "docker compose compose down:*", false);
        let bash = format!("bash {}", "-a rm ".repeat(50_000));
        check(bash.trim_end(), "rm rm down:*", false);
    }
}
