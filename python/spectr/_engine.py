"""The engine: loads GGUF models and generates."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arrays import integers, unsigned

Prompt = Union[str, Sequence[int], np.ndarray]
Path = Union[str, "os.PathLike[str]"]
Schema = Union[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Piece:
    """New text of a completion, and the tokens [n] that it came with."""

    text: str
    tokens: List[int]
    reasoning: str = ""  #: reasoning before the answer to a conversation
    #: complete calls {"id", "type": "function", "function": {"name", "arguments"}}, with arguments as JSON
    tool_calls: List[Dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Generation:
    """A completion with its tokens [n]."""

    text: str
    tokens: List[int]
    stop_reason: str  #: "eos", "limit", "word" or "context"
    reasoning: str = ""  #: reasoning before the answer to a conversation
    statistics: Dict[str, Any] = field(default_factory=dict)  #: like `stats` in docs/json.md
    tool_calls: List[Dict[str, Any]] = field(default_factory=list)  #: see :class:`Piece`


class Stream:
    """An iterator of :class:`Piece`. Closing it, or leaving its `with` block, cancels the completion."""

    def __init__(self, completion: Any) -> None:
        self._completion = completion
        self._statistics: Dict[str, Any] = {}

    @property
    def statistics(self) -> Dict[str, Any]:
        """The statistics of the completion, which are empty before its end."""
        return self._statistics

    def __iter__(self) -> Iterator[Piece]:
        return self

    def __next__(self) -> Piece:
        event = self._completion.next() if self._completion is not None else None
        if event is None:
            raise StopIteration
        text, reasoning, tokens, calls, statistics = event
        if statistics is not None:
            self._statistics = json.loads(statistics)
        return Piece(
            text,
            list(tokens),
            reasoning,
            [
                {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
                for id, name, arguments in calls
            ],
        )

    def close(self) -> None:
        """Cancels the completion."""
        if self._completion is not None:
            self._completion.cancel()
            self._completion = None

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def result(self) -> Generation:
        """Reads the remaining pieces, and returns them as one completion."""
        pieces = list(self)
        return Generation(
            text="".join(piece.text for piece in pieces),
            tokens=[token for piece in pieces for token in piece.tokens],
            stop_reason=self._statistics.get("stop_reason", "cancelled"),
            reasoning="".join(piece.reasoning for piece in pieces),
            statistics=self._statistics,
            tool_calls=[call for piece in pieces for call in piece.tool_calls],
        )


class Engine:
    """A target model, its draft models, and an engine that decodes requests concurrently. Thread-safe.

    Args:
        model: The GGUF file of the target; None: the bundled pair of models, in a clone.
        drafts: The files of draft models.
        threads: Threads; 0: one for each processor that may be used.
        context: Tokens of prompt and completion; 0: the model's limit.
        slots: The number of completions that are decoded concurrently.
        device, draft_device: GPUs by name; "": the processor.
        measure_costs: Measure the costs of passes, once per machine, in several seconds. The method "auto"
            needs them.

    Raises:
        OSError: A file cannot be used.
        ValueError: An argument is invalid, or a draft model cannot draft for the target.
    """

    def __init__(
        self,
        model: Optional[Path] = None,
        drafts: Union[Path, Sequence[Path]] = (),
        *,
        threads: int = 0,
        context: int = 0,
        slots: int = 1,
        device: str = "",
        draft_device: str = "",
        measure_costs: bool = False,
    ) -> None:
        files = [drafts] if isinstance(drafts, (str, os.PathLike)) else list(drafts)
        if unsigned(slots, "slots") < 1:
            raise ValueError(f"slots must be at least 1, got {slots}")
        self._core = _core.load(
            None if model is None else os.fspath(model),
            [os.fspath(file) for file in files],
            unsigned(threads, "threads"),
            unsigned(context, "context"),
            slots,
            device,
            draft_device,
            measure_costs,
        )

    @property
    def vocab(self) -> int:
        """The number of tokens of the target's vocabulary, V."""
        return self._core.vocab

    @property
    def context(self) -> int:
        """The maximum number of tokens of prompt and completion together."""
        return self._core.context

    def tokenize(self, text: str) -> List[int]:
        """Returns the tokens [n] of a text, in which special tokens are plain text."""
        return list(self._core.tokenize(text))

    def detokenize(self, tokens: Sequence[int]) -> str:
        """Returns the text of tokens [n]. Bytes that are not UTF-8 become U+FFFD."""
        return self._core.detokenize(self._tokens(tokens)).decode("utf-8", "replace")

    def generate(self, prompt: Prompt, **settings: Any) -> Generation:
        """Returns the completion of a prompt, a text or tokens [n]. For settings see :meth:`stream`."""
        return self.stream(prompt, **settings).result()

    def stream(self, prompt: Prompt, **settings: Any) -> Stream:
        """Returns an iterator of the pieces of a completion, which is generated meanwhile.

        Args:
            prompt: A text, or tokens [n].
            max_tokens: The maximum number of tokens; None: until the model or the context ends it.
            seed: The completion is a function of it.
            temperature, top_k, top_p, min_p, repeat_penalty: Sampling, with the command line's defaults.
            method, plan, drafts, length, tree, trunk, look, epsilon, rounds, tau: The method and its settings
                (docs/methods), with the command line's defaults.
            stop: Strings that end the completion.
            ignore_eos: Continue after the end of the text.
            json_schema: A JSON schema that the text conforms to, as a dictionary or as JSON.
            grammar: A GBNF grammar that derives the text from its rule "root".

        Raises:
            ValueError: A setting is invalid; the message names it.
            NotImplementedError: The models or this build do not support a setting.
        """
        text = prompt if isinstance(prompt, str) else tuple(self._tokens(prompt))
        return self._submit(text, **settings)

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        stream: bool = False,
        tools: Sequence[Mapping[str, Any]] = (),
        tool_choice: Union[str, Mapping[str, Any]] = "auto",
        **settings: Any,
    ) -> Any:
        """Returns the answer to a conversation, as a :class:`Generation`, or with `stream` as a :class:`Stream`.

        Args:
            messages: [{"role": "user", "content": "…"}, …]. An assistant's message may have "tool_calls" as
                in :class:`Piece`; a message of the role "tool" has their results, with "tool_call_id".
            tools: [{"type": "function", "function": {"name", "description", "parameters", "strict"}}, …], where
                "parameters" is the JSON schema of the arguments.
            tool_choice: "auto", "none", "required", or {"type": "function", "function": {"name": "…"}}. Calls
                that are required have valid arguments.
            settings: See :meth:`stream`. With tools, `json_schema` applies to answers without calls.

        Raises:
            ValueError: A message, a tool or a setting is invalid; the message names it.
        """
        answer = self._submit(
            [_message(message, f"messages[{i}]") for i, message in enumerate(messages)],
            tools=json.dumps(list(tools)) if tools else "",
            tool_choice=tool_choice if isinstance(tool_choice, str) else json.dumps(tool_choice),
            **settings,
        )
        return answer if stream else answer.result()

    def logits(self, prompt: Prompt, *, all: bool = False) -> np.ndarray:
        """Returns the target's logits after a prompt, float32 [V], or with `all` after each token, [n, V]."""
        rows = self._core.logits(self._prompt_tokens(prompt), all)
        return rows if all else rows[-1]

    def perplexity(self, prompt: Prompt) -> float:
        """Returns the target's perplexity of all tokens [n] of a prompt but the first."""
        tokens = self._prompt_tokens(prompt)
        if len(tokens) < 2:
            raise ValueError(f"prompt must have at least 2 tokens, got {len(tokens)}")
        return float(np.exp(self._core.sum_of_losses(tokens) / (len(tokens) - 1)))

    def _prompt_tokens(self, prompt: Prompt) -> List[int]:
        return self.tokenize(prompt) if isinstance(prompt, str) else self._tokens(prompt)

    @staticmethod
    def _tokens(tokens: Any) -> List[int]:
        return [int(token) for token in integers(tokens, "tokens", (None,))]

    def _submit(
        self,
        prompt: Any,
        *,
        max_tokens: Optional[int] = 256,
        seed: int = 0,
        temperature: float = 0.8,
        top_k: int = 40,
        top_p: float = 0.95,
        min_p: float = 0.05,
        repeat_penalty: float = 1.0,
        method: Optional[str] = None,
        plan: Optional[str] = None,
        drafts: Optional[int] = None,
        length: Optional[int] = None,
        tree: Sequence[int] = (),
        trunk: Optional[int] = None,
        look: Optional[bool] = None,
        epsilon: Optional[float] = None,
        rounds: Optional[int] = None,
        tau: Optional[float] = None,
        stop: Union[str, Sequence[str]] = (),
        ignore_eos: bool = False,
        json_schema: Optional[Schema] = None,
        grammar: Optional[str] = None,
        tools: str = "",
        tool_choice: str = "",
    ) -> Stream:
        sampling = {
            "temperature": float(temperature),
            "top_k": unsigned(top_k, "top_k"),
            "top_p": float(top_p),
            "min_p": float(min_p),
            "repeat_penalty": float(repeat_penalty),
        }
        given = {
            "plan": plan,
            "drafts": drafts,
            "length": length,
            "tree": list(tree) or None,
            "trunk": trunk,
            "look": look,
            "epsilon": epsilon,
            "rounds": rounds,
            "tau": tau,
        }
        settings = {name: value for name, value in given.items() if value is not None}
        completion = self._core.submit(
            prompt,
            sampling,
            settings,
            method,
            None if max_tokens is None else unsigned(max_tokens, "max_tokens"),
            unsigned(seed, "seed"),
            [stop] if isinstance(stop, str) else list(stop),
            ignore_eos,
            json_schema if isinstance(json_schema, str) else "" if json_schema is None else json.dumps(json_schema),
            grammar or "",
            tools,
            tool_choice,
        )
        return Stream(completion)


