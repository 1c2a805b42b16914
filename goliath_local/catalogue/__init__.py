"""Which models exist, which one suits this machine, fetching and verifying a file.

The door of the room. Nothing here loads weights; that is the engine's.
"""

from goliath_local.catalogue.card import Card, Pin, needed_bytes
from goliath_local.catalogue.gguf import GgufHeader
from goliath_local.catalogue.gguf_reader import read_gguf_header
from goliath_local.catalogue.inventory import Entry, inventory
from goliath_local.catalogue.locate import (
    Located,
    cards,
    find_card,
    installed_path,
    locate_model,
    models_dir,
)
from goliath_local.catalogue.machine import Machine, read_machine
from goliath_local.catalogue.verify import verify_file

__all__ = [
    "Card",
    "Entry",
    "GgufHeader",
    "Located",
    "Machine",
    "Pin",
    "cards",
    "find_card",
    "installed_path",
    "inventory",
    "locate_model",
    "models_dir",
    "needed_bytes",
    "read_gguf_header",
    "read_machine",
    "verify_file",
]
