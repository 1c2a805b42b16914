"""The only place that speaks to llama.cpp: weights, tokenizer, session, saved states.

Edge. Nothing here decides; the files beside this folder do. Every native value is checked by
its caller before it arrives (`engine.settings`, `engine.local_model`).
"""

from goliath_local.engine.native.library import NativeLog, lays_out_anew, native_build, native_log
from goliath_local.engine.native.session import Aborted, Session, StopFlag, open_session
from goliath_local.engine.native.snapshot import DiskShelf
from goliath_local.engine.native.tokenizer import Tokenizer
from goliath_local.engine.native.weights import Weights, open_weights

__all__ = [
    "Aborted",
    "DiskShelf",
    "NativeLog",
    "Session",
    "StopFlag",
    "Tokenizer",
    "Weights",
    "lays_out_anew",
    "native_build",
    "native_log",
    "open_session",
    "open_weights",
]
