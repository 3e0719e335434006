"""One chat call to any OpenAI-compatible endpoint: bounded back-off, checked structured answers, typed errors, usage."""

from __future__ import annotations

import base64
import json
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from cuamaster.errors import EndpointUnavailable, InvalidInput, ModelAnswerError, ModelRefusal
from cuamaster.records.episode import Usage

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletion

log = logging.getLogger(__name__)
MAX_BACKOFF_SECONDS = 30.0
Message = Mapping[str, Any]
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_FORMATS = ("json_schema", "json_object", "text")


@dataclass(frozen=True)
class ToolCall:
    """One function call of an answer; `arguments` is the JSON text as sent."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ChatAnswer:
    """What came back: text, the parsed structure if one was asked for, tool calls, why it ended, and the usage."""

    text: str
    parsed: BaseModel | None
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    usage: Usage


class _Malformed(Exception):
    """The answer is not the asked structure; args: what is wrong, what was said."""


def image_part(png: bytes, media_type: str = "image/png") -> dict[str, Any]:
    """A picture as a content part with a data URL."""
    data = base64.b64encode(png).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}


class ChatClient:
    """A model behind `base_url`. Prices are USD per million tokens; `timeout` is seconds for one request.

    429 and 5xx are tried again up to `retries` times, honouring Retry-After; an endpoint that gives no answer is
    EndpointUnavailable at once, so that the caller decides. `on_usage` is called for every answer, good or bad, and may
    raise BudgetExceeded; `before_call` is asked before money is spent.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        model: str,
        timeout: float = 120.0,
        on_usage: Callable[[Usage], None] | None = None,
        *,
        retries: int = 3,
        backoff: float = 1.0,
        price_prompt: float = 0.0,
        price_completion: float = 0.0,
        wait: Callable[[float], None] = time.sleep,
        before_call: Callable[[], None] | None = None,
    ) -> None:
        if not base_url or not model:
            raise InvalidInput(
                "an endpoint needs api_base and api_model", hint="set CUAMASTER_API_BASE and CUAMASTER_API_MODEL"
            )
        self.base_url, self.model = base_url, model
        self._key, self._timeout, self._on_usage = key, timeout, on_usage
        self._before_call = before_call
        self._retries, self._backoff, self._wait = retries, backoff, wait
        self._prices = (price_prompt, price_completion)
        self._format = 0
        self._sdk: openai.OpenAI | None = None

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: type[BaseModel] | None = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
        purpose: str,
        **options: Any,
    ) -> ChatAnswer:
        """Ask once; with `schema` the answer is checked and, if wrong, asked for a second and last time.

        Raises ModelAnswerError, ModelRefusal, EndpointUnavailable, InvalidInput (the endpoint rejects the request), and
        whatever `on_usage` raises. `options` go to the endpoint unchanged (temperature, max_tokens, ...).
        """
        asked = [dict(message) for message in messages]
        if schema is not None:
            asked = _with_instructions(asked, schema)
        try:
            return self._ask(asked, schema, tools, purpose, options)
        except _Malformed as exc:
            problem, said = exc.args
            log.info("%s: %s answered badly (%s); asking once more", purpose, self.model, problem)
        repair = (
            f"That answer cannot be used: {problem}. Answer again, completely, in the asked form and with nothing else."
        )
        again = [
            *asked,
            *([{"role": "assistant", "content": said}] if said else []),
            {"role": "user", "content": repair},
        ]
        try:
            return self._ask(again, schema, tools, purpose, options)
        except _Malformed as exc:
            raise ModelAnswerError(f"{self.model} answered {purpose} twice in the wrong form: {exc.args[0]}") from None

    def _ask(
        self,
        messages: list[dict[str, Any]],
        schema: type[BaseModel] | None,
        tools: Sequence[Mapping[str, Any]] | None,
        purpose: str,
        options: Mapping[str, Any],
    ) -> ChatAnswer:
        request = {"model": self.model, "messages": messages, **options}
        if tools:
            request["tools"] = [dict(tool) for tool in tools]
        if self._before_call is not None:
            self._before_call()
        began = time.monotonic()
        completion = self._send(request, schema)
        usage = self._usage(completion, purpose, time.monotonic() - began)
        if self._on_usage is not None:
            self._on_usage(usage)
        if not completion.choices:
            raise _Malformed("no choices in it", "")
        choice = completion.choices[0]
        text = choice.message.content or ""
        refusal = getattr(choice.message, "refusal", None)
        if refusal or choice.finish_reason == "content_filter":
            raise ModelRefusal(f"{self.model} declined {purpose}: {refusal or 'content filter'}")
        calls = tuple(
            ToolCall(call.id, call.function.name, call.function.arguments)
            for call in (choice.message.tool_calls or [])
            if call.type == "function"
        )
        if not calls and not text.strip():
            raise _Malformed("it is empty", "")
        parsed = _parse(text, schema) if schema is not None else None
        return ChatAnswer(text, parsed, calls, getattr(choice, "finish_reason", None) or "", usage)

    def _send(self, request: dict[str, Any], schema: type[BaseModel] | None) -> ChatCompletion:
        """Send, stepping down from json_schema to json_object to plain text while the server rejects the format."""
        import openai

        while True:
            form = _FORMATS[self._format] if schema is not None else "text"
            body = dict(request)
            if schema is not None and form != "text":
                body["response_format"] = _response_format(form, schema)
            try:
                return self._retrying(body)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as exc:
                if form == "text":
                    raise InvalidInput(f"{self.base_url} rejects the request: {_said(exc)}") from exc
                log.info("%s rejects response_format %s: %s", self.base_url, form, _said(exc))
                self._format += 1

    def _retrying(self, body: dict[str, Any]) -> ChatCompletion:
        import openai

        for attempt in range(self._retries + 1):
            try:
                completion: ChatCompletion = self._client().chat.completions.create(**body)
            except (openai.BadRequestError, openai.UnprocessableEntityError):
                raise
            except openai.APITimeoutError as exc:
                raise EndpointUnavailable(f"{self.base_url} gave no answer in {self._timeout:g} s") from exc
            except openai.APIConnectionError as exc:
                cause = exc.__cause__ or exc
                raise EndpointUnavailable(
                    f"{self.base_url} cannot be reached: {cause}", hint="is the server running?"
                ) from exc
            except openai.APIStatusError as exc:
                if exc.status_code != 429 and exc.status_code < 500:
                    raise InvalidInput(
                        f"{self.base_url} answers {exc.status_code}: {_said(exc)}",
                        hint="check api_base, api_key and api_model",
                    ) from exc
                if attempt == self._retries:
                    raise EndpointUnavailable(
                        f"{self.base_url} answers {exc.status_code} after {attempt + 1} tries: {_said(exc)}"
                    ) from exc
                self._wait(_pause(exc, self._backoff * 2**attempt))
            except (openai.APIResponseValidationError, json.JSONDecodeError) as exc:
                raise _Malformed(f"the response body is not JSON ({exc})", "") from exc
            else:
                if not hasattr(completion, "choices"):  # the SDK hands a non-JSON body through as text
                    raise _Malformed("the response body is not a chat completion", "")
                return completion
        raise AssertionError("the last attempt returns or raises")

    def _client(self) -> openai.OpenAI:
        if self._sdk is None:
            import openai

            self._sdk = openai.OpenAI(base_url=self.base_url, api_key=self._key, timeout=self._timeout, max_retries=0)
        return self._sdk

    def _usage(self, completion: ChatCompletion, purpose: str, seconds: float) -> Usage:
        prompt = completion.usage.prompt_tokens if completion.usage else 0
        written = completion.usage.completion_tokens if completion.usage else 0
        cost = (prompt * self._prices[0] + written * self._prices[1]) / 1e6
        return Usage(
            endpoint=self.base_url, model=self.model, purpose=purpose, prompt_tokens=prompt, completion_tokens=written,
            cost_usd=cost, seconds=seconds,
        )  # fmt: skip


