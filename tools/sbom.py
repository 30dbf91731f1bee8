"""Write a software bill of materials of the product: `python tools/sbom.py dist/privet.cdx.json` (CycloneDX 1.6).

It lists what an installation without extras brings, as this environment has it: names, versions, licences, and which
package needs which. It names no registry. The same environment gives the same file.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

PRODUCT = "privet"


def needed(name: str, found: dict[str, Distribution]) -> dict[str, Distribution]:
    """A distribution and all that it needs, by their names in the usual spelling."""
    try:
        one = distribution(name)
    except PackageNotFoundError:
        return found  # for another platform or Python
    if _usual(name) not in found:
        found[_usual(name)] = one
        for requirement in direct(one):
            needed(requirement, found)
    return found


def direct(one: Distribution) -> list[str]:
    """What a distribution needs by itself here, without extras."""
    requirements = [Requirement(text) for text in one.requires or ()]
    return sorted({r.name for r in requirements if r.marker is None or r.marker.evaluate({"extra": ""})})


def bill(name: str = PRODUCT) -> dict[str, Any]:
    """The bill of materials."""
    found = needed(name, {})
    product = _component(found[name], "application")
    others = [_component(found[key], "library") for key in sorted(found) if key != name]
    depends = []
    for key in sorted(found):
        below = [found[_usual(name)] for name in direct(found[key]) if _usual(name) in found]
        depends.append({"ref": _address(found[key]), "dependsOn": sorted(map(_address, below))})
    content = json.dumps([product, others, depends], sort_keys=True)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, content)}",
        "version": 1,
        "metadata": {"component": product},
        "components": others,
        "dependencies": depends,
    }


def _component(one: Distribution, kind: str) -> dict[str, Any]:
    about = one.metadata
    address = _address(one)
    component = {"type": kind, "bom-ref": address, "name": about["Name"], "version": one.version, "purl": address}
    if licence := _licence(one):
        component["licenses"] = [licence]
    return component


def _licence(one: Distribution) -> dict[str, Any] | None:
    if expression := one.metadata.get("License-Expression"):
        return {"expression": expression}
    stated = (one.metadata.get("License") or "").strip()
    if stated and "\n" not in stated:  # some packages put the whole text there
        return {"license": {"name": stated}}
    listed = [c.rpartition(" :: ")[2] for c in one.metadata.get_all("Classifier") or () if c.startswith("License ::")]
    return {"license": {"name": listed[0]}} if listed else None


def _address(one: Distribution) -> str:
    return f"pkg:pypi/{_usual(one.metadata['Name'])}@{one.version}"


def _usual(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.write_text(json.dumps(bill(), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {place}")
