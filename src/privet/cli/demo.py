"""A tour of privet on a clinic's table: ``make demo``, ``privet demo`` or ``python -m privet.cli.demo``.

Private questions, a budget that runs out, trees grown with another budget, and the certificate of one. The patients
are invented, so the tour can afford to show the true answers beside the noisy ones. Noise is real: every tour differs.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from privet.datasets.clinic import clinic
from privet.engines.opening import protect
from privet.errors import BudgetExceeded
from privet.estimators.references import REFERENCES
from privet.estimators.registry import make_classifier
from privet.privacy.dataset import PrivateDataset
from privet.privacy.ledger import Certificate, Ledger
from privet.trees.render import export_text

PATIENTS, TESTS = 20_000, 10_000
QUESTIONS_BUDGET, TREE_BUDGET = 0.5, 0.5
DEPTH = 4
# Recipe and its parameters, the tree that is printed last.
RECIPES: tuple[tuple[str, dict[str, Any]], ...] = (("sulq", {}), ("diffpid3", {"criterion": "max"}), ("diffpc45", {}))


@dataclass(frozen=True)
class Answer:
    """A question, its price, the released answer and the truth, which only a demo may show."""

    question: str
    epsilon: float
    released: str
    exact: str


@dataclass(frozen=True)
class Grown:
    """A tree's name, what it spent (None: it is not private) and its accuracy on fresh noiseless patients."""

    recipe: str
    epsilon: float | None
    leaves: int
    accuracy: float


def tour() -> dict[str, Any]:
    """The whole tour as data."""
    schema, table = clinic(PATIENTS, seed=0)
    answers, refusal, _ = ask()
    trees, text, certificate = grow()
    return {
        "schema": schema.to_dict(),
        "patients": len(table["class"]),
        "answers": [asdict(answer) for answer in answers],
        "refusal": refusal,
        "trees": [asdict(tree) for tree in trees],
        "tree": text,
        "certificate": certificate.to_dict(),
    }


def ask() -> tuple[list[Answer], str, Ledger]:
    """Questions until the budget refuses one."""
    schema, table = clinic(PATIENTS, seed=0)
    ledger = Ledger(QUESTIONS_BUDGET)
    data = protect(table, schema, ledger)
    sick = (table["class"] == "Sick").sum()
    answers = [
        Answer("How many patients are there?", 0.1, f"{data.noisy_count(0.1)}", f"{PATIENTS}"),
        Answer("How many of each class?", 0.1, _counts(data, 0.1), f"Healthy {PATIENTS - sick}, Sick {sick}"),
        Answer(
            "What is the average temperature?",
            0.2,
            f"{data.noisy_average('temperature', 0.2):.2f}",
            f"{table['temperature'].mean():.2f}",
        ),
    ]
    try:
        data.noisy_count(0.2)
    except BudgetExceeded as error:
        return answers, str(error), ledger
    raise AssertionError("the budget was overspent")  # the ledger's tests would have to be wrong


def grow() -> tuple[list[Grown], str, Certificate]:
    """A tree of every recipe and a non-private one; the last private tree in words, and its certificate."""
    schema, table = clinic(PATIENTS, seed=0)
    _, fresh = clinic(TESTS, seed=1, p_noise=0)
    trees = []
    for recipe, params in RECIPES:
        model = make_classifier(recipe, schema=schema, epsilon=TREE_BUDGET, max_depth=DEPTH, **params)
        model.fit(table)
        accuracy = float(model.score(fresh, fresh["class"]))
        trees.append(Grown(recipe, TREE_BUDGET, model.tree_.n_leaves, accuracy))
    for name, reference in REFERENCES.items():
        open_model = reference(schema, DEPTH).fit(table)
        accuracy = float(open_model.score(fresh, fresh["class"]))
        trees.append(Grown(name, None, open_model.tree_.n_leaves, accuracy))
    return trees, export_text(model.tree_), model.certificate_


def tell() -> None:
    """The tour for people."""
    from rich.console import Console
    from rich.panel import Panel
    from rich.rule import Rule
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    schema, _ = clinic(1)
    console.print(Rule("privet: a clinic's table"))
    console.print(f"{PATIENTS} invented patients. What is public is declared: {schema}.\n")

    answers, refusal, ledger = ask()
    console.print(Rule(f"1. Private questions, with a budget of epsilon = {QUESTIONS_BUDGET:g}"))
    grid = Table("question", "epsilon", "released", "exact (only a demo may show it)")
    for answer in answers:
        grid.add_row(answer.question, f"{answer.epsilon:g}", answer.released, answer.exact)
    console.print(grid)
    console.print("One question more, and the budget refuses before anything is drawn:")
    console.print(Panel(Text(refusal), title="BudgetExceeded", border_style="red", expand=False))
    console.print(Text(str(ledger.certificate())), "")

    console.print(Rule(f"2. Trees, epsilon = {TREE_BUDGET:g} each, at most {DEPTH} tests on a path"))
    trees, text, certificate = grow()
    grid = Table("tree", "epsilon", "leaves", "accuracy on fresh patients", title=None)
    for tree in trees:
        spent = "not private" if tree.epsilon is None else f"{tree.epsilon:g}"
        style = "dim" if tree.epsilon is None else None
        grid.add_row(tree.recipe, spent, str(tree.leaves), f"{100 * tree.accuracy:.1f} %", style=style)
    console.print(grid)
    console.print(f"The {RECIPES[-1][0]} tree, as released (counts are noisy):")
    console.print(Panel(Text(text.rstrip()), expand=False))

    console.print(Rule("3. Its certificate"))
    console.print(Text(str(certificate)))


def _counts(data: PrivateDataset, epsilon: float) -> str:
    return ", ".join(f"{label} {count}" for label, count in data.class_counts(epsilon).items())


if __name__ == "__main__":
    tell()
