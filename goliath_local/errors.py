"""Every error of the package, as one tree.

    GoliathError
    ├─ ConfigError              a setting, an option or a declaration is wrong; a ValueError too
    │  └─ ToolError             a tool's signature or options are unusable
    ├─ SchemaError              a JSON Schema cannot be compiled; says where
    ├─ InvalidValue             a value does not fit its schema; says where in the value
    ├─ GrammarError             a GBNF text is unsound; says line and column
    ├─ ModelError               a model could not reply
    │  ├─ ModelUnavailable      it cannot run here, or not now
    │  ├─ ModelRefused          it declined to reply (a guardrail)
    │  ├─ InvalidOutput         its reply is not what was asked for
    │  ├─ ContextFull           the prompt and the reply do not fit the window
    │  └─ EngineBusy            another caller has it, and waiting was not wanted
    ├─ ModelFileError           a model file is missing, unsound or not the pinned one
    │  ├─ NoModel               nothing is installed, or the name is unknown
    │  ├─ BadModelFile          not a sound GGUF
    │  └─ HashMismatch          not the bytes its card names
    ├─ FetchError               the network or the disk stopped a download
    ├─ MachineError             memory, compiler or processor do not suffice
    │  └─ MissingPackage        a package that goliath-local needs is not installed
    ├─ BudgetError              a prompt is over its limit, and extensions want to know
    ├─ ExtensionError           a hook raised, or returned what it may not
    ├─ StorageError             something kept on disk cannot be read or written
    │  └─ StorageBusy           another process held it too long
    ├─ FileError                a virtual file cannot be read, searched or changed as asked
    │  ├─ FileMissing           there is no such file
    │  ├─ NotText               it is not UTF-8 text of at most 1 MiB
    │  └─ StaleFile             it is no longer the version that was meant
    ├─ ToolServerError          a server of tools did not start, failed a call, or is gone
    ├─ HttpError                a server could not be asked, or its reply is over the limits
    ├─ FallbackError            the fallback did not give a usable reply
    ├─ ScriptError              a scripted model was asked what its script does not say; an
    │                           AssertionError too, so that no test passes by it
    └─ RunCancelled             the run was told to stop

An error means that somebody has to act; its text ends with what to do. A failure of a small
model's reply is not an error but a value with a reason (see `records.Reason`). Each room adds
the facts of its errors as attributes here, so that the whole tree can be read in one place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class GoliathError(Exception):
    """The root: catch this to catch everything the package raises on purpose."""


class ConfigError(GoliathError, ValueError):
    """A setting, an option or a declaration is wrong."""


class ToolError(ConfigError):
    """A tool's signature or options are unusable."""


class SchemaError(GoliathError):
    """A JSON Schema cannot be compiled.

    Attributes:
        pointer: JSON pointer to the place, `""` for the document itself.
        keyword: the keyword at fault, `""` if none.
        reason: what is wrong, in words.
    """

    def __init__(self, pointer: str, keyword: str, reason: str) -> None:
        super().__init__(f"#{pointer}: {reason}")
        self.pointer = pointer
        self.keyword = keyword
        self.reason = reason


class GrammarError(GoliathError):
    """A GBNF text is unsound.

    Attributes:
        line: 1-based line of the place.
        column: 1-based column of the place, in characters.
        reason: what is wrong, in words.
    """

    def __init__(self, line: int, column: int, reason: str) -> None:
        super().__init__(f"line {line}, column {column}: {reason}")
        self.line = line
        self.column = column
        self.reason = reason


class ModelError(GoliathError):
    """A model could not reply."""


class ModelUnavailable(ModelError):
    """The model cannot run here, or not now."""


class ModelRefused(ModelError):
    """The model declined to reply."""


class InvalidOutput(ModelError):
    """The reply is not what was asked for."""


class ContextFull(ModelError):
    """The prompt and the reply do not fit the window.

    Attributes:
        needed_tokens: tokens of the prompt.
        limit_tokens: tokens there are for it.
        window_tokens: the whole window.
        by_part: tokens of each part of the prompt, by name.
    """

    def __init__(
        self,
        *,
        needed_tokens: int,
        limit_tokens: int,
        window_tokens: int,
        by_part: dict[str, int] | None = None,
    ) -> None:
        parts = ", ".join(f"{name} {tokens:,}" for name, tokens in (by_part or {}).items())
        super().__init__(
            f"The prompt is {needed_tokens:,} tokens; there is room for {limit_tokens:,} of "
            f"{window_tokens:,}{f' ({parts})' if parts else ''}. Shorten or split it."
        )
        self.needed_tokens = needed_tokens
        self.limit_tokens = limit_tokens
        self.window_tokens = window_tokens
        self.by_part = by_part or {}


class EngineBusy(ModelError):
    """Another caller has the model, and waiting was not wanted."""


