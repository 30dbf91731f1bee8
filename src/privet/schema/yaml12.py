"""YAML for schemas: the plain part of YAML 1.2, in which ``no`` and ``1:30`` are text and keys are unique.

PyYAML reads YAML 1.1, in which the values ``[no, yes]`` are booleans and ``2020-01-02`` is a date: a category would
silently become another. Here only ``true`` and ``false`` are booleans, numbers look like JSON's, and all else is text.
Output is quoted by the same rules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

import yaml

from privet.errors import SchemaError
from privet.schema.limits import MOST_YAML, brief

# The tag of a plain scalar, its pattern, and the characters it may begin with.
PLAIN = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
)


TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("bool", "null", "int", "float", "str", "seq", "map"))
MOST_EXPANDED = 16 * 2**20  # characters, once every anchor is written out: eight times the limit of a file


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: ClassVar[dict[Any, Any]] = {}

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        if keys and (twice := keys.most_common(1)[0])[1] > 1:
            raise SchemaError(f"the schema has the key {brief(twice[0])} twice in one place; drop one")
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
    """Parse a YAML text.

    >>> load("labels: [no, yes]")
    {'labels': ['no', 'yes']}
    """
    if len(text) > MOST_YAML:
        raise SchemaError(
            f"the schema has more than {MOST_YAML:,} characters of YAML; write it as JSON, which is faster"
        )
    loader = _Loader(text)  # a subclass of the safe loader: plain data only, no objects
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check(node)
        return loader.construct_document(node)
    except SchemaError:
        raise
    except (yaml.YAMLError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        where = f" in line {place.line + 1}, column {place.column + 1}" if place else ""
        what = getattr(error, "problem", None) or "it cannot be read"
        raise SchemaError(f"the schema is not valid YAML{where}: {what}") from error


def _check(root: Any) -> None:
    """Refuse what is no plain data, refers to itself, or grows too large once anchors are expanded."""
    sizes: dict[int, int | None] = {}  # of a node with its anchors expanded; None while its children are visited
    waiting = [root]
    while waiting:
        node = waiting[-1]
        inside = _inside(node)
        if id(node) not in sizes:
            if node.tag not in TAGS:
                raise SchemaError(f"the schema has the YAML tag {brief(node.tag)}; write plain data without tags")
            sizes[id(node)] = None
            waiting.extend(one for one in inside if id(one) not in sizes)
            if any(sizes.get(id(one), 0) is None for one in inside):
                raise SchemaError("an anchor of the schema refers to itself; write out what is meant")
            continue
        waiting.pop()
        if sizes[id(node)] is None:
            own = len(node.value) if isinstance(node, yaml.ScalarNode) else 0
            sizes[id(node)] = size = 1 + own + sum(sizes[id(one)] or 0 for one in inside)
            if size > MOST_EXPANDED:
                raise SchemaError(
                    f"the schema becomes more than {MOST_EXPANDED:,} characters once its anchors are written out; "
                    "write it without anchors"
                )


def _inside(node: Any) -> list[Any]:
    if isinstance(node, yaml.MappingNode):
        return [one for pair in node.value for one in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def dump(facts: Mapping[str, Any]) -> str:
    """Format facts as YAML, with lists of values on one line.

    >>> print(dump({"labels": ["no", "1", 1, True]}), end="")
    labels: [no, '1', 1, true]
    """
    text: str = yaml.dump(dict(facts), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    return text
