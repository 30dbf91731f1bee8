"""YAML for schemas: the plain part of YAML 1.2, where ``no`` is a text, ``1:30`` too, and a key stands once.

PyYAML reads YAML 1.1, in which the values ``[no, yes]`` of a question are booleans, and ``2020-01-02`` is a date: a
category would silently become another. Here only ``true`` and ``false`` are booleans, numbers look like JSON's, and
all else is text. What is written is quoted by the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import yaml

from privet.errors import SchemaError

# The tag of a plain scalar, what it looks like, and the characters it may begin with.
PLAIN = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
)


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: ClassVar[dict[Any, Any]] = {}

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for key in keys:
            if keys.count(key) > 1:
                raise SchemaError(f"the schema has the key {key!r} twice in one place; drop one")
        return super().construct_mapping(node, deep=deep)


class _Dumper(yaml.SafeDumper):
    yaml_implicit_resolvers: ClassVar[dict[Any, Any]] = {}

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
        return super().increase_indent(flow, False)


for _kind in (_Loader, _Dumper):
    for _tag, _looks, _first in PLAIN:
        _kind.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_looks})\\Z"), list(_first))

_Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))  # 010 is ten, as in YAML 1.2
_Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(node.value))
_Dumper.add_representer(list, lambda dumper, data: dumper.represent_sequence(
    "tag:yaml.org,2002:seq", data, flow_style=not any(isinstance(item, Mapping) for item in data)))  # fmt: skip


def load(text: str) -> Any:
    """What a YAML text says.

    >>> load("labels: [no, yes]")
    {'labels': ['no', 'yes']}
    """
    try:
        return yaml.load(text, _Loader)  # a subclass of the safe loader: no objects, only plain data
    except SchemaError:
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        where = f" in line {place.line + 1}, column {place.column + 1}" if place else ""
        what = getattr(error, "problem", None) or "it cannot be read"
        raise SchemaError(f"the schema is not valid YAML{where}: {what}") from error


def dump(facts: Mapping[str, Any]) -> str:
    """The same as text, lists of values on a line.

    >>> print(dump({"labels": ["no", "1", 1, True]}), end="")
    labels: [no, '1', 1, true]
    """
    text: str = yaml.dump(dict(facts), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    return text
