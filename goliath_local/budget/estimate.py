"""How many tokens a text has when no tokenizer is at hand.

Pure. Source: behaviour spec 4.1.
"""

from __future__ import annotations

REQUEST_OVERHEAD_TOKENS = 8
"""Added to every request whose template nobody counted."""


def estimate_tokens(text: str) -> int:
    """Return ceil(1.15 / 4 of the ASCII characters) plus one token a byte of everything else.

    `hello world` is 4, `漢` is 3. It is meant to err on the high side.
    """
    ascii_characters = len(text.encode("ascii", "ignore"))
    other_bytes = len(text.encode("utf-8", "surrogatepass")) - ascii_characters
    # 1.15 n / 4 is 23 n / 80, in integers so that no float rounds it.
    return -(-ascii_characters * 23 // 80) + other_bytes
