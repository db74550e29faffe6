"""What the vendors' own libraries make of our streams, and what their types say to our requests.

Reads one JSON object: `streams`, a list of {dialect, url, n} (so many streams to read one after the
other), and `bodies`, a list of {dialect, body}. Writes one: `messages`, a list for each of the
streams, and `refused`, for each body null or why it is no request.
"""

import functools
import json
import sys
import typing

# The libraries' types say iterable where JSON has lists. One is judged when somebody goes through it,
# and a text is one, too.
typing.Iterable = typing.List

import anthropic
import openai
import pydantic
from anthropic.types import message_create_params
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params

GO = [{"role": "user", "content": "go"}]


def read_anthropic(url):
    client = anthropic.Anthropic(api_key="k", base_url=url, max_retries=0)
    with client.messages.stream(model="m", max_tokens=100, messages=GO) as stream:
        return stream.get_final_message()


def read_chat(url):
    client = openai.OpenAI(api_key="k", base_url=url, max_retries=0)
    usage = {"include_usage": True}
    try:
        with client.chat.completions.stream(model="m", messages=GO, stream_options=usage) as stream:
            return stream.get_final_completion()
    except openai.LengthFinishReasonError as cut:
        return cut.completion


def read_responses(url):
    client = openai.OpenAI(api_key="k", base_url=url + "/v1", max_retries=0)
    with client.responses.stream(model="m", input="go") as stream:
        last = [event for event in stream][-1]
    # The library's own last step takes none but completed answers.
    return last.response if last.type == "response.incomplete" else stream.get_final_response()


READERS = {
    "anthropic": read_anthropic,
    "openai-chat": read_chat,
    "openrouter": read_chat,
    "openai-responses": read_responses,
}
REQUESTS = {
    "anthropic": message_create_params.MessageCreateParamsStreaming,
    "openai-chat": completion_create_params.CompletionCreateParamsStreaming,
    "openai-responses": response_create_params.ResponseCreateParamsStreaming,
}


def message(dialect, url):
    try:
        return READERS[dialect](url).to_dict(mode="json")
    except Exception as error:  # The test tells what the library said.
        return {"failed": f"{type(error).__name__}: {error}"}


@functools.cache
def types(dialect):
    # Types alone would take any field.
    strict = pydantic.with_config(pydantic.ConfigDict(extra="forbid"))
    return pydantic.TypeAdapter(strict(REQUESTS[dialect]))


def refusal(dialect, body):
    try:
        types(dialect).validate_json(json.dumps(body), strict=True)
    except pydantic.ValidationError as error:
        return str(error)


asked = json.load(sys.stdin)
told = {
    "messages": [
        [message(asking["dialect"], asking["url"]) for _ in range(asking["n"])]
        for asking in asked["streams"]
    ],
    "refused": [refusal(asking["dialect"], asking["body"]) for asking in asked["bodies"]],
}
json.dump(told, sys.stdout)
