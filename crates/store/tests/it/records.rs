//! Arbitrary records of every kind.

use std::sync::Arc;

use heeler_core::{
    AcceptedAnswer, Access, Block, CacheMarker, CallId, CallPlan, CallPlanned, Compacted,
    CompactionCause, CompactionFailed, CompactionStarted, Cost, Decision, EpochCause, EpochStarted,
    Facts, FactsChanged, Few, ForUser, ForkOrigin, HookAnswered, HookEvent, HookVerdict, IfCut,
    Image, Input, InputOrigin, InterruptCause, Kept, LimitKind, Limits, Message, Mode,
    ModelAccepted, ModelFailed, ModelReplied, ModelStarted, Opaque, Opened, PermissionAsked,
    PermissionDecided, PermissionId, PermissionReason, ProviderErrorKind, ProviderItem, Pruned,
    RawJson, Record, RedactedThinking, Reply, Reserve, Resource, Role, Rule, RuleEffect, Settings,
    StateChange, SteeringId, SteeringQueued, StopReason, Text, Thinking, ThinkingSettings,
    Timestamp, ToolChoice, ToolDefinition, ToolOutput, ToolResult, ToolUse, Trimmed, TurnOutcome,
    Usage,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;

/// A record of any kind.
pub(crate) fn record() -> impl Strategy<Value = Record> {
    prop_oneof![
        (any::<u64>(), text())
            .prop_map(|(incarnation, build)| Record::Opened(Opened { incarnation, build })),
        settings().prop_map(|settings| Record::SettingsChanged(Box::new(settings))),
        limits().prop_map(Record::LimitsChanged),
        epoch().prop_map(|epoch| Record::EpochStarted(Box::new(epoch))),
        input().prop_map(|input| Record::Input(Box::new(input))),
        history_given(),
        model(),
        call(),
        permission(),
        hook(),
        steering(),
        compaction(),
        turn_end(),
        Just(Record::TimePassed),
        option::of("[a-z]{1,9}")
            .prop_map(|name| Record::Named { name: name.map(|name| name.parse().unwrap()) }),
        any::<u32>().prop_map(|at| {
            let session = "source".parse().unwrap();
            Record::Forked(Box::new(ForkOrigin { session, at }))
        }),
    ]
}

/// Any characters, those that JSON escapes more often.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{0,12}", "\\PC{0,6}", "[\"\\\\\n\r\t\u{0}\u{7f}\u{2028}{}\\[\\],:]{0,8}"]
}

fn raw() -> impl Strategy<Value = RawJson> {
    select(vec![
        "null",
        "{}",
        "[1.0, \"\\u00e9\", {\"a\":[]}]",
        "\"\\\"\"",
        "1e400",
        "{\"b\":1,\"a\":2}",
    ])
    .prop_map(|json| RawJson::parse(json).unwrap())
}

fn call_id() -> impl Strategy<Value = CallId> {
    any::<(u32, u32, u32)>().prop_map(|(turn, round, index)| CallId { turn, round, index })
}

fn usage() -> impl Strategy<Value = Usage> {
    (any::<[u64; 5]>(), cost(), any::<bool>()).prop_map(|(counters, charged, is_estimated)| {
        let [input, output, cache_write, cache_read, reasoning] = counters;
        Usage { input, output, cache_write, cache_read, reasoning, charged, is_estimated }
    })
}

fn cost() -> impl Strategy<Value = Option<Cost>> {
    option::of(any::<u64>().prop_map(Cost))
}

fn cache() -> impl Strategy<Value = Option<CacheMarker>> {
    option::of(select(vec![CacheMarker::FiveMinutes, CacheMarker::OneHour]))
}

fn provider_item() -> impl Strategy<Value = ProviderItem> {
    (text(), raw()).prop_map(|(provider, json)| ProviderItem { provider, json })
}

fn block() -> impl Strategy<Value = Block> {
    let opaque = (text(), raw()).prop_map(|(provider, raw)| Opaque { provider, raw });
    let plain = prop_oneof![
        (text(), cache(), option::of(provider_item())).prop_map(|(text, cache, raw)| Text {
            text,
            cache,
            raw: raw.map(Box::new)
        }
        .into()),
        (text(), text(), option::of(provider_item())).prop_map(|(text, signature, raw)| {
            Block::from(Thinking { text, signature, raw: raw.map(Box::new) })
        }),
        text().prop_map(|data| Block::from(RedactedThinking { data })),
        (text(), text(), cache()).prop_map(|(media_type, data, cache)| Block::from(Image {
            media_type,
            data,
            cache
        })),
        (any::<bool>(), opaque).prop_map(|(is_document, opaque)| match is_document {
            true => Block::Document(Arc::new(opaque)),
            false => Block::Opaque(Arc::new(opaque)),
        }),
        (text(), text(), raw(), option::of(text()), cache()).prop_map(
            |(id, name, input, invalid, cache)| Block::from(ToolUse {
                id,
                name,
                input,
                invalid,
                cache
            })
        ),
    ];
    plain.prop_recursive(2, 6, 3, |inner| {
        (text(), vec(inner, 0..3), any::<bool>(), cache()).prop_map(
            |(tool_use_id, content, is_error, cache)| {
                Block::from(ToolResult { tool_use_id, content, is_error, cache })
            },
        )
    })
}

