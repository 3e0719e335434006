"""The chat client against a real server: good answers, repair, back-off, refusal, silence, format fallback, usage."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from pydantic import BaseModel, Field

from cuamaster.adapters.chat import ChatClient, image_part
from cuamaster.errors import BudgetExceeded, EndpointUnavailable, InvalidInput, ModelAnswerError, ModelRefusal
from cuamaster.records.episode import Usage

ASK = [{"role": "user", "content": "how many?"}]


class Count(BaseModel):
    number: int = Field(ge=0)


def client(server: Any, **options: Any) -> tuple[ChatClient, list[Usage], list[float]]:
    used: list[Usage] = []
    waits: list[float] = []
    chat = ChatClient(
        server.url,
        "key",
        "model-x",
        5.0,
        used.append,
        price_prompt=10,
        price_completion=100,
        wait=waits.append,
        **options,
    )
    return chat, used, waits


def test_plain_text_and_usage(chat_server: Any) -> None:
    chat, used, _ = client(chat_server)
    answer = chat.complete(ASK, purpose="greet")
    assert answer.text == "hello" and answer.parsed is None
    assert used == [answer.usage]
    assert (used[0].prompt_tokens, used[0].completion_tokens, used[0].purpose) == (100, 20, "greet")
    assert used[0].cost_usd == pytest.approx(100 * 10 / 1e6 + 20 * 100 / 1e6)


@pytest.mark.parametrize(
    "text", ['{"number": 3}', '```json\n{"number": 3}\n```', '<think>{"number": 9}</think>Here: {"number": 3} ok']
)
def test_structure_is_found_and_checked(chat_server: Any, text: str) -> None:
    chat_server.script = [text]
    assert client(chat_server)[0].complete(ASK, schema=Count, purpose="count").parsed == Count(number=3)
    sent = chat_server.requests[0]
    assert sent["response_format"]["json_schema"]["schema"]["properties"]["number"]["minimum"] == 0


@pytest.mark.parametrize("bad", ['{"number": ', '{"number": -4}', '{"other": 1}', "I would say three.", ""])
def test_one_repair_then_good(chat_server: Any, bad: str) -> None:
    chat_server.script = [bad, '{"number": 7}']
    chat, used, _ = client(chat_server)
    assert chat.complete(ASK, schema=Count, purpose="count").parsed == Count(number=7)
    assert len(used) == 2, "the bad answer was paid for too"
    repair = chat_server.requests[1]["messages"]
    assert repair[-1]["role"] == "user" and "cannot be used" in repair[-1]["content"]


def test_wrong_twice_is_an_answer_error(chat_server: Any) -> None:
    chat_server.script = ["{", "{"]
    with pytest.raises(ModelAnswerError, match="twice"):
        client(chat_server)[0].complete(ASK, schema=Count, purpose="count")
    assert len(chat_server.requests) == 2


def test_a_body_that_is_not_json_is_repaired_once(chat_server: Any) -> None:
    chat_server.script = [(200, {}, '{"choices": [{"mess'), '{"number": 1}']
    assert client(chat_server)[0].complete(ASK, schema=Count, purpose="count").parsed == Count(number=1)
    chat_server.requests.clear()
    chat_server.script = [(200, {"Content-Type": "text/html"}, "<html>proxy login</html>")]
    with pytest.raises(ModelAnswerError):
        client(chat_server)[0].complete(ASK, purpose="count")


def test_rate_limit_then_good_honours_retry_after(chat_server: Any) -> None:
    chat_server.script = [(429, {"Retry-After": "3"}, {"error": {"message": "slow"}}), 503, "fine"]
    chat, _, waits = client(chat_server)
    assert chat.complete(ASK, purpose="x").text == "fine"
    assert waits == [3.0, 2.0]


def test_server_errors_end_after_a_bounded_number_of_tries(chat_server: Any) -> None:
    chat_server.script = [500]
    chat, used, waits = client(chat_server, retries=2)
    with pytest.raises(EndpointUnavailable, match="500 after 3 tries"):
        chat.complete(ASK, purpose="x")
    assert len(chat_server.requests) == 3 and waits == [1.0, 2.0] and used == []


@pytest.mark.parametrize(
    "reply", [{"content": None, "refusal": "I cannot help."}, {"content": "", "finish_reason": "content_filter"}]
)
def test_refusal(chat_server: Any, reply: dict[str, Any]) -> None:
    chat_server.script = [reply]
    with pytest.raises(ModelRefusal):
        client(chat_server)[0].complete(ASK, schema=Count, purpose="x")
    assert len(chat_server.requests) == 1, "a refusal is not argued with"


def test_silence_is_unavailable_after_the_timeout(chat_server: Any) -> None:
    chat_server.script = [None]
    chat = ChatClient(chat_server.url, "key", "m", 0.3)
    began = time.monotonic()
    with pytest.raises(EndpointUnavailable, match=r"no answer in 0\.3 s"):
        chat.complete(ASK, purpose="x")
    assert time.monotonic() - began < 5
    assert len(chat_server.requests) == 1


def test_nobody_there_and_wrong_key(chat_server: Any) -> None:
    chat_server.script = [401]
    with pytest.raises(InvalidInput, match="401"):
        client(chat_server)[0].complete(ASK, purpose="x")
    url = chat_server.url
    chat_server.close()
    with pytest.raises(EndpointUnavailable, match="cannot be reached"):
        ChatClient(url, "k", "m", 2.0).complete(ASK, purpose="x")
    with pytest.raises(InvalidInput, match="api_base"):
        ChatClient("", "k", "m")


def test_format_fallback_is_remembered(chat_server: Any) -> None:
    chat_server.reject_formats = ("json_schema", "json_object")
    chat_server.script = ['{"number": 2}']
    chat, _, _ = client(chat_server)
    for _ in range(2):
        assert chat.complete(ASK, schema=Count, purpose="x").parsed == Count(number=2)
    formats = [(body.get("response_format") or {}).get("type") for body in chat_server.requests]
    assert formats == ["json_schema", "json_object", None, None]
    assert "JSON Schema" in chat_server.requests[-1]["messages"][-1]["content"]


def test_a_request_rejected_for_another_reason_is_invalid_input(chat_server: Any) -> None:
    chat_server.script = [400]
    with pytest.raises(InvalidInput, match="rejects the request"):
        client(chat_server)[0].complete(ASK, schema=Count, purpose="x")


def test_tool_calls_and_pictures(chat_server: Any) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "computer_use", "arguments": '{"action": "wait"}'}}
    chat_server.script = [{"content": None, "tool_calls": [call]}]
    tools = [{"type": "function", "function": {"name": "computer_use", "parameters": {"type": "object"}}}]
    asked = [{"role": "user", "content": [{"type": "text", "text": "see"}, image_part(b"\x89PNG")]}]
    answer = client(chat_server)[0].complete(asked, tools=tools, purpose="act", temperature=0)
    assert json.loads(answer.tool_calls[0].arguments) == {"action": "wait"}
    sent = chat_server.requests[0]
    assert sent["messages"][0]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
    assert sent["temperature"] == 0 and sent["tools"][0]["function"]["name"] == "computer_use"


def test_budget_stops_before_spending(chat_server: Any) -> None:
    def spent() -> None:
        raise BudgetExceeded("all gone")

    with pytest.raises(BudgetExceeded):
        ChatClient(chat_server.url, "k", "m", 5.0, before_call=spent).complete(ASK, purpose="x")
    assert chat_server.requests == []