def _message(message: Mapping[str, Any], where: str) -> Tuple[str, str, List[Tuple[str, str, str]], Optional[str]]:
    """Returns (role, content, calls, id of the call that it is the result of)."""
    calls = [_call(call, f"{where}['tool_calls'][{i}]") for i, call in enumerate(message.get("tool_calls") or ())]
    role, content, call_id = message.get("role"), message.get("content"), message.get("tool_call_id")
    if content is None and calls:
        content = ""
    if not isinstance(role, str) or not isinstance(content, str):
        raise ValueError(f"{where} must have the strings 'role' and 'content', got {message!r}")
    if call_id is not None and not isinstance(call_id, str):
        raise ValueError(f"{where}['tool_call_id'] must be a string, got {call_id!r}")
    return role, content, calls, call_id


def _call(call: Mapping[str, Any], where: str) -> Tuple[str, str, str]:
    """Returns (id, name, arguments) of a tool call, with the arguments as JSON."""
    function = call.get("function") or {}
    name, arguments = function.get("name"), function.get("arguments", "{}")
    try:
        parsed = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        parsed = None
    if not isinstance(name, str) or not isinstance(parsed, Mapping):
        raise ValueError(
            f"{where} must be {{'function': {{'name', 'arguments'}}}} with a JSON object as arguments, got {call!r}"
        )
    return str(call.get("id") or ""), name, arguments if isinstance(arguments, str) else json.dumps(arguments)