fn input() -> impl Strategy<Value = Input> {
    let part = || option::of(text());
    let scope = option::of(btree_map(text(), text(), 0..3));
    let place = (part(), part(), part(), part());
    (vec(block(), 0..3), place, (part(), part(), scope)).prop_map(
        |(blocks, (channel, chat, message, reply_to), (agent, session_key, scope))| {
            let origin =
                InputOrigin { channel, chat, message, reply_to, agent, session_key, scope };
            Input { blocks, origin }
        },
    )
}

fn limits() -> impl Strategy<Value = Limits> {
    any::<([u32; 4], [u64; 3])>().prop_map(|([rounds, calls, repeats, calls_at_once], of)| Limits {
        rounds,
        calls,
        tokens: of[0],
        cost: of[1],
        wall_millis: of[2],
        repeats,
        calls_at_once,
    })
}

fn rule() -> impl Strategy<Value = Rule> {
    let effect = select(vec![RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny]);
    (effect, text(), option::of(text()), text()).prop_map(|(effect, tool, argument, source)| Rule {
        effect,
        tool,
        argument,
        source,
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    let number = || option::of(proptest::num::f64::NORMAL | proptest::num::f64::ZERO);
    let thinking = prop_oneof![
        any::<u64>().prop_map(ThinkingSettings::Budget),
        text().prop_map(ThinkingSettings::Effort)
    ];
    let choice = prop_oneof![
        select(vec![ToolChoice::Auto, ToolChoice::Any, ToolChoice::None]),
        text().prop_map(ToolChoice::Tool)
    ];
    let wire = (number(), number(), vec(text(), 0..2), option::of(thinking), option::of(choice));
    let mode = select(vec![Mode::Ask, Mode::AcceptEdits, Mode::Plan, Mode::Bypass]);
    let calls = (option::of(any::<bool>()), cache());
    let rest = (text(), option::of(any::<u64>()), option::of(raw()), calls);
    (wire, mode, vec(rule(), 0..3), limits(), rest).prop_map(|(wire, mode, rules, limits, rest)| {
        let mut settings = Settings { limits, ..Settings::default() };
        let parameters = &mut settings.model.parameters;
        (parameters.temperature, parameters.top_p) = (wire.0, wire.1);
        (parameters.stop, parameters.thinking, parameters.tool_choice) = (wire.2, wire.3, wire.4);
        parameters.extra_body = rest.2;
        (parameters.parallel_calls, parameters.system_cache) = rest.3;
        (settings.model.name, settings.model.window) = (rest.0, rest.1);
        (settings.policy.mode, settings.policy.rules) = (mode, rules);
        settings
    })
}

fn epoch() -> impl Strategy<Value = EpochStarted> {
    let tool = (text(), text(), raw(), cache(), option::of(provider_item())).prop_map(
        |(name, description, input_schema, cache, raw)| ToolDefinition {
            name,
            description,
            input_schema,
            cache,
            raw,
        },
    );
    let cause = select(vec![EpochCause::First, EpochCause::Model, EpochCause::SystemPrompt]);
    let tools = (vec(tool, 0..3), vec(provider_item(), 0..2));
    (any::<u32>(), cause, tools, [(); 4].map(|()| text())).prop_map(
        |(epoch, cause, tools, [system, model, system_hash, tools_hash])| EpochStarted {
            epoch,
            cause,
            system,
            tools: tools.0,
            provider_tools: tools.1,
            model,
            system_hash,
            tools_hash,
        },
    )
}

fn failure() -> impl Strategy<Value = ProviderErrorKind> {
    select(vec![ProviderErrorKind::Auth, ProviderErrorKind::Network, ProviderErrorKind::Format])
}

fn model() -> impl Strategy<Value = Record> {
    let started = any::<([u32; 4], [u64; 3])>().prop_map(|([turn, round, attempt, epoch], of)| {
        let (up_to, reserve) = (of[0], Reserve { input: of[1], output: of[2] });
        Record::ModelStarted(ModelStarted { turn, round, attempt, epoch, up_to, reserve })
    });
    let accepted =
        (any::<[u32; 3]>(), text(), text()).prop_map(|([turn, round, attempt], dialect, id)| {
            let answer = AcceptedAnswer { dialect, id };
            Record::ModelAccepted(Box::new(ModelAccepted { turn, round, attempt, answer }))
        });
    let stop = prop_oneof![
        select(vec![StopReason::EndTurn, StopReason::ToolUse, StopReason::Pause]),
        text().prop_map(StopReason::Other)
    ];
    let reply = (vec(block(), 0..3), stop, usage(), option::of(text()))
        .prop_map(|(blocks, stop, usage, provider_id)| Reply { blocks, stop, usage, provider_id });
    let replied =
        (any::<[u32; 3]>(), reply, cost()).prop_map(|([turn, round, attempt], reply, cost)| {
            Record::ModelReplied(Box::new(ModelReplied { turn, round, attempt, reply, cost }))
        });
    let failed = (any::<[u32; 3]>(), failure(), text(), any::<Option<u64>>(), usage(), cost())
        .prop_map(|([turn, round, attempt], kind, message, retry_at, usage, cost)| {
            let retry_at = retry_at.map(Timestamp);
            let failed = ModelFailed { turn, round, attempt, kind, message, retry_at, usage, cost };
            Record::ModelFailed(Box::new(failed))
        });
    prop_oneof![started, accepted, replied, failed]
}

fn call() -> impl Strategy<Value = Record> {
    let access = prop_oneof![text().prop_map(Access::Command), text().prop_map(Access::Write)];
    let resource = (text(), any::<bool>()).prop_map(|(key, write)| Resource { key, write });
    let facts = (vec(access, 0..3), vec(resource, 0..3), any::<[bool; 3]>()).prop_map(
        |(accesses, resources, [replay_safe, exclusive, terminal])| Facts {
            accesses,
            resources,
            replay_safe,
            exclusive,
            terminal,
        },
    );
    let facts = facts.boxed();
    let plan = prop_oneof![
        text().prop_map(|error| CallPlan::Invalid { error }),
        (facts.clone(), option::of(raw()), vec(text(), 0..2), option::of(verdict())).prop_map(
            |(facts, input, notes, hook)| {
                let hook = hook.map(Box::new);
                CallPlan::Ready { facts, input, notes: notes.into(), hook }
            }
        ),
    ];
    let state =
        (text(), raw()).prop_map(|(key, value)| StateChange { key, value, if_cut: IfCut::Holds });
    let content = prop_oneof![vec(block(), 0..3), text().prop_map(|text| vec![Block::text(text)]),];
    let media = "media://[a-z0-9]{1,4}".prop_map(|text| text.parse().unwrap());
    let files = (vec(media, 0..2), vec(text(), 0..2), option::of(raw()));
    let output = (content, any::<[bool; 4]>(), text(), option::of(text()), vec(state, 0..2), files)
        .prop_map(
            |(content, flags, for_user, spill, state, (media, artifact_tags, structured))| {
                let [is_error, silent, is_background, response_handled] = flags;
                let spill: Option<std::path::PathBuf> = spill.map(Into::into);
                let known = |reference: &heeler_core::MediaReference| heeler_core::MediaItem {
                    reference: reference.clone(),
                    media_type: "a/b".into(),
                    name: for_user.clone(),
                    bytes: 7,
                    created: heeler_core::Timestamp(8),
                    path: spill.clone(),
                };
                let media_items = media.iter().map(known).collect();
                ToolOutput {
                    content,
                    is_error,
                    for_user,
                    silent,
                    is_background,
                    media: media.into(),
                    media_items,
                    artifact_tags: artifact_tags.into(),
                    response_handled,
                    structured,
                    spill,
                    state: state.into(),
                    error: None,
                    messages: Few::default(),
                }
            },
        );
    prop_oneof![
        (call_id(), 0..2u32, plan).prop_map(|(call, answered_before, plan)| {
            Record::CallPlanned(Box::new(CallPlanned { call, answered_before, plan }))
        }),
        (call_id(), facts, any::<bool>()).prop_map(|(call, facts, ends_allowance)| {
            Record::FactsChanged(Box::new(FactsChanged { call, facts, ends_allowance }))
        }),
        call_id().prop_map(|call| Record::CallStarted { call }),
        (call_id(), output, any::<(u64, u32)>()).prop_map(
            |(call, output, (millis, inner_calls))| {
                Record::CallFinished { call, output: Box::new(output), millis, inner_calls }
            }
        ),
    ]
}

fn permission() -> impl Strategy<Value = Record> {
    let id = || {
        (call_id(), 0..2u32)
            .prop_map(|(call, answered_before)| PermissionId { call, answered_before })
    };
    let reason = prop_oneof![
        text().prop_map(PermissionReason::Policy),
        any::<u32>().prop_map(PermissionReason::Repeated),
        (vec(text(), 0..3), any::<u32>())
            .prop_map(|(calls, more)| PermissionReason::LeavePlan { calls, more }),
    ];
    let decision = prop_oneof![
        Just(Decision::Once),
        rule().prop_map(|rule| Decision::Always { rule }),
        raw().prop_map(|input| Decision::Edited { input }),
        Just(Decision::LeavePlan { mode: Mode::AcceptEdits }),
        option::of(text()).prop_map(|reason| Decision::DenyAndStop { reason }),
    ];
    prop_oneof![
        (id(), reason).prop_map(|(id, reason)| Record::PermissionAsked(Box::new(
            PermissionAsked { id, reason }
        ))),
        (id(), decision, text()).prop_map(|(id, decision, by)| {
            Record::PermissionDecided(Box::new(PermissionDecided { id, decision, by }))
        }),
        rule().prop_map(|rule| Record::RuleGranted(Box::new(rule))),
    ]
}

fn verdict() -> impl Strategy<Value = HookVerdict> {
    let reason = || option::of(text());
    prop_oneof![
        Just(HookVerdict::Continue),
        (text(), reason()).prop_map(|(by, reason)| HookVerdict::Allow { by, reason }),
        (text(), reason()).prop_map(|(by, reason)| HookVerdict::Ask { by, reason }),
        (text(), text()).prop_map(|(by, why)| HookVerdict::Broken { by, why }),
        (text(), text()).prop_map(|(by, reason)| HookVerdict::Deny { by, reason }),
        (text(), text()).prop_map(|(by, reason)| HookVerdict::Stop { by, reason }),
    ]
}

fn hook() -> impl Strategy<Value = Record> {
    let event = select(HookEvent::ALL.to_vec());
    (event, option::of(call_id()), verdict(), vec(text(), 0..2)).prop_map(
        |(event, call, verdict, context)| {
            Record::HookAnswered(Box::new(HookAnswered { event, call, verdict, context }))
        },
    )
}

fn history_given() -> impl Strategy<Value = Record> {
    let role = select(vec![Role::User, Role::Assistant]);
    let message = (role, vec(block(), 0..3)).prop_map(|(role, blocks)| Message { role, blocks });
    vec(message, 0..3).prop_map(|messages| Record::HistoryGiven { messages })
}

fn steering() -> impl Strategy<Value = Record> {
    let id = || text().prop_map(SteeringId);
    prop_oneof![
        (id(), input(), option::of(text())).prop_map(|(id, input, text)| {
            let for_user = text.map(|text| ForUser { text, ..ForUser::default() });
            Record::SteeringQueued(Box::new(
                SteeringQueued::said(id, input).with_for_user(for_user),
            ))
        }),
        id().prop_map(|id| Record::SteeringTakenBack { id }),
    ]
}

fn compaction() -> impl Strategy<Value = Record> {
    let cause = select(vec![CompactionCause::Manual, CompactionCause::Automatic]);
    prop_oneof![
        (any::<u64>(), cause, option::of(text())).prop_map(|(cut, cause, focus)| {
            let focus = focus.map(Into::into);
            Record::CompactionStarted(CompactionStarted { cut, cause, focus })
        }),
        (text(), usage(), cost(), option::of(kept())).prop_map(|(summary, usage, cost, kept)| {
            Record::Compacted(Box::new(Compacted { summary, usage, cost, kept }))
        }),
        (text(), usage(), cost(), option::of(failure()), any::<bool>()).prop_map(
            |(error, usage, cost, kind, stays_due)| {
                let failed = CompactionFailed { error, usage, cost, kind, stays_due };
                Record::CompactionFailed(Box::new(failed))
            }
        ),
        any::<([u64; 3], bool)>().prop_map(|(numbers, only_said)| {
            let [cut, said_chars_max, result_chars_max] = numbers;
            Record::Trimmed(Trimmed { cut, said_chars_max, result_chars_max, only_said })
        }),
        Just(Record::Restored),
        any::<[u64; 2]>().prop_map(|[before, result_chars_max]| {
            Record::Pruned(Pruned { before, result_chars_max })
        }),
    ]
}

fn kept() -> impl Strategy<Value = Kept> {
    any::<[u64; 3]>().prop_map(|[said_chars_max, steps_max, files_max]| Kept {
        said_chars_max,
        steps_max,
        files_max,
    })
}

fn turn_end() -> impl Strategy<Value = Record> {
    let outcome = prop_oneof![
        select(vec![TurnOutcome::Done, TurnOutcome::Refused, TurnOutcome::Cancelled]),
        text().prop_map(|reason| TurnOutcome::Denied { reason }),
        Just(TurnOutcome::Limit { limit: LimitKind::Wall }),
        (failure(), text())
            .prop_map(|(kind, message)| TurnOutcome::ProviderFailed { kind, message }),
    ];
    prop_oneof![
        (any::<u32>(), outcome).prop_map(|(turn, outcome)| Record::TurnFinished { turn, outcome }),
        Just(Record::Interrupted { cause: InterruptCause::WallTime }),
    ]
}