class InvalidValue(GoliathError):
    """A value does not fit its schema.

    Attributes:
        path: JSON pointer to the place in the value, `""` for the whole.
        reason: what is wrong there, in words.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path or 'the value'}: {reason}")
        self.path = path
        self.reason = reason


class ModelFileError(GoliathError):
    """A model file is missing, unsound or not the pinned one."""


class NoModel(ModelFileError):
    """Nothing is installed, or the name is unknown."""


class BadModelFile(ModelFileError):
    """The file is not a sound GGUF.

    Attributes:
        path: the file.
        reason: what is wrong, in words.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path.name} {reason}")
        self.path = path
        self.reason = reason


class HashMismatch(ModelFileError):
    """The file is not the bytes its card names.

    Attributes:
        path: the file.
        expected: sha256 of the card, 64 hex digits.
        actual: sha256 of the file, 64 hex digits.
    """

    def __init__(
        self,
        *,
        path: Path,
        expected: str,
        actual: str,
        cure: str = "It was not installed. Often a proxy or a full disk.",
    ) -> None:
        super().__init__(
            f"The sha256 of {path.name} is {actual}, its card says {expected}. {cure}"
        )
        self.path = path
        self.expected = expected
        self.actual = actual


class FetchError(GoliathError):
    """The network or the disk stopped a download.

    Attributes:
        began: True once bytes of the file had come; they are kept, and another source is not
            tried.
    """

    def __init__(self, message: str, *, began: bool = False) -> None:
        super().__init__(message)
        self.began = began


class MachineError(GoliathError):
    """Memory, compiler or processor do not suffice."""


class MissingPackage(MachineError):
    """A package that goliath-local needs is not installed.

    Attributes:
        package: the module that was looked for.
    """

    def __init__(self, package: str) -> None:
        super().__init__(
            f"goliath-local is not completely installed: the package {package} is missing. "
            "Install it again: pip install --force-reinstall goliath-local"
        )
        self.package = package


def missing_package(error: ImportError) -> MissingPackage | None:
    """Return what it means that an import failed; None when it was one of our own modules."""
    package = (error.name or "goliath_local").partition(".")[0]
    is_ours = package == "goliath_local" or not isinstance(error, ModuleNotFoundError)
    return None if is_ours else MissingPackage(package)


class BudgetError(GoliathError):
    """A prompt is over its limit, and extensions want to know.

    Attributes:
        phase: the stage whose prompt it is.
        tokens: what the prompt needs.
        limit: what it may have.
    """

    def __init__(self, phase: str, tokens: int, limit: int) -> None:
        super().__init__(
            f"The {phase} prompt is {tokens:,} tokens and may have {limit:,}. "
            "Shorten the ask, the facts or the tools, or widen the window."
        )
        self.phase = phase
        self.tokens = tokens
        self.limit = limit


class ExtensionError(GoliathError):
    """A hook raised, or returned what it may not.

    Attributes:
        extension: name of the extension.
        phase: name of the hook.
        cause: what it raised, or what was wrong.
    """

    def __init__(self, extension: str, phase: str, cause: BaseException | str) -> None:
        super().__init__(
            f"Extension {extension!r} failed in {phase}: {cause}. Fix the hook or remove it."
        )
        self.extension = extension
        self.phase = phase
        self.cause = cause


class StorageError(GoliathError):
    """Something kept on disk cannot be read or written."""


class StorageBusy(StorageError):
    """Another process held what is kept on disk too long."""


class FileError(GoliathError):
    """A virtual file cannot be read, searched or changed as asked.

    Attributes:
        path: the virtual path, or what was given as one.
        reason: what is wrong and what to do, in words.
    """

    def __init__(self, path: str, reason: str) -> None:
        # The model sees 160 characters of this, so a long path must not hide the reason.
        super().__init__(f"{path if len(path) <= 60 else path[:59] + '…'}: {reason}")
        self.path = path
        self.reason = reason


class FileMissing(FileError):
    """There is no such file."""


class NotText(FileError):
    """The file is not UTF-8 text of at most 1 MiB."""


class StaleFile(FileError):
    """The file is no longer the version that was meant."""


class ToolServerError(GoliathError):
    """A server of tools did not start, failed a call, or is gone.

    Attributes:
        server: what the server is called.
        reason: what happened, in words.
    """

    def __init__(self, server: str, reason: str) -> None:
        super().__init__(f"{server}: {reason}")
        self.server = server
        self.reason = reason


class HttpError(GoliathError):
    """A server could not be asked, or its reply is over the limits.

    Attributes:
        url: whom it was about, without credentials, query or fragment.
        reason: what happened, in words.
        status: the HTTP status of the reply, None if there was none.
        body: what the server said, cut short; for reading out its reason.
    """

    def __init__(
        self, url: str, reason: str, *, status: int | None = None, body: bytes = b""
    ) -> None:
        super().__init__(f"{url}: {reason}")
        self.url = url
        self.reason = reason
        self.status = status
        self.body = body


class FallbackError(GoliathError):
    """The fallback did not give a usable reply."""


class ScriptError(GoliathError, AssertionError):
    """A scripted model was asked what its script does not say; no stage absorbs it."""


class RunCancelled(GoliathError):
    """The run was told to stop."""

    def __init__(self, reason: str | None = None) -> None:
        super().__init__(f"The run was cancelled{f': {reason}' if reason else ''}. Run it again.")
        self.reason = reason
