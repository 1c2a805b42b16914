"""Text in, text out: a model file on llama.cpp, behind the model port.

The door of the room. Importing it does not load llama.cpp; `load_model` does.
"""

from goliath_local.engine.load import load_model
from goliath_local.engine.local_model import LocalModel
from goliath_local.engine.server_model import OpenAICompatibleModel
from goliath_local.engine.settings import EngineSettings

__all__ = ["EngineSettings", "LocalModel", "OpenAICompatibleModel", "load_model"]
