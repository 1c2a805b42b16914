"""JSON Schema and output models: read, checked, and told apart."""

from goliath_local.schema.declare import Declared, SchemaSource, declare, dump

__all__ = ["Declared", "SchemaSource", "declare", "dump"]