def _response_format(form: str, schema: type[BaseModel]) -> dict[str, Any]:
    if form == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": schema.__name__, "schema": schema.model_json_schema()}}


def _with_instructions(messages: list[dict[str, Any]], schema: type[BaseModel]) -> list[dict[str, Any]]:
    """The schema in words too, for servers that ignore response_format."""
    text = f"Answer with one JSON object that follows this JSON Schema, and nothing else:\n{json.dumps(schema.model_json_schema())}"
    return [*messages, {"role": "user", "content": text}]


def _parse(text: str, schema: type[BaseModel]) -> BaseModel:
    bare = _THOUGHT.sub("", text).strip()
    fenced = _FENCE.search(bare)
    body = fenced.group(1) if fenced else bare
    start, end = body.find("{"), body.rfind("}")
    try:
        return schema.model_validate_json(body[start : end + 1] if 0 <= start < end else body)
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "answer"
        raise _Malformed(f"{where}: {first['msg']}", text) from exc


def _said(exc: openai.APIStatusError) -> str:
    return " ".join(str(exc.message).split())[:300]


def _pause(exc: openai.APIStatusError, default: float) -> float:
    """Retry-After in seconds if the server states it, else the exponential default; never above the limit."""
    try:
        wanted = float(exc.response.headers.get("retry-after", default))
    except ValueError:  # an HTTP date
        wanted = default
    return min(MAX_BACKOFF_SECONDS, max(0.0, wanted))
