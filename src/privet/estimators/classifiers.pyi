# Written by tools/stubs.py; change what it is made from and run `make stubs`.
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from os import PathLike
from typing import Any, ClassVar, Literal

from privet.estimators.base import PrivateClassifier
from privet.privacy.ledger import Ledger
from privet.recipes.recipe import Recipe
from privet.schema import Schema

def classifier_class(recipe: str) -> type[PrivateClassifier]: ...

@dataclass(repr=False, eq=False)
class SuLQTreeClassifier(PrivateClassifier):
    """SuLQ-based ID3: a tree grown from noisy counts alone."""

    recipe_class: ClassVar[type[Recipe]]
    schema: Schema | str | PathLike[str] | None = None
    epsilon: Any = 1.0
    max_depth: int = 5
    _: KW_ONLY
    bins: int = 10
    variant: Literal["sound", "as-published"] = "sound"
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    expected_records: int | None = None
    ledger: Ledger | None = None
    random_state: Any = None

@dataclass(repr=False, eq=False)
class DiffPID3Classifier(PrivateClassifier):
    """DiffPID3: the exponential mechanism picks each node's attribute."""

    recipe_class: ClassVar[type[Recipe]]
    schema: Schema | str | PathLike[str] | None = None
    epsilon: Any = 1.0
    max_depth: int = 5
    _: KW_ONLY
    criterion: str = "max"
    tests: Literal["binary", "multiway", "mixed"] = "multiway"
    mechanism: str = "exponential"
    max_records: int | None = None
    bins: int = 10
    variant: Literal["sound", "as-published"] = "sound"
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    expected_records: int | None = None
    ledger: Ledger | None = None
    random_state: Any = None

@dataclass(repr=False, eq=False)
class DiffPC45Classifier(PrivateClassifier):
    """DiffPC4.5: numeric split points and pruning on top of DiffPID3."""

    recipe_class: ClassVar[type[Recipe]]
    schema: Schema | str | PathLike[str] | None = None
    epsilon: Any = 1.0
    max_depth: int = 5
    _: KW_ONLY
    criterion: str = "gini"
    tests: Literal["binary", "multiway", "mixed"] = "binary"
    mechanism: str = "exponential"
    max_records: int | None = None
    bins: int = 20
    numeric: Literal["auto", "joint", "points", "bins"] = "auto"
    prune: bool = True
    size_share: float = 0.25
    variant: Literal["sound", "as-published"] = "sound"
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    expected_records: int | None = None
    ledger: Ledger | None = None
    random_state: Any = None

@dataclass(repr=False, eq=False)
class EmbeddedTreeClassifier(PrivateClassifier):
    """Bai et al.'s embedding: one mechanism for several levels of multiway tests."""

    recipe_class: ClassVar[type[Recipe]]
    schema: Schema | str | PathLike[str] | None = None
    epsilon: Any = 1.0
    max_depth: int = 3
    _: KW_ONLY
    embedding_depth: int | Literal["whole"] = "whole"
    search: str = "auto"
    measure: str = "auto"
    min_records: int = 20
    buffer: int | None = None
    step_limit: int | None = None
    variance_threshold: float = 1.0
    bins: int = 10
    variant: Literal["sound", "as-published"] = "sound"
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    expected_records: int | None = None
    ledger: Ledger | None = None
    random_state: Any = None

@dataclass(repr=False, eq=False)
class ExactTreeClassifier(PrivateClassifier):
    """One tree, drawn whole and exactly: privet's recommended single tree."""

    recipe_class: ClassVar[type[Recipe]]
    schema: Schema | str | PathLike[str] | None = None
    epsilon: Any = 1.0
    max_depth: int | Literal["auto"] = "auto"
    _: KW_ONLY
    tests: Literal["binary", "multiway"] = "binary"
    bins: int = 20
    grid: Literal["near-zero", "even"] = "near-zero"
    leaf_prior: float = 0.5
    measure: Literal["tests", "attributes"] = "tests"
    attribute_prior: Mapping[str, float] | None = None
    class_weights: Mapping[Any, float] | None = None
    leaf_share: float = 0.0
    variant: Literal["sound"] = "sound"
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    expected_records: int | None = None
    ledger: Ledger | None = None
    random_state: Any = None

@dataclass(repr=False, eq=False)
class Mohammed2015Classifier(PrivateClassifier):
    """Mohammed et al.'s greedy tree: one question a level, none of them about sizes."""

    recipe_class: ClassVar[type[Recipe]]
    schema: Schema | str | PathLike[str] | None = None
    epsilon: Any = 1.0
    max_depth: int = 3
    _: KW_ONLY
    criterion: str = "max"
    max_records: int | None = None
    tests: Literal["binary", "multiway", "mixed"] = "multiway"
    bins: int = 5
    variant: Literal["sound", "as-published"] = "sound"
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    expected_records: int | None = None
    ledger: Ledger | None = None
    random_state: Any = None

@dataclass(repr=False, eq=False)
class PatilSingh2014Classifier(PrivateClassifier):
    """Patil & Singh's forest: greedy trees, each on a sample of the records."""

    recipe_class: ClassVar[type[Recipe]]
    schema: Schema | str | PathLike[str] | None = None
    epsilon: Any = 1.0
    max_depth: int = 4
    _: KW_ONLY
    trees: int = 20
    rate: float = 0.632
    criterion: str = "gini"
    max_records: int | None = None
    tests: Literal["binary", "multiway", "mixed"] = "multiway"
    bins: int = 5
    variant: Literal["sound", "as-published"] = "sound"
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    expected_records: int | None = None
    ledger: Ledger | None = None
    random_state: Any = None

