//! Merging: what forbids always counts, what widens only from where it may.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;
use crate::keys::{MODEL, ROUNDS, TUI_PLAIN};
use crate::said::Counts;
use crate::source::Place;

const PLACES: [Place; 10] = [
    Place::UserClaude,
    Place::User,
    Place::ProjectClaude,
    Place::Project,
    Place::LocalClaude,
    Place::Local,
    Place::Saved,
    Place::Given,
    Place::Variables,
    Place::Flags,
];

fn setting<T>(value: T, place: Place) -> Setting<T> {
    Setting { value, source: format!("{place:?}:1") }
}

/// A layer that says these of all the things it could say.
fn layer(place: Place, says: &[Aspect], trusted: &[Aspect]) -> Layer {
    let mut layer = Layer { trusted: trusted.iter().copied().collect(), ..Layer::empty(place) };
    let source = format!("{place:?}:1");
    for aspect in says {
        match aspect {
            Aspect::Rules => {
                for effect in [RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny] {
                    let rule = Rule::parse(&format!("Bash({place:?})"), effect, &source).unwrap();
                    let (text, matches) = ("x".to_owned(), true);
                    let example =
                        Example { rule: rule.clone(), text, matches, source: source.clone() };
                    layer.examples.push(example);
                    layer.rules.push(rule);
                }
            }
            Aspect::Mode => layer.mode = Some(setting(Mode::AcceptEdits, place)),
            Aspect::Folders => layer.folders.push(setting("/f".into(), place)),
            Aspect::Hooks => layer.hooks.push(HookSetting {
                event: heeler_core::HookEvent::Stop,
                matcher: String::new(),
                command: "x".into(),
                timeout_seconds: None,
                only: None,
                in_background: false,
                broken: None,
                source: source.clone(),
            }),
            Aspect::Environment => {
                layer.environment.push(("A".into(), setting(source.clone(), place)));
            }
            Aspect::Sandbox => {
                layer.writable.push(setting("/w".into(), place));
                layer.confinement = Some(setting(Confinement::Off, place));
                layer.network = Some(setting(true, place));
            }
            Aspect::Models => {
                layer.models.push(("a/b".into(), setting(ModelSetting::default(), place)));
                layer.fallback = Some(setting(vec!["a/b".into()], place));
                layer.values.push((&MODEL, setting(KeyValue::Text("a/b".into()), place)));
            }
            Aspect::Preferences => {
                layer.values.push((&TUI_PLAIN, setting(KeyValue::Switch(true), place)));
                // Higher in each place than in all before it.
                let rounds = KeyValue::Number(100 + place as u64);
                layer.values.push((&ROUNDS, setting(rounds, place)));
            }
        }
    }
    // What no trust lets a repository say, said by everybody.
    layer.search = Some(setting(SearchSetting::Searxng, place));
    layer.search_address = Some(setting("http://localhost".into(), place));
    layer.web_hosts.push(setting("localhost".into(), place));
    layer
}

fn aspects() -> impl Strategy<Value = Vec<Aspect>> {
    subsequence(Aspect::ALL.to_vec(), 0..=Aspect::ALL.len())
}

/// Layers of different places.
fn layers() -> impl Strategy<Value = Vec<Layer>> {
    let one =
        |place| (aspects(), aspects()).prop_map(move |(says, trusts)| layer(place, &says, &trusts));
    subsequence(PLACES.to_vec(), 0..=PLACES.len())
        .prop_flat_map(move |places| places.into_iter().map(one).collect::<Vec<_>>())
}

/// What a merged layer widened, with the place that did.
fn widened(loaded: &Loaded) -> Vec<(Aspect, &str)> {
    let mut widened = Vec::new();
    let allows =
        loaded.rules.iter().filter(|rule| rule.effect == RuleEffect::Allow && rule.tool == "Bash");
    widened.extend(allows.map(|rule| (Aspect::Rules, &*rule.source)));
    widened.extend(loaded.mode.iter().map(|mode| (Aspect::Mode, &*mode.source)));
    let reads = loaded.rules.iter().filter(|rule| rule.to_string() == "Read(//f)");
    assert_eq!(reads.clone().count(), loaded.folders.len());
    widened.extend(reads.map(|rule| (Aspect::Folders, &*rule.source)));
    widened.extend(loaded.hooks.iter().map(|hook| (Aspect::Hooks, &*hook.source)));
    widened.extend(loaded.environment.values().map(|one| (Aspect::Environment, &*one.source)));
    widened.extend(loaded.writable.iter().map(|one| (Aspect::Sandbox, &*one.source)));
    widened.extend(loaded.confinement.iter().map(|one| (Aspect::Sandbox, &*one.source)));
    widened.extend(loaded.network.iter().map(|one| (Aspect::Sandbox, &*one.source)));
    widened.extend(loaded.models.values().map(|one| (Aspect::Models, &*one.source)));
    widened.extend(loaded.fallback.iter().map(|one| (Aspect::Models, &*one.source)));
    for (key, aspect) in [
        (&MODEL, Aspect::Models),
        (&TUI_PLAIN, Aspect::Preferences),
        (&ROUNDS, Aspect::Preferences),
    ] {
        widened.extend(loaded.values.get(key.path).map(|one| (aspect, &*one.source)));
    }
    widened
}

