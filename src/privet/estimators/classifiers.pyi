# Written by tools/stubs.py; change what it is made from and run `make stubs`.
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar, Literal

from privet.estimators.additive import AdditiveFace, AdditiveNumberFace
from privet.estimators.base import PrivateClassifier, PrivateEstimator, PrivateRegressor
from privet.privacy.ledger import Ledger
from privet.recipes.recipe import Recipe
from privet.schema import Schema

def classifier_class(recipe: str) -> type[PrivateEstimator]: ...

class SuLQTreeClassifier(PrivateClassifier):
    """SuLQ-based ID3: a tree grown from noisy counts alone (recipe ``sulq``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int from 0 to 1000
        The largest number of tests on a path.
    max_bins : int from 2 to 65000
        Into how many bins numbers without thresholds of their own are cut, at most.
    grid : "bought" or "even"
        Where numbers are cut: where the records lie, found out for a small share of epsilon, and into no more bins
        than the records allow; or evenly between the declared bounds, as in every variant other than "sound".
    schedule : "equal", "rising", "falling", "root", "late", "known" or "leaves"
        How epsilon is spread over the levels: the same for each, as the papers have it; 5/4 times as much for each
        next level ("rising"), or that much less ("falling"); twice as much for the root; sizes only from depth 2 on
        ("late"), or only where no other answer gives them ("known"); or all that a path has left for its leaf
        ("leaves").
    variant : "sound" or "as-published"
        "sound" promises: pure epsilon. "as-published" promises: pure epsilon.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet.papers import SuLQTreeClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = SuLQTreeClassifier(schema=schema, epsilon=2, max_depth=2).fit(table, table["class"])
    >>> tree.certificate_.epsilon <= 2
    True
    """

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    max_bins: int
    grid: Literal["bought", "even"]
    schedule: Literal["equal", "rising", "falling", "root", "late", "known", "leaves"]
    variant: Literal["sound", "as-published"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int = 5,
        *,
        max_bins: int = 10,
        grid: Literal["bought", "even"] = "bought",
        schedule: Literal["equal", "rising", "falling", "root", "late", "known", "leaves"] = "equal",
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class DiffPID3Classifier(PrivateClassifier):
    """DiffPID3: the exponential mechanism picks each node's attribute (recipe ``diffpid3``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int from 0 to 1000
        The largest number of tests on a path.
    criterion : "max", "gini" or "infogain"
        The score of a test; "infogain" needs ``max_records``.
    tests : "binary", "multiway" or "mixed"
        A child for every category or bin (multiway), one category against the rest and thresholds (binary), or
        multiway categories with numeric thresholds (mixed).
    mechanism : "exponential" or "permute-and-flip"
        How a test is drawn by its score.
    max_records : int from 1, optional
        A bound on the number of records that the data owner declares.
    max_bins : int from 2 to 65000
        Into how many bins numbers without thresholds of their own are cut, at most.
    grid : "bought" or "even"
        Where numbers are cut: where the records lie, found out for a small share of epsilon, and into no more bins
        than the records allow; or evenly between the declared bounds, as in every variant other than "sound".
    schedule : "equal", "rising", "falling", "root", "late", "known" or "leaves"
        How epsilon is spread over the levels: the same for each, as the papers have it; 5/4 times as much for each
        next level ("rising"), or that much less ("falling"); twice as much for the root; sizes only from depth 2 on
        ("late"), or only where no other answer gives them ("known"); or all that a path has left for its leaf
        ("leaves").
    delta : float from 0 to below 1
        0 promises pure epsilon. Above 0, such as 1e-6, the fit is accounted for under zCDP: each of its questions
        gets less noise, which helps most where there are many. The whole price is then spent, whatever tree
        results.
    variant : "sound" or "as-published"
        "sound" promises: pure epsilon, or (epsilon, delta) where delta is given. "as-published" promises: pure
        epsilon.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet.papers import DiffPID3Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = DiffPID3Classifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> tree.score(table, table["class"]) > 0.5
    True
    """

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    criterion: str
    tests: Literal["binary", "multiway", "mixed"]
    mechanism: str
    max_records: int | None
    max_bins: int
    grid: Literal["bought", "even"]
    schedule: Literal["equal", "rising", "falling", "root", "late", "known", "leaves"]
    delta: float
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
        max_bins: int = 10,
        grid: Literal["bought", "even"] = "bought",
        schedule: Literal["equal", "rising", "falling", "root", "late", "known", "leaves"] = "equal",
        delta: float = 0.0,
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class DiffPC45Classifier(PrivateClassifier):
    """DiffPC4.5: numeric split points and pruning on top of DiffPID3 (recipe ``diffpc45``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int from 0 to 1000
        The largest number of tests on a path.
    criterion : "max", "gini" or "infogain"
        The score of a test; "infogain" needs ``max_records``.
    tests : "binary", "multiway" or "mixed"
        A child for every category or bin (multiway), one category against the rest and thresholds (binary), or
        multiway categories with numeric thresholds (mixed).
    mechanism : "exponential" or "permute-and-flip"
        How a test is drawn by its score.
    max_records : int from 1, optional
        A bound on the number of records that the data owner declares.
    max_bins : int from 2 to 65000
        Into how many bins numbers without thresholds of their own are cut, at most.
    grid : "bought" or "even"
        Where numbers are cut: where the records lie, found out for a small share of epsilon, and into no more bins
        than the records allow; or evenly between the declared bounds, as in every variant other than "sound".
    schedule : "equal", "rising", "falling", "root", "late", "known" or "leaves"
        How epsilon is spread over the levels: the same for each, as the papers have it; 5/4 times as much for each
        next level ("rising"), or that much less ("falling"); twice as much for the root; sizes only from depth 2 on
        ("late"), or only where no other answer gives them ("known"); or all that a path has left for its leaf
        ("leaves").
    delta : float from 0 to below 1
        0 promises pure epsilon. Above 0, such as 1e-6, the fit is accounted for under zCDP: each of its questions
        gets less noise, which helps most where there are many. The whole price is then spent, whatever tree
        results.
    numeric : "auto", "joint", "points" or "bins"
        One choice over (attribute, point) pairs, a point bought for each numeric attribute before the choice as
        published, or bins as multiway tests. "auto" is "joint", or "points" with ``variant="as-published"``.
    prune : bool
        Error-based pruning on released counts, which costs nothing.
    confidence : float from 1e-06 to 0.5
        C4.5's certainty factor: a smaller one prunes more.
    min_samples_leaf : int from 0
        C4.5's least size of a leaf: a node of fewer than twice as many released records is not split.
    size_share : float from 0 to 1
        What the noisy size of a node may cost, as a share of the cost of a choice (1 as published).
    variant : "sound" or "as-published"
        "sound" promises: pure epsilon, or (epsilon, delta) where delta is given. "as-published" promises: pure
        epsilon.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet.papers import DiffPC45Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = DiffPC45Classifier(schema=schema, epsilon=1, max_depth=3).fit(table, table["class"])
    >>> tree.certificate_.private
    True
    """

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    criterion: str
    tests: Literal["binary", "multiway", "mixed"]
    mechanism: str
    max_records: int | None
    max_bins: int
    grid: Literal["bought", "even"]
    schedule: Literal["equal", "rising", "falling", "root", "late", "known", "leaves"]
    delta: float
    numeric: Literal["auto", "joint", "points", "bins"]
    prune: bool
    confidence: float
    min_samples_leaf: int
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
        max_bins: int = 20,
        grid: Literal["bought", "even"] = "bought",
        schedule: Literal["equal", "rising", "falling", "root", "late", "known", "leaves"] = "equal",
        delta: float = 0.0,
        numeric: Literal["auto", "joint", "points", "bins"] = "auto",
        prune: bool = True,
        confidence: float = 0.25,
        min_samples_leaf: int = 0,
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
    """Bai et al.'s embedding: one mechanism for several levels of multiway tests (recipe ``embedded``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int from 0 to 1000
        The number of tests on a path; Bai et al. count layers, one more.
    embedding_depth : int from 1 to 1000 or "whole"
        How many levels one mechanism draws; epsilon is shared among the blocks of a path and its leaf.
    search : "auto", "exact", "exhaustive" or "mcmc"
        How a subtree of a block is found. "exact" draws from the mechanism itself. The others are the paper's and
        need ``variant="as-published"``, which is not differentially private. "auto" is "exact", or as published
        "exhaustive" for blocks of one or two levels and "mcmc" for deeper ones.
    measure : "auto", "attributes" or "subtrees"
        What is equally likely a priori: each attribute in a node (sound), or each subtree (as published).
    min_records : int from 0
        As published only: nodes of fewer records are leaves (20; the paper has 50 for mushroom).
    buffer : int from 1, optional
        As published only: how many of its last scores the chain looks at. By default the paper's for vote: 50, and
        500 for a whole tree.
    step_limit : int from 1, optional
        As published only: the most steps of the chain. By default the paper's for vote: 1000 (500 for two levels),
        and 10000 for a whole tree.
    variance_threshold : float from 0
        As published only: the chain stops when its last scores vary by less. Not given in the paper.
    max_bins : int from 2 to 65000
        Into how many bins numbers without thresholds of their own are cut, at most.
    grid : "bought" or "even"
        Where numbers are cut: where the records lie, found out for a small share of epsilon, and into no more bins
        than the records allow; or evenly between the declared bounds, as in every variant other than "sound".
    schedule : "equal", "rising", "falling" or "root"
        How epsilon is spread over the levels: the same for each, as the papers have it; 5/4 times as much for each
        next level ("rising"), or that much less ("falling"); twice as much for the root.
    delta : float from 0 to below 1
        0 promises pure epsilon. Above 0, such as 1e-6, the fit is accounted for under zCDP: each of its questions
        gets less noise, which helps most where there are many. The whole price is then spent, whatever tree
        results.
    variant : "sound" or "as-published"
        "sound" promises: pure epsilon, or (epsilon, delta) where delta is given. "as-published" promises: none: it
        stops by true counts, and a chain is finite.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet.papers import EmbeddedTreeClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = EmbeddedTreeClassifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> tree.certificate_.epsilon
    Fraction(1, 1)
    """

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    embedding_depth: int | Literal["whole"]
    search: str
    measure: str
    min_records: int
    buffer: int | None
    step_limit: int | None
    variance_threshold: float
    max_bins: int
    grid: Literal["bought", "even"]
    schedule: Literal["equal", "rising", "falling", "root"]
    delta: float
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
        max_bins: int = 10,
        grid: Literal["bought", "even"] = "bought",
        schedule: Literal["equal", "rising", "falling", "root"] = "equal",
        delta: float = 0.0,
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class ExactTreeClassifier(PrivateClassifier):
    """One tree, drawn whole and exactly: privet's recommended single tree (recipe ``exact``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int from 0 to 1000, list of int or "auto"
        The number of tests on a path. "auto" is the deepest that one draw affords, from public facts alone, and
        deeper where there are enough records. Trees deeper than a draw affords are drawn in blocks that share
        epsilon; a list says how many levels each block has.
    tests : "binary" or "multiway"
        Whether a test has two children (a threshold, one category against the rest) or one for every value or bin.
    max_bins : int from 2 to 65000
        Into how many bins of equal width numbers without thresholds of their own are cut, where their cuts are not
        bought. Whole numbers with no more values are cut between all of them. Multiway trees need few: each is a
        child.
    grid : "bought", "near-zero" or "even"
        Where numbers without thresholds of their own are cut. "bought" spends a share of epsilon on where they lie,
        by a public rule on the number of records, and cuts them there; where noise hides that, at public points
        that are denser near zero, or near the bound nearest to it. "near-zero" is public too, and merges bins
        further from zero than two fifths of the declared range, by two and then by four; "even" keeps all bins, as
        is always done with fewer than ten bins, few whole numbers, and multiway tests.
    cuts : int from 1 to 1000 or "auto"
        How many cuts a number gets where they are bought; "auto" is about nine, fewer where numbers are many.
    leaf_prior : float from 0 to below 1
        The prior probability that a node below the root is a leaf; smaller trees are favoured by larger values.
    measure : "tests" or "attributes"
        Whether every test or every attribute has the same prior weight.
    attribute_prior : dict of attribute to a number from 0, optional
        Favours attributes (above 1), disfavours (below 1) or forbids them (0), as in {"age": 3, "zip": 0}. Favour
        what is known to matter: it is free.
    class_weight : dict of label to a number from 0 to 1, optional
        What a correctly classified record of each class counts, in sixteenths. Public: choose it by cost, never
        from the table.
    leaf_share : float from 0 to below 1 or "auto"
        The share of epsilon that buys class counts in the leaves, for graded ``predict_proba``; with 0 a leaf has
        its label with probability 1. "auto" is a twentieth, and down to a fiftieth where there are few records and
        counts are mostly noise.
    n_public : int from 1, optional
        The number of records, where the owner declares it public; the certificate says so. Otherwise it is bought.
    delta : float from 0 to below 1
        0 promises pure epsilon. Above 0, such as 1e-6, the fit is accounted for under zCDP: each of its questions
        gets less noise, which helps most where there are many. The whole price is then spent, whatever tree
        results.
    variant : "sound"
        "sound" promises: pure epsilon, or (epsilon, delta) where delta is given.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet import ExactTreeClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = ExactTreeClassifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> tree.certificate_.epsilon
    Fraction(1, 1)
    """

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int | Sequence[int] | Literal["auto"]
    tests: Literal["binary", "multiway"]
    max_bins: int
    grid: Literal["bought", "near-zero", "even"]
    cuts: int | Literal["auto"]
    leaf_prior: float
    measure: Literal["tests", "attributes"]
    attribute_prior: Mapping[str, float] | None
    class_weight: Mapping[Any, float] | None
    leaf_share: float | Literal["auto"]
    n_public: int | None
    delta: float
    variant: Literal["sound"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int | Sequence[int] | Literal["auto"] = "auto",
        *,
        tests: Literal["binary", "multiway"] = "binary",
        max_bins: int = 20,
        grid: Literal["bought", "near-zero", "even"] = "bought",
        cuts: int | Literal["auto"] = "auto",
        leaf_prior: float = 0.5,
        measure: Literal["tests", "attributes"] = "tests",
        attribute_prior: Mapping[str, float] | None = None,
        class_weight: Mapping[Any, float] | None = None,
        leaf_share: float | Literal["auto"] = "auto",
        n_public: int | None = None,
        delta: float = 0.0,
        variant: Literal["sound"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class Mohammed2015Classifier(PrivateClassifier):
    """Mohammed et al.'s greedy tree: one question per level, none of them about sizes (recipe ``mohammed2015``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int from 0 to 1000
        The number of tests on a path; the paper counts levels, one more.
    criterion : "max", "gini" or "infogain"
        The score of a test; "infogain" needs ``max_records``.
    max_records : int from 1, optional
        A bound on the number of records that the data owner declares.
    tests : "binary", "multiway" or "mixed"
        A child for every category or bin (multiway), one category against the rest and thresholds (binary), or
        multiway categories with numeric thresholds (mixed).
    max_bins : int from 2 to 65000
        Into how many bins numbers without thresholds of their own are cut, at most.
    grid : "bought" or "even"
        Where numbers are cut: where the records lie, found out for a small share of epsilon, and into no more bins
        than the records allow; or evenly between the declared bounds, as in every variant other than "sound".
    schedule : "equal", "rising", "falling" or "root"
        How epsilon is spread over the levels: the same for each, as the papers have it; 5/4 times as much for each
        next level ("rising"), or that much less ("falling"); twice as much for the root.
    variant : "sound" or "as-published"
        "sound" promises: pure epsilon. "as-published" promises: pure epsilon.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet.papers import Mohammed2015Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> tree = Mohammed2015Classifier(schema=schema, epsilon=1, max_depth=2).fit(table, table["class"])
    >>> tree.certificate_.epsilon
    Fraction(1, 1)
    """

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    criterion: str
    max_records: int | None
    tests: Literal["binary", "multiway", "mixed"]
    max_bins: int
    grid: Literal["bought", "even"]
    schedule: Literal["equal", "rising", "falling", "root"]
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
        max_bins: int = 5,
        grid: Literal["bought", "even"] = "bought",
        schedule: Literal["equal", "rising", "falling", "root"] = "equal",
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class PatilSingh2014Classifier(PrivateClassifier):
    """Patil & Singh's forest: greedy trees, each on a sample of the records (recipe ``patil-singh2014``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int from 0 to 1000
        The number of tests on a path; the paper counts levels, one more.
    n_estimators : int from 1 to 10000
        How many trees share epsilon; fewer leave more for each.
    rate : float from 1e-06 to 1
        The chance of each record to be in the sample of a tree, by its own coin. By default the part of the records
        that a bootstrap sample holds; with 1 trees differ only by noise. Not used as published: samples are then
        bootstrap samples.
    criterion : "max", "gini" or "infogain"
        The score of a test; "infogain" needs ``max_records``.
    max_records : int from 1, optional
        A bound on the number of records that the data owner declares.
    tests : "binary", "multiway" or "mixed"
        A child for every category or bin (multiway), one category against the rest and thresholds (binary), or
        multiway categories with numeric thresholds (mixed).
    max_bins : int from 2 to 65000
        Into how many bins numbers without thresholds of their own are cut, at most.
    grid : "bought" or "even"
        Where numbers are cut: where the records lie, found out for a small share of epsilon, and into no more bins
        than the records allow; or evenly between the declared bounds, as in every variant other than "sound".
    schedule : "equal", "rising", "falling", "root", "late", "known" or "leaves"
        How epsilon is spread over the levels: the same for each, as the papers have it; 5/4 times as much for each
        next level ("rising"), or that much less ("falling"); twice as much for the root; sizes only from depth 2 on
        ("late"), or only where no other answer gives them ("known"); or all that a path has left for its leaf
        ("leaves").
    delta : float from 0 to below 1
        0 promises pure epsilon. Above 0, such as 1e-6, the fit is accounted for under zCDP: each of its questions
        gets less noise, which helps most where there are many. The whole price is then spent, whatever tree
        results.
    variant : "sound" or "as-published"
        "sound" promises: pure epsilon, or (epsilon, delta) where delta is given. "as-published" promises: none:
        bootstrap samples repeat records.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet.papers import PatilSingh2014Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = PatilSingh2014Classifier(schema=schema, epsilon=1, max_depth=2, n_estimators=3).fit(
    ...     table, table["class"]
    ... )
    >>> len(forest.estimators_), forest.certificate_.epsilon <= 1
    (3, True)
    """

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    n_estimators: int
    rate: float
    criterion: str
    max_records: int | None
    tests: Literal["binary", "multiway", "mixed"]
    max_bins: int
    grid: Literal["bought", "even"]
    schedule: Literal["equal", "rising", "falling", "root", "late", "known", "leaves"]
    delta: float
    variant: Literal["sound", "as-published"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int = 4,
        *,
        n_estimators: int = 20,
        rate: float = 0.632,
        criterion: str = "gini",
        max_records: int | None = None,
        tests: Literal["binary", "multiway", "mixed"] = "multiway",
        max_bins: int = 5,
        grid: Literal["bought", "even"] = "bought",
        schedule: Literal["equal", "rising", "falling", "root", "late", "known", "leaves"] = "equal",
        delta: float = 0.0,
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class GreedyForestClassifier(PrivateClassifier):
    """DPDF, Fletcher's greedy forest: trees with different roots that count in every node (recipe ``greedy-forest``).

    Counts in every node make ``subrules_`` worth reading: what the forest learned on the way to each leaf, with
    support and confidence.

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int from 0 to 1000
        The number of tests on a path; the thesis counts levels, one more.
    n_estimators : int from 1 to 10000
        How many trees share epsilon. Each has another attribute at its root, so there are at most as many as
        attributes.
    max_features : int from 1, optional
        How many attributes, drawn at random, each tree may test; all by default.
    min_records : int from 0
        A node of fewer released records is a leaf.
    prune : bool
        Whether to remove children that are no purer than their parent, by released counts, which costs nothing.
    tests : "binary", "multiway" or "mixed"
        A child for every category or bin (multiway), one category against the rest and thresholds (binary), or
        multiway categories with numeric thresholds (mixed).
    max_bins : int from 2 to 65000
        Into how many bins numbers without thresholds of their own are cut, at most.
    grid : "bought" or "even"
        Where numbers are cut: where the records lie, found out for a small share of epsilon, and into no more bins
        than the records allow; or evenly between the declared bounds, as in every variant other than "sound".
    schedule : "equal", "rising", "falling" or "root"
        How epsilon is spread over the levels: the same for each, as the papers have it; 5/4 times as much for each
        next level ("rising"), or that much less ("falling"); twice as much for the root.
    delta : float from 0 to below 1
        0 promises pure epsilon. Above 0, such as 1e-6, the fit is accounted for under zCDP: each of its questions
        gets less noise, which helps most where there are many. The whole price is then spent, whatever tree
        results.
    variant : "sound" or "as-published"
        "sound" promises: pure epsilon, or (epsilon, delta) where delta is given. "as-published" promises: none: a
        local sensitivity, of a noisy size.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet.papers import GreedyForestClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = GreedyForestClassifier(schema=schema, epsilon=2, max_depth=2, n_estimators=2).fit(
    ...     table, table["class"]
    ... )
    >>> all(rule.support is not None for rule in forest.subrules_)
    True
    """

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    n_estimators: int
    max_features: int | None
    min_records: int
    prune: bool
    tests: Literal["binary", "multiway", "mixed"]
    max_bins: int
    grid: Literal["bought", "even"]
    schedule: Literal["equal", "rising", "falling", "root"]
    delta: float
    variant: Literal["sound", "as-published"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int = 4,
        *,
        n_estimators: int = 4,
        max_features: int | None = None,
        min_records: int = 100,
        prune: bool = True,
        tests: Literal["binary", "multiway", "mixed"] = "multiway",
        max_bins: int = 5,
        grid: Literal["bought", "even"] = "bought",
        schedule: Literal["equal", "rising", "falling", "root"] = "equal",
        delta: float = 0.0,
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class Rana2016Classifier(PrivateClassifier):
    """Rana et al.'s forest: every tree spends all of epsilon. NEVER DIFFERENTIALLY PRIVATE (recipe ``rana2016``).

    For comparisons on data that need no protection, with two classes. There is no sound form of it, so the default
    ``variant="sound"`` refuses to fit: no one gets such a model by accident. A shared ledger refuses it too.

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int from 0 to 1000
        The number of tests on a path. The paper gives none.
    n_estimators : int from 1 to 10000 or "auto"
        How many trees, each of which spends all of epsilon; "auto" is the paper's formula, which reads the share of
        the rarer class off the records.
    max_trees : int from 1 to 10000
        The most trees that "auto" grows; the formula gives hundreds.
    min_support : int from 0
        A node with fewer released records of a class is a leaf; the formula calls it n'.
    max_bins : int from 2 to 65000
        On a grid of how many bins numbers are cut, half-way between the means of the classes.
    schedule : "equal", "rising", "falling" or "root"
        How epsilon is spread over the levels: the same for each, as the papers have it; 5/4 times as much for each
        next level ("rising"), or that much less ("falling"); twice as much for the root.
    variant : "as-published"
        "as-published" promises: none: its own definition is weaker, and every tree spends B.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet.papers import Rana2016Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = Rana2016Classifier(schema=schema, n_estimators=3, variant="as-published").fit(table, table["class"])
    >>> forest.certificate_.private
    False
    """

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    n_estimators: int | Literal["auto"]
    max_trees: int
    min_support: int
    max_bins: int
    schedule: Literal["equal", "rising", "falling", "root"]
    variant: Literal["sound", "as-published"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int = 4,
        *,
        n_estimators: int | Literal["auto"] = "auto",
        max_trees: int = 100,
        min_support: int = 10,
        max_bins: int = 64,
        schedule: Literal["equal", "rising", "falling", "root"] = "equal",
        variant: Literal["sound", "as-published"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class Jagannathan2012Classifier(PrivateClassifier):
    """Private-RDT, the first private random forest: leaf counts of all trees, added up (recipe ``jagannathan2012``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int from 0 to 1000 or "auto"
        The number of tests on a path; "auto" is by the number of attributes, of their values and of records.
    n_estimators : int from 1 to 10000 or "auto"
        How many trees share epsilon; "auto" is ten, or five for fewer than 500 records.
    max_bins : int from 2 to 65000
        Into how many bins numbers without thresholds of their own are cut, at most.
    grid : "bought" or "even"
        Where numbers are cut: where the records lie, found out for a small share of epsilon, and into no more bins
        than the records allow; or evenly between the declared bounds, as in every variant other than "sound".
    n_public : int from 1, optional
        The number of records, where the owner declares it public; the certificate says so. Otherwise it is bought.
    count_share : float from 1e-06 to 0.999
        The share of epsilon that buys the number of records, unless it is public.
    max_leaves : int from 1 to 1048576
        The most leaves of a tree, a public number.
    variant : "sound"
        "sound" promises: pure epsilon.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet.papers import Jagannathan2012Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = Jagannathan2012Classifier(schema=schema, epsilon=1).fit(table, table["class"])
    >>> len(forest.estimators_), forest.certificate_.epsilon
    (10, Fraction(1, 1))
    """

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int | Literal["auto"]
    n_estimators: int | Literal["auto"]
    max_bins: int
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
        n_estimators: int | Literal["auto"] = "auto",
        max_bins: int = 64,
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
    """A small private forest labels public records, and a large one learns from those (recipe ``jagannathan2013``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int from 0 to 1000 or "auto"
        The number of tests on a path; "auto" is by the numbers of attributes, of their values and of public
        records.
    public : table, optional
        Records without labels that the data owner declares public, as any table that ``fit`` takes. NOTHING
        PROTECTS THEM: the trees are cut at their medians and count them exactly. A saved model does not hold the
        table. Without it there is only the small forest.
    n_estimators : int from 1 to 10000
        How many trees of the small forest share epsilon.
    public_trees : int from 0 to 10000
        How many trees of the large forest learn from the public records, at no cost but time.
    max_bins : int from 2 to 65000
        Into how many bins numbers without thresholds of their own are cut, at most.
    grid : "bought" or "even"
        Where numbers are cut: where the records lie, found out for a small share of epsilon, and into no more bins
        than the records allow; or evenly between the declared bounds, as in every variant other than "sound".
    max_leaves : int from 1 to 1048576
        The most leaves of a tree, a public number.
    variant : "sound"
        "sound" promises: pure epsilon, for the private records.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet.papers import Jagannathan2013Classifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> _, volunteers = clinic(500, seed=1)
    >>> forest = Jagannathan2013Classifier(schema=schema, public=volunteers, public_trees=20)
    >>> len(forest.fit(table, table["class"]).estimators_), forest.certificate_.epsilon
    (25, Fraction(1, 1))
    """

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int | Literal["auto"]
    public: Any
    n_estimators: int
    public_trees: int
    max_bins: int
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
        n_estimators: int = 5,
        public_trees: int = 200,
        max_bins: int = 64,
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
    """DP-RF, Fletcher's signal-to-noise forest: as many trees, as deep, as the noise allows (recipe ``snr-forest``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    n_estimators : int from 1 to 10000 or "auto"
        How many trees share epsilon; "auto" is the most whose leaf counts would still exceed the noise, and at most
        one for each attribute, which is its root.
    max_bins : int from 2 to 65000
        Into how many bins numbers without thresholds of their own are cut, at most.
    grid : "bought" or "even"
        Where numbers are cut: where the records lie, found out for a small share of epsilon, and into no more bins
        than the records allow; or evenly between the declared bounds, as in every variant other than "sound".
    n_public : int from 1, optional
        The number of records, where the owner declares it public; the certificate says so. Otherwise it is bought.
    count_share : float from 1e-06 to 0.999
        The share of epsilon that buys the number of records, unless it is public.
    max_leaves : int from 1 to 1048576
        The most leaves of a tree, a public number.
    delta : float from 0 to below 1
        0 promises pure epsilon. Above 0, such as 1e-6, the fit is accounted for under zCDP: each of its questions
        gets less noise, which helps most where there are many. The whole price is then spent, whatever tree
        results.
    variant : "sound"
        "sound" promises: pure epsilon, or (epsilon, delta) where delta is given.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet.papers import SNRForestClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = SNRForestClassifier(schema=schema, epsilon=1, n_public=5000).fit(table, table["class"])
    >>> len(forest.estimators_), forest.certificate_.epsilon
    (4, Fraction(1, 1))
    """

    recipe_class: ClassVar[type[Recipe]]
    n_estimators: int | Literal["auto"]
    max_bins: int
    grid: Literal["bought", "even"]
    n_public: int | None
    count_share: float
    max_leaves: int
    delta: float
    variant: Literal["sound"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        *,
        n_estimators: int | Literal["auto"] = "auto",
        max_bins: int = 5,
        grid: Literal["bought", "even"] = "bought",
        n_public: int | None = None,
        count_share: float = 0.05,
        max_leaves: int = 65536,
        delta: float = 0.0,
        variant: Literal["sound"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class SmoothForestClassifier(PrivateClassifier):
    """Fletcher's forest of disjoint random trees, with labels that keep their promise (recipe ``smooth-forest``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int from 0 to 1000 or "auto"
        The number of tests on a path; "auto" is by Theorem 8.2, from the numbers of attributes alone.
    n_estimators : int from 1 to 10000
        How many trees. Each record is in one of them, chosen by its own coin, so every tree has all of epsilon.
        More trees have fewer records each.
    labels : "counts" or "chosen"
        Whether a leaf releases noisy class counts, the largest of which is its label, or only a label, which is
        right more often and takes longer. The other variants have labels only.
    max_bins : int from 2 to 65000
        Into how many bins numbers without thresholds of their own are cut, at most.
    grid : "bought" or "even"
        Where numbers are cut: where the records lie, found out for a small share of epsilon, and into no more bins
        than the records allow; or evenly between the declared bounds, as in every variant other than "sound".
    max_leaves : int from 1 to 1048576
        The most leaves of a tree, a public number.
    variant : "sound", "global-sensitivity" or "as-published"
        "sound" promises: pure epsilon. "global-sensitivity" promises: pure epsilon. "as-published" promises: none:
        smooth sensitivity in the exponential mechanism.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet.papers import SmoothForestClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = SmoothForestClassifier(schema=schema, epsilon=1, n_estimators=20).fit(table, table["class"])
    >>> len(forest.estimators_), forest.certificate_.epsilon
    (20, Fraction(1, 1))
    """

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int | Literal["auto"]
    n_estimators: int
    labels: Literal["counts", "chosen"]
    max_bins: int
    grid: Literal["bought", "even"]
    max_leaves: int
    variant: Literal["sound", "global-sensitivity", "as-published"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int | Literal["auto"] = "auto",
        *,
        n_estimators: int = 100,
        labels: Literal["counts", "chosen"] = "counts",
        max_bins: int = 64,
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
    """One additive model, fitted once: privet's ensemble for ranking and graded probabilities (recipe ``additive``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    delta : float from 0 to below 1
        0 promises pure epsilon. Above 0, such as 1e-6, allows Gaussian noise where that is less.
    pairs : int from 0 to 100
        How many tables of pairs a model may have, with enough records.
    attribute_weights : dict of attribute to a number from 0 to 1000, optional
        Gives an attribute less noise (above 1) or more (below 1) than the others, or leaves it out (0), if you know
        beforehand what matters.
    class_weight : dict of label to a number from 0 to 1, optional
        What a record of each class counts. Public: never computed from the table.
    variant : "sound"
        "sound" promises: pure epsilon, or (epsilon, delta) where delta is given.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet import AdditiveClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> model = AdditiveClassifier(schema=schema, epsilon=1).fit(table, table["class"])
    >>> model.certificate_.epsilon
    Fraction(1, 1)
    """

    recipe_class: ClassVar[type[Recipe]]
    delta: float
    pairs: int
    attribute_weights: Mapping[str, float] | None
    class_weight: Mapping[Any, float] | None
    variant: Literal["sound"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        *,
        delta: float = 0.0,
        pairs: int = 3,
        attribute_weights: Mapping[str, float] | None = None,
        class_weight: Mapping[Any, float] | None = None,
        variant: Literal["sound"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class PrivateForestClassifier(PrivateClassifier):
    """privet's own random forest: noisy leaf counts, and what follows from them for free (recipe ``random-forest``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int from 0 to 1000
        The largest number of tests on a path.
    n_estimators : int from 1 to 10000 or "auto"
        How many trees; "auto" is one for each attribute, which is its root, or fewer where their leaves would be
        mostly noise.
    min_signal : float from 0 to 1000
        A branch is split if its expected number of records is above this multiple of a leaf's noise; 0 splits all,
        and grows a tree for each attribute.
    n_public : int from 1, optional
        The number of records, where the owner declares it public; the certificate says so. Otherwise it is bought.
    count_share : float from 1e-06 to 0.999
        The share of epsilon that buys the number of records, unless it is public.
    tests : "binary", "multiway" or "mixed"
        A child for every category or bin (multiway), one category against the rest and thresholds (binary), or
        multiway categories with numeric thresholds (mixed).
    max_bins : int from 2 to 65000
        Into how many bins numbers without thresholds of their own are cut, at most.
    grid : "bought" or "even"
        Where numbers are cut: where the records lie, found out for a small share of epsilon, and into no more bins
        than the records allow; or evenly between the declared bounds, as in every variant other than "sound".
    sharing : "all" or "disjoint"
        Whether every tree counts all records with its share of epsilon, or each record is in one tree, chosen by
        its own coin, and every tree has all of epsilon.
    shrinkage : float from 0 to 1000
        How much a leaf is shrunk towards the nodes above it, in standard deviations of its noise; 0 leaves its
        counts as they are.
    prune : bool
        Whether to prune nodes whose counts are mostly noise.
    voting : "majority", "proba", "confidence", "counts", "surest" or "evidence"
        How the trees vote. "evidence" adds up by how much each changes the odds, as naive Bayes does; "proba" takes
        the mean of their probabilities; "confidence" and "majority" count labels, with or without their
        probability; "counts" adds up class counts; "surest" follows the most confident tree.
    evidence : float from 1e-06 to 1000
        With "evidence", how much each attribute is expected to count, were there no noise. Below 1, correlated
        trees do not count twice.
    weight_share : float from 0 to 0.999
        With "evidence", the share of epsilon that buys how much all of it counts, by the log-loss on the records. 0
        leaves it at what is expected.
    max_leaves : int from 1 to 1048576
        The most leaves of a tree, a public number.
    variant : "sound"
        "sound" promises: pure epsilon.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> from privet import PrivateForestClassifier
    >>> from privet.datasets.clinic import clinic
    >>> schema, table = clinic(5000)
    >>> forest = PrivateForestClassifier(schema=schema, epsilon=1).fit(table, table["class"])
    >>> len(forest.estimators_), forest.certificate_.epsilon
    (4, Fraction(1, 1))
    """

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int
    n_estimators: int | Literal["auto"]
    min_signal: float
    n_public: int | None
    count_share: float
    tests: Literal["binary", "multiway", "mixed"]
    max_bins: int
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
        n_estimators: int | Literal["auto"] = "auto",
        min_signal: float = 4.0,
        n_public: int | None = None,
        count_share: float = 0.05,
        tests: Literal["binary", "multiway", "mixed"] = "multiway",
        max_bins: int = 8,
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

class ExactTreeRegressor(PrivateRegressor):
    """One tree that predicts a number, drawn whole and exactly (recipe ``exact-regression``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    max_depth : int from 0 to 1000, list of int or "auto"
        The number of tests on a path. "auto" follows from the number of records. Trees deeper than a draw affords
        are drawn in blocks that share epsilon; a list says how many levels each block has.
    tests : "binary"
        Only "binary": tests with a child for every value are offered where classes are predicted.
    max_bins : int from 2 to 65000
        Into how many bins of equal width numbers are cut where their cuts are not bought.
    grid : "bought", "near-zero" or "even"
        Where numbers are cut; see recipe "exact".
    cuts : int from 1 to 1000 or "auto"
        How many cuts a number gets where they are bought; "auto" is about nine, fewer where numbers are many.
    leaf_prior : float from 0 to below 1
        The prior probability that a node below the root is a leaf.
    attribute_prior : dict of attribute to a number from 0, optional
        Favours attributes (above 1), disfavours (below 1) or forbids them (0), as in {"age": 3, "zip": 0}.
    leaf_share : float from 0 to below 1
        The share of epsilon that buys the mean of each leaf, beside what is drawn.
    n_public : int from 1, optional
        The number of records, where the owner declares it public; the certificate says so. Otherwise it is bought.
    variant : "sound"
        "sound" promises: pure epsilon.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import Categorical, ExactTreeRegressor, Numeric, Schema
    >>> schema = Schema((Numeric("age", 0, 100), Categorical("sex", ("f", "m"))), Numeric("wage", 0, 100))
    >>> age = np.arange(5000) % 100
    >>> table = {"age": age, "sex": np.where(age % 2, "f", "m")}
    >>> tree = ExactTreeRegressor(schema=schema, epsilon=1, max_depth=2).fit(table, 20 + age / 2)
    >>> bool(tree.predict({"age": [80], "sex": ["f"]}) > tree.predict({"age": [10], "sex": ["f"]}))
    True
    """

    recipe_class: ClassVar[type[Recipe]]
    max_depth: int | Sequence[int] | Literal["auto"]
    tests: Literal["binary"]
    max_bins: int
    grid: Literal["bought", "near-zero", "even"]
    cuts: int | Literal["auto"]
    leaf_prior: float
    attribute_prior: Mapping[str, float] | None
    leaf_share: float
    n_public: int | None
    variant: Literal["sound"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        max_depth: int | Sequence[int] | Literal["auto"] = "auto",
        *,
        tests: Literal["binary"] = "binary",
        max_bins: int = 20,
        grid: Literal["bought", "near-zero", "even"] = "bought",
        cuts: int | Literal["auto"] = "auto",
        leaf_prior: float = 0.5,
        attribute_prior: Mapping[str, float] | None = None,
        leaf_share: float = 0.1,
        n_public: int | None = None,
        variant: Literal["sound"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...

class AdditiveRegressor(AdditiveNumberFace):
    """One additive model of a number, fitted once, with a curve for each attribute (recipe ``additive-regression``).

    Parameters
    ----------
    schema : Schema or path
        The public facts about the table. ``"infer"`` reads them off the data, which is not private.
    epsilon : number
        What the fit may spend.
    delta : float from 0 to below 1
        0 promises pure epsilon. Above 0, such as 1e-6, allows Gaussian noise where that is less.
    pairs : int from 0 to 100
        How many tables of pairs a model may have, with enough records.
    attribute_weights : dict of attribute to a number from 0 to 1000, optional
        Gives an attribute less noise (above 1) or more (below 1) than the others, or leaves it out (0), if you know
        beforehand what matters.
    variant : "sound"
        "sound" promises: pure epsilon, or (epsilon, delta) where delta is given.
    neighbours : "add-remove" or "replace-one"
        Which tables must be hard to tell apart: with one record more, or with one record changed.
    expected_records : int, optional
        About how many records there should be with a label of the schema, a number that the owner makes public.
        Some of epsilon then buys a noisy count of them first, and the fit stops if it is below a quarter of that.
    ledger : Ledger, optional
        A shared budget to spend from; every fit spends. Without one the fit has a budget of its own.
    random_state : int, optional
        Seeds public choices only, such as random trees, and never noise.
    n_jobs : int, optional
        How many threads count records and look them up: -1 for one per processor (the default), -2 for one less,
        and so on. No result depends on it.
    verbose : int
        Above 0 a fit prints its progress on stderr, and at the end what it spent.

    Examples
    --------
    >>> import numpy as np
    >>> from privet import AdditiveRegressor, Categorical, Numeric, Schema
    >>> schema = Schema((Numeric("age", 0, 100), Categorical("sex", ("f", "m"))), Numeric("wage", 0, 100))
    >>> age = np.arange(5000) % 100
    >>> table = {"age": age, "sex": np.where(age % 2, "f", "m")}
    >>> model = AdditiveRegressor(schema=schema, epsilon=1).fit(table, 20 + age / 2)
    >>> bool(model.predict({"age": [80], "sex": ["f"]}) > model.predict({"age": [10], "sex": ["f"]}))
    True
    """

    recipe_class: ClassVar[type[Recipe]]
    delta: float
    pairs: int
    attribute_weights: Mapping[str, float] | None
    variant: Literal["sound"]

    def __init__(
        self,
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: Any = 1.0,
        *,
        delta: float = 0.0,
        pairs: int = 3,
        attribute_weights: Mapping[str, float] | None = None,
        variant: Literal["sound"] = "sound",
        neighbours: Literal["add-remove", "replace-one"] = "add-remove",
        expected_records: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None: ...
