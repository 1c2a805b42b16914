"""What is remembered of a conversation, where it is kept, and how it is read back."""

from goliath_local.memory.files import FileMemories, FileMemory, file_memory
from goliath_local.memory.in_process import (
    InMemory,
    KeyValueMemory,
    KeyValueStore,
    empty_memory,
    in_memory,
    key_value_memory,
)
from goliath_local.memory.merge import merge
from goliath_local.memory.port import (
    ConversationStore,
    Memory,
    MemoryFactory,
    NotesTurns,
    StoredConversation,
)
from goliath_local.memory.read import (
    Reading,
    exchange_from_json,
    memory_from_json,
    read_memory,
    step_from_json,
)
from goliath_local.memory.sqlite import SqliteMemories, SqliteMemory, sqlite_memory
from goliath_local.memory.sqlite_file import transaction
from goliath_local.memory.whole import make_private_folder, set_aside, write_whole
from goliath_local.memory.write import OUTPUT_BYTES, memory_text

__all__ = [
    "OUTPUT_BYTES",
    "ConversationStore",
    "FileMemories",
    "FileMemory",
    "InMemory",
    "KeyValueMemory",
    "KeyValueStore",
    "Memory",
    "MemoryFactory",
    "NotesTurns",
    "Reading",
    "SqliteMemories",
    "SqliteMemory",
    "StoredConversation",
    "empty_memory",
    "exchange_from_json",
    "file_memory",
    "in_memory",
    "key_value_memory",
    "make_private_folder",
    "memory_from_json",
    "memory_text",
    "merge",
    "read_memory",
    "set_aside",
    "sqlite_memory",
    "step_from_json",
    "transaction",
    "write_whole",
]