@dataclass(repr=False, eq=False)
class GreedyForestClassifier(PrivateClassifier):
    """DPDF, Fletcher's greedy forest: trees with different roots that count in every node."""

    recipe_class: ClassVar[type[Recipe]]
    schema: Schema | str | PathLike[str] | None = None
    epsilon: Any = 1.0
    max_depth: int = 4
    _: KW_ONLY
    trees: int = 4
    min_records: int = 100
    prune: bool = True
    tests: Literal["binary", "multiway", "mixed"] = "multiway"
    bins: int = 5
    variant: Literal["sound", "as-published"] = "sound"
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    expected_records: int | None = None
    ledger: Ledger | None = None
    random_state: Any = None

@dataclass(repr=False, eq=False)
class Rana2016Classifier(PrivateClassifier):
    """Rana et al.'s forest: every tree spends all of epsilon. NEVER DIFFERENTIALLY PRIVATE."""

    recipe_class: ClassVar[type[Recipe]]
    schema: Schema | str | PathLike[str] | None = None
    epsilon: Any = 1.0
    max_depth: int = 4
    _: KW_ONLY
    trees: int | Literal["auto"] = "auto"
    max_trees: int = 100
    min_support: int = 10
    bins: int = 64
    variant: Literal["sound", "as-published"] = "sound"
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    expected_records: int | None = None
    ledger: Ledger | None = None
    random_state: Any = None

@dataclass(repr=False, eq=False)
class Jagannathan2012Classifier(PrivateClassifier):
    """Private-RDT, the first private random forest: leaf counts of all trees, added up."""

    recipe_class: ClassVar[type[Recipe]]
    schema: Schema | str | PathLike[str] | None = None
    epsilon: Any = 1.0
    max_depth: int | Literal["auto"] = "auto"
    _: KW_ONLY
    trees: int | Literal["auto"] = "auto"
    bins: int = 64
    n_public: int | None = None
    count_share: float = 0.05
    max_leaves: int = 4096
    variant: Literal["sound"] = "sound"
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    expected_records: int | None = None
    ledger: Ledger | None = None
    random_state: Any = None

@dataclass(repr=False, eq=False)
class Jagannathan2013Classifier(PrivateClassifier):
    """A small private forest labels public records, and a large one learns from those."""

    recipe_class: ClassVar[type[Recipe]]
    schema: Schema | str | PathLike[str] | None = None
    epsilon: Any = 1.0
    max_depth: int | Literal["auto"] = "auto"
    _: KW_ONLY
    public: Any = None
    trees: int = 5
    public_trees: int = 200
    bins: int = 64
    max_leaves: int = 1024
    variant: Literal["sound"] = "sound"
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    expected_records: int | None = None
    ledger: Ledger | None = None
    random_state: Any = None

@dataclass(repr=False, eq=False)
class SNRForestClassifier(PrivateClassifier):
    """DP-RF, Fletcher's signal-to-noise forest: as many trees, as deep, as the noise allows."""

    recipe_class: ClassVar[type[Recipe]]
    schema: Schema | str | PathLike[str] | None = None
    epsilon: Any = 1.0
    _: KW_ONLY
    trees: int | Literal["auto"] = "auto"
    bins: int = 5
    n_public: int | None = None
    count_share: float = 0.05
    max_leaves: int = 65536
    variant: Literal["sound"] = "sound"
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    expected_records: int | None = None
    ledger: Ledger | None = None
    random_state: Any = None

@dataclass(repr=False, eq=False)
class SmoothForestClassifier(PrivateClassifier):
    """Fletcher's forest of disjoint random trees, with labels that keep their promise."""

    recipe_class: ClassVar[type[Recipe]]
    schema: Schema | str | PathLike[str] | None = None
    epsilon: Any = 1.0
    max_depth: int | Literal["auto"] = "auto"
    _: KW_ONLY
    trees: int = 100
    labels: Literal["counts", "chosen"] = "counts"
    bins: int = 64
    max_leaves: int = 1024
    variant: Literal["sound", "global-sensitivity", "as-published"] = "sound"
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    expected_records: int | None = None
    ledger: Ledger | None = None
    random_state: Any = None

@dataclass(repr=False, eq=False)
class PrivateForestClassifier(PrivateClassifier):
    """privet's own random forest: noisy leaves, and all that can be made of them for free."""

    recipe_class: ClassVar[type[Recipe]]
    schema: Schema | str | PathLike[str] | None = None
    epsilon: Any = 1.0
    max_depth: int = 3
    _: KW_ONLY
    trees: int | Literal["auto"] = "auto"
    min_signal: float = 4.0
    n_public: int | None = None
    count_share: float = 0.05
    tests: Literal["binary", "multiway", "mixed"] = "multiway"
    bins: int = 8
    sharing: Literal["all", "disjoint"] = "all"
    shrinkage: float = 0.5
    prune: bool = False
    voting: Literal["majority", "proba", "confidence", "counts", "surest", "evidence"] = "evidence"
    evidence: float = 0.75
    max_leaves: int = 1024
    variant: Literal["sound"] = "sound"
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    expected_records: int | None = None
    ledger: Ledger | None = None
    random_state: Any = None
