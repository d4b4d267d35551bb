from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

__version__: str

class Plan:
    @property
    def drafts(self) -> int: ...
    @property
    def vocab(self) -> int: ...
    @property
    def lossless(self) -> bool: ...
    def acceptance(self) -> float: ...
    def bias(self) -> float: ...
    def residual(self) -> Optional[np.ndarray]: ...
    def law(self) -> np.ndarray: ...
    def conditional(self, drafts: np.ndarray) -> np.ndarray: ...
    def draw(self, seed: int, stream: int) -> np.ndarray: ...
    def select(self, drafts: np.ndarray, seed: int, stream: int) -> Tuple[int, bool]: ...

def plan(name: str, p: np.ndarray, q: np.ndarray, k: int, epsilon: float, rounds: int) -> Plan: ...
def verify(
    method: str,
    settings: Dict[str, Any],
    tokens: np.ndarray,
    parents: Optional[np.ndarray],
    multiplicities: Optional[np.ndarray],
    rows: Optional[np.ndarray],
    probabilities: np.ndarray,
    target: np.ndarray,
    temperature: Optional[float],
    drafts: Optional[int],
    seed: int,
    streams: Sequence[int],
    block: int,
    position: int,
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]: ...
def law(
    method: str, settings: Dict[str, Any], draft: Any, target: Any, vocab: int, horizon: int, start: int
) -> Tuple[List[Tuple[Tuple[int, ...], float]], Dict[str, Any]]: ...

class Completion:
    def next(
        self,
    ) -> Optional[Tuple[str, str, List[int], List[Tuple[str, str, str]], Optional[str]]]: ...
    def cancel(self) -> None: ...

class Engine:
    @property
    def vocab(self) -> int: ...
    @property
    def context(self) -> int: ...
    def submit(
        self,
        prompt: Any,
        sampling: Dict[str, Any],
        settings: Dict[str, Any],
        method: Optional[str],
        limit: Optional[int],
        seed: int,
        stop: Sequence[str],
        ignore_eos: bool,
        json_schema: str,
        grammar: str,
        tools: str,
        tool_choice: str,
    ) -> Completion: ...
    def tokenize(self, text: str) -> List[int]: ...
    def detokenize(self, tokens: Sequence[int]) -> bytes: ...
    def logits(self, tokens: Sequence[int], all: bool) -> np.ndarray: ...
    def sum_of_losses(self, tokens: Sequence[int]) -> float: ...

def load(
    model: Optional[str],
    drafts: Sequence[str],
    threads: int,
    context: int,
    slots: int,
    device: str,
    draft_device: str,
    measure_costs: bool,
) -> Engine: ...
