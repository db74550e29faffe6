//! Whether a command may be one that a rule speaks of which denies or asks: by whatever path, behind
//! whatever options, and as the script of another program.

use heeler_core::ShellCommand;

/// Programs whose operand is a script that they run; versions behind the names make no difference.
const INTERPRETERS: [&str; 20] = [
    "ash", "bash", "bun", "dash", "deno", "fish", "ksh", "lua", "mksh", "node", "perl", "php",
    "pwsh", "python", "rbash", "ruby", "sh", "source", "tsx", "zsh",
];

/// Those of them whose first operand may be a verb, with the script behind it.
const WITH_VERBS: [&str; 2] = ["bun", "deno"];

/// Whether the words of a command may be these, with any behind them where it is a prefix.
pub(super) fn is_like(command: &ShellCommand, wanted: &[&str], is_prefix: bool) -> bool {
    let forms = [&command.words, &command.plain].into_iter().filter(|words| !words.is_empty());
    forms.into_iter().any(|words| {
        let mut starts = vec![false; words.len() + 1];
        starts[0] = true;
        if let Some(operand) = script_at(words) {
            // What comes behind the first operand are words for the script.
            let mut behind = vec![false; words.len() + 1];
            behind[operand] = true;
            pass_options(words, &mut behind);
            starts.iter_mut().zip(behind).for_each(|(start, is_reached)| *start |= is_reached);
        }
        fits(words, starts, wanted, is_prefix)
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

/// Whether the wanted words stand from one of these places on. Their paths make no difference, nor do
/// options between them, of which each may have the next word as its value.
fn fits(words: &[String], starts: Vec<bool>, wanted: &[&str], is_prefix: bool) -> bool {
    let Some((name, rest)) = wanted.split_first() else { return is_prefix || words.is_empty() };
    let mut places = behind(words, &starts, |word| base(word) == base(name));
    for text in rest {
        pass_options(words, &mut places);
        places = behind(words, &places, |word| word == *text);
    }
    if is_prefix { places.contains(&true) } else { places.last() == Some(&true) }
}

/// The places behind such words, at places that the words before may have led to.
fn behind(words: &[String], places: &[bool], is_wanted: impl Fn(&str) -> bool) -> Vec<bool> {
    let at = words.iter().zip(places).map(|(word, is_reached)| *is_reached && is_wanted(word));
    std::iter::once(false).chain(at).collect()
}

/// Adds the places that only options and their values stand before.
fn pass_options(words: &[String], places: &mut [bool]) {
    let is_option = |word: &String| word.starts_with(['-', '+']);
    for (at, word) in words.iter().enumerate() {
        if !places[at] || !is_option(word) {
            continue;
        }
        places[at + 1] = true;
        let is_valued =
            !word.contains('=') && words.get(at + 1).is_some_and(|next| !is_option(next));
        if is_valued {
            places[at + 2] = true;
        }
    }
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
        let (prefix, is_prefix) = rule.strip_suffix(":*").map_or((rule, false), |it| (it, true));
        let wanted: Vec<&str> = prefix.split(' ').collect();
        assert_eq!(is_like(&command, &wanted, is_prefix), expected, "{line} | {rule}");
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
