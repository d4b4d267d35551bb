"""Checks of array arguments: types, shapes and devices. Values are checked by the library."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

import numpy as np

_INT32 = np.iinfo(np.int32)


def host_array(value: Any, name: str) -> np.ndarray:
    """Returns `value` as a NumPy array, without a copy if DLPack or the buffer protocol allows that."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack_device__"):
        kind, _ = value.__dlpack_device__()
        if kind not in (1, 3):  # kDLCPU, kDLCUDAHost
            raise ValueError(f"{name} lies on a device (DLPack type {int(kind)}); copy it to the host first")
        if getattr(value, "requires_grad", False):
            value = value.detach()
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError) as unsupported:
            raise TypeError(f"{name} cannot be read by DLPack: {unsupported}") from None
    return np.asarray(value)


def numbers(value: Any, name: str, ndim: int) -> np.ndarray:
    """Returns a contiguous float32 or float64 array; float16 becomes float32, integers float64."""
    array = host_array(value, name)
    if array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimensions, got shape {array.shape}")
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    elif array.dtype.kind in "iub":
        array = array.astype(np.float64)
    elif array.dtype not in (np.float32, np.float64):
        raise TypeError(f"{name} must have dtype float32 or float64, got {array.dtype}")
    return np.ascontiguousarray(array)


def integers(value: Any, name: str, shape: Sequence[Optional[int]]) -> np.ndarray:
    """Returns a contiguous int32 array of this shape; None stands for any size."""
    array = host_array(value, name)
    if array.dtype.kind not in "iu" and array.size > 0:
        raise TypeError(f"{name} must hold integers, got dtype {array.dtype}")
    if array.ndim != len(shape) or any(want not in (None, have) for want, have in zip(shape, array.shape)):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} must have shape [{wanted}], got {list(array.shape)}")
    if array.size > 0 and (array.max() > _INT32.max or array.min() < _INT32.min):
        raise ValueError(f"{name} has entries that do not fit into 32 bits")
    return np.ascontiguousarray(array, dtype=np.int32)


def unsigned(value: Any, name: str) -> int:
    """Returns an integer in [0, 2^64)."""
    try:
        number = int(value.__index__())
    except (AttributeError, TypeError):
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if not 0 <= number < 1 << 64:
        raise ValueError(f"{name} must lie in [0, 2^64), got {number}")
    return number


def stream_list(streams: Any, batch: int) -> list:
    """Returns the random stream of every row: its own number, unless `streams` says otherwise."""
    if streams is None:
        return list(range(batch))
    listed = [unsigned(stream, "streams") for stream in streams]
    if len(listed) != batch:
        raise ValueError(f"streams must have {batch} entries, got {len(listed)}")
    return listed


def check_batch(array: np.ndarray, name: str, batch: int, rows: Optional[int], vocab: Optional[int]) -> None:
    """Raises ValueError if an array is not [batch, rows, vocab]."""
    wanted: Tuple[Optional[int], ...] = (batch, rows, vocab)
    if any(want not in (None, have) for want, have in zip(wanted, array.shape)):
        text = ", ".join("any" if size is None else str(size) for size in wanted)
        raise ValueError(f"{name} must have shape [{text}], got {list(array.shape)}")