proptest! {
    #[test]
    fn the_order_layers_come_in_does_not_matter(
        (layers, shuffled) in layers().prop_flat_map(|l| (Just(l.clone()), Just(l).prop_shuffle())),
    ) {
        prop_assert_eq!(merge(layers).unwrap(), merge(shuffled).unwrap());
    }

    #[test]
    fn where_requests_go_is_never_a_repositorys_say(layers in layers()) {
        let own = layers.iter().map(|layer| layer.place).filter(|place| !place.is_repository());
        let own: Vec<String> = own.map(|place| format!("{place:?}:1")).collect();
        let loaded = merge(layers).unwrap();
        let hosts: Vec<_> = loaded.web_hosts.into_iter().map(|host| host.source).collect();
        prop_assert_eq!(&hosts, &own);
        let last = own.last().cloned();
        prop_assert_eq!(loaded.search.map(|set| set.source), last.clone());
        prop_assert_eq!(loaded.search_address.map(|set| set.source), last);
    }

    #[test]
    fn what_denies_or_asks_always_counts(layers in layers()) {
        let loaded = merge(layers.clone()).unwrap();
        for rule in layers.iter().flat_map(|layer| &layer.rules) {
            let counts = loaded.rules.contains(rule);
            prop_assert!(counts || rule.effect == RuleEffect::Allow, "{} {rule}", rule.source);
        }
    }

    #[test]
    fn a_source_that_is_not_trusted_never_widens(layers in layers()) {
        let loaded = merge(layers.clone()).unwrap();
        for (aspect, source) in widened(&loaded) {
            let by = layers.iter().find(|layer| source == format!("{:?}:1", layer.place)).unwrap();
            prop_assert!(by.is_trusted(aspect), "{aspect:?} of {source}");
        }
    }

    #[test]
    fn what_is_trusted_counts_and_the_most_specific_wins(layers in layers()) {
        let loaded = merge(layers.clone()).unwrap();
        let widened = widened(&loaded);
        let mut sorted = layers;
        sorted.sort_by_key(|layer| layer.place);
        for aspect in Aspect::ALL {
            let sources: Vec<String> = sorted
                .iter()
                .filter(|layer| layer.asks_for(&BTreeMap::new()).contains(&aspect) && layer.is_trusted(aspect))
                .map(|layer| format!("{:?}:1", layer.place))
                .collect();
            let found: Vec<&str> =
                widened.iter().filter(|(other, _)| *other == aspect).map(|(_, by)| *by).collect();
            match aspect {
                Aspect::Rules | Aspect::Folders | Aspect::Hooks => prop_assert_eq!(found, sources),
                Aspect::Mode | Aspect::Environment => {
                    prop_assert_eq!(found.first().copied(), sources.last().map(String::as_str));
                }
                Aspect::Sandbox | Aspect::Models | Aspect::Preferences => {
                    prop_assert_eq!(found.last().copied(), sources.last().map(String::as_str));
                }
            }
        }
    }

    #[test]
    fn what_a_layer_lacks_trust_in_is_told(
        place in select(PLACES.to_vec()), says in aspects(), trusts in aspects(),
    ) {
        let layer = layer(place, &says, &trusts);
        prop_assert_eq!(layer.asks_for(&BTreeMap::new()), says.iter().copied().collect());
        let lacking = says.iter().filter(|aspect| !trusts.contains(aspect)).copied().collect();
        let expected = if place.is_repository() { lacking } else { BTreeSet::new() };
        prop_assert_eq!(layer.untrusted(&BTreeMap::new()), expected);
    }
}

