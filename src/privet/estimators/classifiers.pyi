# Written by tools/stubs.py; change what it is made from and run `make stubs`.
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar, Literal

from privet.estimators.additive import AdditiveFace
from privet.estimators.base import PrivateClassifier
from privet.privacy.ledger import Ledger
from privet.recipes.recipe import Recipe
from privet.schema import Schema

def classifier_class(recipe: str) -> type[PrivateClassifier]: ...

class SuLQTreeClassifier(PrivateClassifier):
    """SuLQ-based ID3: a tree grown from noisy counts alone."""

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    bins: int
    grid: Literal["bought", "even"]
    variant: Literal["sound", "as-published"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int = 5,
        *,
        bins: int = 10,
        grid: Literal["bought", "even"] = "bought",
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class DiffPID3Classifier(PrivateClassifier):
    """DiffPID3: the exponential mechanism picks each node's attribute."""

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    criterion: str
    tests: Literal["binary", "multiway", "mixed"]
    mechanism: str
    max_records: int | None
    bins: int
    grid: Literal["bought", "even"]
    variant: Literal["sound", "as-published"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int = 5,
        *,
        criterion: str = "max",
        tests: Literal["binary", "multiway", "mixed"] = "multiway",
        mechanism: str = "exponential",
        max_records: int | None = None,
        bins: int = 10,
        grid: Literal["bought", "even"] = "bought",
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class DiffPC45Classifier(PrivateClassifier):
    """DiffPC4.5: numeric split points and pruning on top of DiffPID3."""

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    criterion: str
    tests: Literal["binary", "multiway", "mixed"]
    mechanism: str
    max_records: int | None
    bins: int
    grid: Literal["bought", "even"]
    numeric: Literal["auto", "joint", "points", "bins"]
    prune: bool
    size_share: float
    variant: Literal["sound", "as-published"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int = 5,
        *,
        criterion: str = "gini",
        tests: Literal["binary", "multiway", "mixed"] = "binary",
        mechanism: str = "exponential",
        max_records: int | None = None,
        bins: int = 20,
        grid: Literal["bought", "even"] = "bought",
        numeric: Literal["auto", "joint", "points", "bins"] = "auto",
        prune: bool = True,
        size_share: float = 0.25,
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class EmbeddedTreeClassifier(PrivateClassifier):
    """Bai et al.'s embedding: one mechanism for several levels of multiway tests."""

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    embedding_depth: int | Literal["whole"]
    search: str
    measure: str
    min_records: int
    buffer: int | None
    step_limit: int | None
    variance_threshold: float
    bins: int
    grid: Literal["bought", "even"]
    variant: Literal["sound", "as-published"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int = 3,
        *,
        embedding_depth: int | Literal["whole"] = "whole",
        search: str = "auto",
        measure: str = "auto",
        min_records: int = 20,
        buffer: int | None = None,
        step_limit: int | None = None,
        variance_threshold: float = 1.0,
        bins: int = 10,
        grid: Literal["bought", "even"] = "bought",
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class ExactTreeClassifier(PrivateClassifier):
    """One tree, drawn whole and exactly: privet's recommended single tree."""

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int | Sequence[int] | Literal["auto"]
    tests: Literal["binary", "multiway"]
    bins: int
    grid: Literal["bought", "near-zero", "even"]
    cuts: int | Literal["auto"]
    leaf_prior: float
    measure: Literal["tests", "attributes"]
    attribute_prior: Mapping[str, float] | None
    class_weights: Mapping[Any, float] | None
    leaf_share: float | Literal["auto"]
    n_public: int | None
    variant: Literal["sound"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int | Sequence[int] | Literal["auto"] = "auto",
        *,
        tests: Literal["binary", "multiway"] = "binary",
        bins: int = 20,
        grid: Literal["bought", "near-zero", "even"] = "bought",
        cuts: int | Literal["auto"] = "auto",
        leaf_prior: float = 0.5,
        measure: Literal["tests", "attributes"] = "tests",
        attribute_prior: Mapping[str, float] | None = None,
        class_weights: Mapping[Any, float] | None = None,
        leaf_share: float | Literal["auto"] = "auto",
        n_public: int | None = None,
        variant: Literal["sound"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class Mohammed2015Classifier(PrivateClassifier):
    """Mohammed et al.'s greedy tree: one question a level, none of them about sizes."""

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    criterion: str
    max_records: int | None
    tests: Literal["binary", "multiway", "mixed"]
    bins: int
    grid: Literal["bought", "even"]
    variant: Literal["sound", "as-published"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int = 3,
        *,
        criterion: str = "max",
        max_records: int | None = None,
        tests: Literal["binary", "multiway", "mixed"] = "multiway",
        bins: int = 5,
        grid: Literal["bought", "even"] = "bought",
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class PatilSingh2014Classifier(PrivateClassifier):
    """Patil & Singh's forest: greedy trees, each on a sample of the records."""

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    trees: int
    rate: float
    criterion: str
    max_records: int | None
    tests: Literal["binary", "multiway", "mixed"]
    bins: int
    grid: Literal["bought", "even"]
    variant: Literal["sound", "as-published"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int = 4,
        *,
        trees: int = 20,
        rate: float = 0.632,
        criterion: str = "gini",
        max_records: int | None = None,
        tests: Literal["binary", "multiway", "mixed"] = "multiway",
        bins: int = 5,
        grid: Literal["bought", "even"] = "bought",
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class GreedyForestClassifier(PrivateClassifier):
    """DPDF, Fletcher's greedy forest: trees with different roots that count in every node."""

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    trees: int
    min_records: int
    prune: bool
    tests: Literal["binary", "multiway", "mixed"]
    bins: int
    grid: Literal["bought", "even"]
    variant: Literal["sound", "as-published"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int = 4,
        *,
        trees: int = 4,
        min_records: int = 100,
        prune: bool = True,
        tests: Literal["binary", "multiway", "mixed"] = "multiway",
        bins: int = 5,
        grid: Literal["bought", "even"] = "bought",
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class Rana2016Classifier(PrivateClassifier):
    """Rana et al.'s forest: every tree spends all of epsilon. NEVER DIFFERENTIALLY PRIVATE."""

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    trees: int | Literal["auto"]
    max_trees: int
    min_support: int
    bins: int
    variant: Literal["sound", "as-published"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int = 4,
        *,
        trees: int | Literal["auto"] = "auto",
        max_trees: int = 100,
        min_support: int = 10,
        bins: int = 64,
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class Jagannathan2012Classifier(PrivateClassifier):
    """Private-RDT, the first private random forest: leaf counts of all trees, added up."""

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int | Literal["auto"]
    trees: int | Literal["auto"]
    bins: int
    grid: Literal["bought", "even"]
    n_public: int | None
    count_share: float
    max_leaves: int
    variant: Literal["sound"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int | Literal["auto"] = "auto",
        *,
        trees: int | Literal["auto"] = "auto",
        bins: int = 64,
        grid: Literal["bought", "even"] = "bought",
        n_public: int | None = None,
        count_share: float = 0.05,
        max_leaves: int = 4096,
        variant: Literal["sound"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class Jagannathan2013Classifier(PrivateClassifier):
    """A small private forest labels public records, and a large one learns from those."""

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int | Literal["auto"]
    public: Any
    trees: int
    public_trees: int
    bins: int
    grid: Literal["bought", "even"]
    max_leaves: int
    variant: Literal["sound"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int | Literal["auto"] = "auto",
        *,
        public: Any = None,
        trees: int = 5,
        public_trees: int = 200,
        bins: int = 64,
        grid: Literal["bought", "even"] = "bought",
        max_leaves: int = 1024,
        variant: Literal["sound"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class SNRForestClassifier(PrivateClassifier):
    """DP-RF, Fletcher's signal-to-noise forest: as many trees, as deep, as the noise allows."""

    recipe_class: ClassVar[type[Recipe]]
    trees: int | Literal["auto"]
    bins: int
    grid: Literal["bought", "even"]
    n_public: int | None
    count_share: float
    max_leaves: int
    variant: Literal["sound"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        *,
        trees: int | Literal["auto"] = "auto",
        bins: int = 5,
        grid: Literal["bought", "even"] = "bought",
        n_public: int | None = None,
        count_share: float = 0.05,
        max_leaves: int = 65536,
        variant: Literal["sound"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class SmoothForestClassifier(PrivateClassifier):
    """Fletcher's forest of disjoint random trees, with labels that keep their promise."""

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int | Literal["auto"]
    trees: int
    labels: Literal["counts", "chosen"]
    bins: int
    grid: Literal["bought", "even"]
    max_leaves: int
    variant: Literal["sound", "global-sensitivity", "as-published"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int | Literal["auto"] = "auto",
        *,
        trees: int = 100,
        labels: Literal["counts", "chosen"] = "counts",
        bins: int = 64,
        grid: Literal["bought", "even"] = "bought",
        max_leaves: int = 1024,
        variant: Literal["sound", "global-sensitivity", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class AdditiveClassifier(AdditiveFace):
    """One additive model, fitted once: privet's recommended ensemble, for ranking and for graded probabilities."""

    recipe_class: ClassVar[type[Recipe]]
    delta: float
    pairs: int
    attribute_weights: Mapping[str, float] | None
    class_weights: Mapping[Any, float] | None
    variant: Literal["sound"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        *,
        delta: float = 0.0,
        pairs: int = 3,
        attribute_weights: Mapping[str, float] | None = None,
        class_weights: Mapping[Any, float] | None = None,
        variant: Literal["sound"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class PrivateForestClassifier(PrivateClassifier):
    """privet's own random forest: noisy leaves, and all that can be made of them for free."""

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    trees: int | Literal["auto"]
    min_signal: float
    n_public: int | None
    count_share: float
    tests: Literal["binary", "multiway", "mixed"]
    bins: int
    grid: Literal["bought", "even"]
    sharing: Literal["all", "disjoint"]
    shrinkage: float
    prune: bool
    voting: Literal["majority", "proba", "confidence", "counts", "surest", "evidence"]
    evidence: float
    weight_share: float
    max_leaves: int
    variant: Literal["sound"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int = 3,
        *,
        trees: int | Literal["auto"] = "auto",
        min_signal: float = 4.0,
        n_public: int | None = None,
        count_share: float = 0.05,
        tests: Literal["binary", "multiway", "mixed"] = "multiway",
        bins: int = 8,
        grid: Literal["bought", "even"] = "bought",
        sharing: Literal["all", "disjoint"] = "all",
        shrinkage: float = 0.5,
        prune: bool = False,
        voting: Literal["majority", "proba", "confidence", "counts", "surest", "evidence"] = "evidence",
        evidence: float = 1.0,
        weight_share: float = 0.1,
        max_leaves: int = 1024,
        variant: Literal["sound"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...
