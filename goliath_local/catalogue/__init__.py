"""Which models exist, which one suits this machine, fetching and verifying a file.

The door of the room. Nothing here loads weights; that is the engine's.
"""

from goliath_local.catalogue.card import Card, FileSource, HubSource, Pin, UrlSource, needed_bytes
from goliath_local.catalogue.choose import Choice, largest_that_fits, no_model, verify_fits
from goliath_local.catalogue.default import choose_default, choose_default_installed
from goliath_local.catalogue.fetch import Fetched, fetch, source_in_words
from goliath_local.catalogue.gguf import GgufHeader
from goliath_local.catalogue.gguf_reader import read_gguf_header
from goliath_local.catalogue.installed import verify_installed
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
from goliath_local.catalogue.manifest import is_plain_file_name, read_manifest
from goliath_local.catalogue.progress import (
    Moved,
    Note,
    PassedOver,
    Restarted,
    Trying,
    Waiting,
    amount,
    amount_of,
)
from goliath_local.catalogue.record import Record, read_record, write_chosen
from goliath_local.catalogue.remove import remove_model
from goliath_local.catalogue.target import read_target
from goliath_local.catalogue.verify import hash_file, verify_file

__all__ = [
    "Card",
    "Choice",
    "Entry",
    "Fetched",
    "FileSource",
    "GgufHeader",
    "HubSource",
    "Located",
    "Machine",
    "Moved",
    "Note",
    "PassedOver",
    "Pin",
    "Record",
    "Restarted",
    "Trying",
    "UrlSource",
    "Waiting",
    "amount",
    "amount_of",
    "cards",
    "choose_default",
    "choose_default_installed",
    "fetch",
    "find_card",
    "hash_file",
    "installed_path",
    "inventory",
    "is_plain_file_name",
    "largest_that_fits",
    "locate_model",
    "models_dir",
    "needed_bytes",
    "no_model",
    "read_gguf_header",
    "read_machine",
    "read_manifest",
    "read_record",
    "read_target",
    "remove_model",
    "source_in_words",
    "verify_file",
    "verify_fits",
    "verify_installed",
    "write_chosen",
]