/// The box after a user's and a repository's wishes, which nobody trusts.
fn check_box(
    user: (Option<Confinement>, Option<bool>),
    repository: (Option<Confinement>, Option<bool>),
    expected: (Option<Confinement>, Option<bool>),
) {
    let layer = |place, (confinement, network): (Option<Confinement>, Option<bool>)| Layer {
        confinement: confinement.map(|value| setting(value, place)),
        network: network.map(|value| setting(value, place)),
        ..Layer::empty(place)
    };
    let layers = vec![layer(Place::Local, repository), layer(Place::User, user)];
    let loaded = merge(layers).unwrap();
    let of = (loaded.confinement.map(|c| c.value), loaded.network.map(|n| n.value));
    assert_eq!(of, expected, "{user:?} {repository:?}");
}

#[test]
fn a_repository_makes_the_box_narrower_and_never_wider() {
    use Confinement::{Off, On, Required};
    let none = (None, None);
    check_box(none, none, none);
    check_box(none, (Some(Off), Some(true)), none);
    check_box(none, (Some(On), Some(false)), (None, Some(false)));
    check_box(none, (Some(Required), None), (Some(Required), None));
    check_box((Some(Off), Some(true)), (Some(On), Some(false)), (Some(On), Some(false)));
    check_box((Some(On), Some(false)), (Some(Off), Some(true)), (Some(On), Some(false)));
    check_box((Some(Required), None), (Some(On), None), (Some(Required), None));
}

#[test]
fn of_what_the_user_says_of_the_box_the_most_specific_holds() {
    let layer = |place, confinement, network| Layer {
        confinement: Some(setting(confinement, place)),
        network: Some(setting(network, place)),
        ..Layer::empty(place)
    };
    let user = layer(Place::User, Confinement::Required, false);
    let given = layer(Place::Given, Confinement::On, true);
    let loaded = merge(vec![user, given]).unwrap();
    assert_eq!(loaded.confinement, Some(setting(Confinement::On, Place::Given)));
    assert_eq!(loaded.network, Some(setting(true, Place::Given)));
    let holds = loaded.said.iter().filter(|said| said.counts == Counts::Holds);
    assert_eq!(holds.map(|said| said.place).collect::<Vec<_>>(), [Place::Given; 2]);
}

#[test]
fn bypass_that_anybody_rules_out_is_refused() {
    let mut flags = Layer::empty(Place::Flags);
    flags.mode = Some(Setting { value: Mode::Bypass, source: "--permission-mode".into() });
    let mut repository = Layer::empty(Place::LocalClaude);
    repository.bypass_ruled_out = Some(".claude/settings.local.json:3".into());
    assert!(merge(vec![flags.clone()]).is_ok());
    assert!(merge(vec![repository.clone()]).is_ok());
    assert_eq!(
        merge(vec![repository, flags]).unwrap_err().to_string(),
        "--permission-mode: the mode bypass is ruled out by .claude/settings.local.json:3; choose \
         another mode"
    );
}

#[test]
fn hooks_are_switched_off_by_whom_the_user_trusts() {
    for (place, trusted, are_off) in [
        (Place::UserClaude, &[][..], true),
        (Place::Local, &[], false),
        (Place::Local, &[Aspect::Hooks], true),
        (Place::Local, &[Aspect::Rules], false),
    ] {
        let off = Layer { hooks_off: Some("FILE:1".into()), ..layer(place, &[], trusted) };
        assert_eq!(off.asks_for(&BTreeMap::new()), [Aspect::Hooks].into());
        let loaded = merge(vec![layer(Place::User, &[Aspect::Hooks], &[]), off]).unwrap();
        assert_eq!((loaded.hooks.is_empty(), loaded.hooks_off.is_some()), (are_off, are_off));
    }
}

#[test]
fn sources_are_read_and_what_lacks_trust_is_shown() {
    let source = |place, path: &str, content: &str| Source {
        place,
        path: path.into(),
        name: path.to_owned(),
        content: content.into(),
        trusted: BTreeSet::new(),
    };
    let text = "[env]\nA = '1'\n[permissions]\ndeny = ['Bash(rm:*)']";
    let sources = [
        source(Place::Project, ".heeler/settings.toml", text),
        source(Place::LocalClaude, ".claude/settings.local.json", "{}"),
        source(Place::User, "/h/settings.toml", text),
    ];
    let context = Context { tools: vec!["Bash".into()], ..Context::default() };
    let loaded = load(&sources, vec![Layer::empty(Place::Flags)], &context).unwrap();
    let rules: Vec<String> = loaded.rules.iter().map(|r| format!("{r} {}", r.source)).collect();
    assert_eq!(rules, ["Bash(rm:*) /h/settings.toml:4", "Bash(rm:*) .heeler/settings.toml:4"]);
    assert_eq!(loaded.environment["A"].source, "/h/settings.toml:2");
    let [untrusted] = loaded.untrusted.try_into().unwrap();
    assert_eq!(untrusted.name, ".heeler/settings.toml");
    assert_eq!(untrusted.aspects, [Aspect::Environment].into());
    assert_eq!(untrusted.content, text.as_bytes());
}

