"""A tour of privet on simulated patients: ``make demo`` or ``privet demo``.

It asks private questions from a budget that outlives the process, fits the recommended models, writes a page, compares
accuracy by epsilon, and audits a published method that breaks its promise. The patients are simulated, so the tour can
show the true answers beside the noisy ones. The noise is real: every tour differs.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from privet.datasets.patients import LABEL, patients
from privet.engines.opening import protect
from privet.errors import BudgetExceeded
from privet.estimators.references import REFERENCES
from privet.estimators.registry import make_classifier
from privet.privacy.ledger import Ledger
from privet.promise import headline
from privet.recipes.registry import DEFAULT, recipe_classes

PATIENTS, FRESH = 5000, 20_000
BUDGET = 2.0  # of the journal, for questions and models
TREE, CURVES = 1.0, 0.5
MOST_CURVES = 5
DEPTH = 3  # of the printed tree: it fits a screen
EPSILONS = (0.01, 0.05, 0.2, 1.0)
CAUGHT = ("smooth-forest", "as-published", "99 against 100 records")  # a recipe, its variant, and the pair of tables
HOLDS = ("diffpc45", "sound", "a crowd in two nodes")
PAGE, JOURNAL, MODEL = "tree.html", "patients.journal", "tree.json"


@dataclass(frozen=True)
class Answer:
    """A question, its price, the released answer and the true one, which only a demo may show."""

    question: str
    epsilon: float
    released: str
    exact: str


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of a learner on unseen patients, by epsilon; None for a non-private one."""

    learner: str
    by_epsilon: dict[float | None, float]


@dataclass
class Tour:
    """The results of a tour, in order."""

    folder: Path
    schema: str = ""
    answers: list[Answer] = field(default_factory=list)
    tree: str = ""
    certificate: str = ""
    headline: str = ""
    importances: dict[str, float] = field(default_factory=dict)
    left: str = ""
    refusal: str = ""
    accuracies: list[Accuracy] = field(default_factory=list)
    audits: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        accuracies = [
            {"learner": one.learner, "epsilon": epsilon, "accuracy": share}
            for one in self.accuracies
            for epsilon, share in one.by_epsilon.items()
        ]
        files = {name: str(self.folder / name) for name in (PAGE, JOURNAL, MODEL)}
        facts = {"patients": PATIENTS, "schema": self.schema, "answers": [asdict(answer) for answer in self.answers]}
        facts |= {"tree": self.tree, "certificate": self.certificate, "importances": self.importances}
        facts |= {"left": self.left, "refusal": self.refusal}
        return facts | {"accuracies": accuracies, "audits": self.audits, "files": files}


def ask(tour: Tour) -> None:
    """Ask questions of the table, paid from a journal."""
    schema, table = patients(PATIENTS, seed=1)
    tour.schema = str(schema)
    ledger = Ledger(BUDGET, journal=tour.folder / JOURNAL, dataset=schema.name)
    data = protect(table, schema, ledger)
    back = int((table[LABEL.name] == "yes").sum())
    counts = data.class_counts(0.1)
    tour.answers = [
        Answer("How many patients?", 0.1, f"{data.noisy_count(0.1)}", f"{PATIENTS}"),
        Answer("How many came back?", 0.1, f"{counts['yes']} yes, {counts['no']} no", f"{back} yes"),
        Answer("How old, on average?", 0.2, f"{data.noisy_average('age', 0.2):.2f}", f"{table['age'].mean():.2f}"),
    ]


def grow(tour: Tour) -> None:
    """Fit the recommended tree and the additive model from the same journal; another tree is refused."""
    from privet.report.page import model_page

    schema, table = patients(PATIENTS, seed=1)
    # Opened anew, as another process would: the file has what was spent before.
    ledger = Ledger(journal=tour.folder / JOURNAL)
    tree = make_classifier(DEFAULT, schema=schema, epsilon=TREE, max_depth=DEPTH, ledger=ledger)
    tree.fit(table)
    tree.save(tour.folder / MODEL)
    (tour.folder / PAGE).write_text(model_page(tree.model_), encoding="utf-8")
    tour.tree, tour.certificate = str(tree.shown()), str(tree.certificate_)
    tour.headline = headline(tree.certificate_)
    curves = make_classifier("additive", schema=schema, epsilon=CURVES, ledger=ledger).fit(table)
    shares = zip(curves.feature_names_in_, curves.feature_importances_.tolist(), strict=True)
    tour.importances = dict(sorted(shares, key=lambda share: -share[1])[:MOST_CURVES])
    tour.left = f"{float(ledger.remaining):g} of {BUDGET:g}"
    try:
        tree.fit(table)
    except BudgetExceeded as error:
        tour.refusal = str(error)


def compare(tour: Tour) -> None:
    """Accuracy by epsilon of the recommended recipes, with non-private references and a constant prediction."""
    schema, table = patients(PATIENTS, seed=1)
    _, fresh = patients(FRESH, seed=2)
    truth = fresh[LABEL.name]
    for name, recipe in recipe_classes().items():
        if recipe.info.recommended:
            found: dict[float | None, float] = {}
            options = (
                {"max_depth": DEPTH} if name == DEFAULT else {}
            )  # the depth of the printed tree, and a third of the time
            for epsilon in EPSILONS:
                learner = make_classifier(name, schema=schema, epsilon=epsilon, **options).fit(table)
                found[epsilon] = float((learner.predict(fresh) == truth).mean())
            tour.accuracies.append(Accuracy(name, found))
    for name, reference in REFERENCES.items():
        share = float(reference(schema, DEPTH + 1).fit(table).score(fresh, truth))
        tour.accuracies.append(Accuracy(name, {None: share}))
    tour.accuracies.append(Accuracy("always no", {None: float((truth == "no").mean())}))


def audit(tour: Tour) -> None:
    """Audit two methods on a pair of neighbouring tables each: a sound one, and one as published."""
    from privet.audit import exact, zoo
    from privet.audit.exact import as_recipe

    pairs = {pair.name: pair for pair in zoo()}
    for recipe, variant, pair in (HOLDS, CAUGHT):
        tour.audits.append(exact(as_recipe(recipe, variant=variant), [pairs[pair]], 1).to_dict())


STEPS = {"asking": ask, "growing": grow, "comparing": compare, "auditing": audit}


def run(folder: Path, begun: Any = None) -> Tour:
    """Run the whole tour; ``begun`` is called with the name of each step."""
    tour = Tour(folder)
    for what, step in STEPS.items():
        if begun is not None:
            begun(what)
        step(tour)
    return tour
