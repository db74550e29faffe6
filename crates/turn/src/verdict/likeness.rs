//! Whether a command may be one that a rule speaks of which denies or asks: by whatever path, behind
//! whatever options, and as the script of another program.

use heeler_core::ShellCommand;

/// Programs whose operand is a script that they run; versions behind the names make no difference.
const INTERPRETERS: [&str; 20] = [
    "ash", "bash", "bun", "dash", "deno", "fish", "ksh", "lua", "mksh", "node", "perl", "php",
    "pwsh", "python", "rbash", "ruby", "sh", "source", "tsx", "zsh",
];

/// Whether the words of a command may be these, with any behind them where it is a prefix.
pub(super) fn is_like(command: &ShellCommand, wanted: &[&str], is_prefix: bool) -> bool {
    let fits = |words: &[String]| begins(words, wanted, is_prefix);
    let forms = [&command.words, &command.plain].into_iter().filter(|words| !words.is_empty());
    forms.into_iter().any(|words| {
        let is_script = || {
            let name = words.first().map(|name| base(name)).unwrap_or_default();
            let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            let is_interpreter = words.first().is_some_and(|word| word == ".")
                || INTERPRETERS.iter().any(|known| known.eq_ignore_ascii_case(name));
            is_interpreter && (1..words.len()).any(|at| fits(&words[at..]))
        };
        fits(words) || is_script()
    })
}

/// Whether words begin with those that are wanted. Their paths make no difference, nor do options
/// between them, of which each may have the next word as its value.
fn begins(words: &[String], wanted: &[&str], is_prefix: bool) -> bool {
    let Some((name, rest)) = wanted.split_first() else { return is_prefix || words.is_empty() };
    let is_name = words.first().is_some_and(|word| base(word) == base(name));
    is_name && follows(&words[1..], rest, is_prefix)
}

fn follows(words: &[String], wanted: &[&str], is_prefix: bool) -> bool {
    // From each place on that the words before may have led to.
    let mut places = vec![0];
    for text in wanted {
        let mut next: Vec<usize> = places
            .into_iter()
            .flat_map(|place| reached(words, place))
            .filter(|at| words.get(*at).is_some_and(|word| word == text))
            .map(|at| at + 1)
            .collect();
        next.sort_unstable();
        next.dedup();
        places = next;
    }
    places.iter().any(|at| is_prefix || *at == words.len())
}

/// The places from one on up to which there are only options and their values.
fn reached(words: &[String], from: usize) -> Vec<usize> {
    let is_option = |at: usize| words.get(at).is_some_and(|word| word.starts_with('-'));
    let mut reached = vec![from];
    let mut at = from;
    while is_option(at) {
        let is_valued = !is_option(at + 1) && !words[at].contains('=');
        reached.push(at + 1);
        at += if is_valued { 2 } else { 1 };
        reached.push(at);
    }
    reached
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
        check("bash deploy.sh prod", "./scripts/deploy.sh prod:*", true);
        check("bash deploy.sh test", "./scripts/deploy.sh prod:*", false);
    }
}
