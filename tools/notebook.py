"""Run a notebook from top to bottom, in this process, and keep what its cells show: `python tools/notebook.py FILE`.

What Jupyter does, for notebooks that need nothing else: the last expression of a cell is shown, as HTML where it has
such a form, and matplotlib's figures are pictures. Tests run the cells and leave the file as it is.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

DOTS = 80  # an inch of a picture: small files that can still be read


def run(notebook: dict[str, Any], folder: Path) -> None:
    """Run every code cell with the given folder as the present one, and put its outputs in the cell."""
    import matplotlib
    from matplotlib import pyplot as plt

    matplotlib.use("Agg")
    plt.close("all")  # what others left open is no picture of ours
    names: dict[str, Any] = {"__name__": "__main__"}
    before = os.getcwd()
    os.chdir(folder)
    try:
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for number, cell in enumerate(cells, start=1):
            cell["execution_count"] = number
            cell["outputs"] = list(_outputs("".join(cell["source"]), names, number))
    finally:
        os.chdir(before)


def _outputs(source: str, names: dict[str, Any], number: int) -> Any:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(compile(tree, f"cell {number}", "exec"), names)
        shown = None if last is None else eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    if told.getvalue():
        yield {"output_type": "stream", "name": "stdout", "text": _lines(told.getvalue())}
    pictures = list(_pictures())
    for picture in pictures:
        yield {"output_type": "display_data", "metadata": {}, "data": picture}
    if shown is not None and not pictures:
        data = {"text/plain": _lines(repr(shown))}
        if (html := getattr(shown, "_repr_html_", None)) is not None and (text := html()) is not None:
            data["text/html"] = _lines(text)
        yield {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data}


def _pictures() -> Any:
    from matplotlib import pyplot as plt

    for figure in map(plt.figure, plt.get_fignums()):
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=DOTS, metadata={"Software": None})
        yield {"image/png": base64.b64encode(file.getvalue()).decode()}
    plt.close("all")


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    content = json.loads(path.read_text("utf-8"))
    run(content, path.parent)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print("ran", path)