/// Layers that each set the rounds of a turn: what holds, and what becomes of each.
fn check_rounds(layers: &[(Place, u64, &[Aspect])], expected: u64, counts: &[Counts]) {
    let layers = layers.iter().map(|(place, rounds, trusted)| Layer {
        values: vec![(&ROUNDS, setting(KeyValue::Number(*rounds), *place))],
        ..layer_of(*place, trusted)
    });
    let loaded = merge(layers.collect()).unwrap();
    let limits = loaded.preferences().limits.over(heeler_core::Limits::default());
    assert_eq!(u64::from(limits.rounds), expected);
    let said: Vec<Counts> = loaded.said.iter().map(|said| said.counts).collect();
    assert_eq!(said, counts);
}

fn layer_of(place: Place, trusted: &[Aspect]) -> Layer {
    Layer { trusted: trusted.iter().copied().collect(), ..Layer::empty(place) }
}

#[test]
fn a_repository_lowers_limits_and_raises_none_until_it_is_trusted() {
    use Counts::{Holds, NotLower, Overridden};
    let trusted = &[Aspect::Preferences][..];
    let lacks = NotLower(Aspect::Preferences);
    check_rounds(&[], 50, &[]);
    check_rounds(&[(Place::Project, 10, &[])], 10, &[Holds]);
    check_rounds(&[(Place::Project, 51, &[])], 50, &[lacks]);
    check_rounds(&[(Place::Project, 0, &[])], 50, &[lacks]);
    check_rounds(&[(Place::Project, 0, trusted)], 0, &[Holds]);
    check_rounds(&[(Place::User, 0, &[]), (Place::Project, 500, &[])], 500, &[Overridden, Holds]);
    check_rounds(&[(Place::User, 20, &[]), (Place::Local, 30, &[])], 20, &[Holds, lacks]);
    check_rounds(&[(Place::Project, 10, &[]), (Place::Flags, 0, &[])], 0, &[Overridden, Holds]);
    check_rounds(&[(Place::Project, 10, &[]), (Place::Local, 20, &[])], 10, &[Holds, lacks]);
}

/// Files that each set the rounds of a turn: those that ask for trust, and those whose word does not
/// count for want of it.
fn check_asked(files: &[(Place, u64)], expected: &[Place]) {
    let sources = files.iter().map(|(place, rounds)| Source {
        place: *place,
        path: format!("{place:?}.toml").into(),
        name: format!("{place:?}"),
        content: format!("[limits]\nrounds = {rounds}").into(),
        trusted: BTreeSet::new(),
    });
    let sources: Vec<Source> = sources.collect();
    let loaded = load(&sources, Vec::new(), &Context::default()).unwrap();
    let asked: Vec<String> = loaded.untrusted.iter().map(|file| file.name.clone()).collect();
    let names: Vec<String> = expected.iter().map(|place| format!("{place:?}")).collect();
    assert_eq!(asked, names, "{files:?}");
    let lacks = |said: &&Said| said.counts == Counts::NotLower(Aspect::Preferences);
    let lacking: Vec<Place> = loaded.said.iter().filter(lacks).map(|said| said.place).collect();
    assert_eq!(lacking, expected, "{files:?}");
}

#[test]
fn a_limit_that_does_not_count_for_want_of_trust_asks_for_it_and_no_other_does() {
    use Place::{Local, Project, User};
    check_asked(&[(Project, 20)], &[]);
    check_asked(&[(Project, 50)], &[]);
    check_asked(&[(Project, 60)], &[Project]);
    check_asked(&[(Project, 0)], &[Project]);
    check_asked(&[(User, 10), (Project, 5)], &[]);
    check_asked(&[(User, 10), (Project, 10)], &[]);
    check_asked(&[(User, 10), (Project, 20)], &[Project]);
    check_asked(&[(User, 0), (Project, 60)], &[]);
    check_asked(&[(Project, 5), (Local, 30)], &[Local]);
    check_asked(&[(User, 10), (Project, 20), (Local, 15)], &[Project, Local]);
}
