"""The weights of trees depend on a region's counts and on nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_cases import DEEPER, Case, all_paths, binary, records, spaces

from privet.privacy.samplers import tree_sampler
from privet.structure import compiled


def weights_by_path(case: Case) -> dict[tuple[tuple[int, int], ...], bytes]:
    sampler, met = case.sampler, case.joint.met
    return {
        tuple(sorted(path.items())): sampler._log_weights({t: c == met[t] for t, c in path.items()}).tobytes()
        for path in all_paths(case)
    }


@given(spaces(), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_the_order_of_records_does_not_matter(case: Case, random: Any) -> None:
    order = list(range(case.labels.size))
    random.shuffle(order)
    shuffled = replace(case, features=case.features[:, order].copy(), labels=case.labels[order].copy())
    assert weights_by_path(shuffled) == weights_by_path(case)


@given(spaces(), st.data())
@settings(max_examples=60)
def test_records_outside_a_region_do_not_matter_bit_for_bit(case: Case, data: st.DataObject) -> None:
    """The proof needs it: a record changes the factors of the nodes on its own path and no others.

    Up to thirty equal records come in, so that the side of a test that is counted changes too.
    """
    n = data.draw(st.integers(1, 30))
    record = np.array([data.draw(st.integers(0, arity - 1)) for arity in case.schema.arities], dtype=np.uint8)
    label = data.draw(st.integers(0, case.schema.n_classes - 1))
    larger = replace(
        case,
        features=np.concatenate([case.features, np.repeat(record[:, None], n, axis=1)], axis=1),
        labels=np.concatenate([case.labels, np.full(n, label, dtype=np.uint8)]),
    )
    child = [int(test.branch(record[test.attribute : test.attribute + 1])[0]) for test in case.tests]
    before, after = weights_by_path(case), weights_by_path(larger)
    for path, weights in before.items():
        if any(child[t] != taken for t, taken in path):
            assert after[path] == weights, path


def test_untouched_regions_keep_their_weights_when_the_counted_side_flips() -> None:
    """Many regions at once, each a sum of two logs and a prior: associated otherwise, some would differ by an ulp."""
    schema = binary(6)
    features, labels = records(schema, 60, 3)
    features[0] = 0
    features[0, :30] = 1  # half meet the test: one record more and the other side is counted
    small = Case(schema, features, labels, (0.3, 0.3, 0.3), 0.37, favours=(1, 2, 3, 5, 7, 11))
    extra = np.zeros((6, 3), dtype=np.uint8)
    flips = 0
    for bit in (0, 1):
        extra[0] = bit
        larger = replace(
            small, features=np.concatenate([features, extra], axis=1), labels=np.concatenate([labels, labels[:3]])
        )
        flips += int(larger.joint.met[0] != small.joint.met[0])
        child = [int(test.branch(extra[test.attribute, :1])[0]) for test in small.tests]
        before, after = weights_by_path(small), weights_by_path(larger)
        untouched = [path for path in before if any(child[t] != taken for t, taken in path)]
        assert len(untouched) > 100
        assert all(before[path] == after[path] for path in untouched)
    assert flips == 1


def test_the_number_of_threads_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    case = DEEPER
    with compiled.threads(1):
        alone = weights_by_path(case)
    monkeypatch.setattr(tree_sampler, "GRAIN", 1)  # or so small a case would keep to one
    with compiled.threads(4):
        assert weights_by_path(case) == alone


def test_blocks_of_prefixes_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    case = replace(DEEPER, leaf_prior=DEEPER.leaf_prior[:3])
    whole = weights_by_path(case)
    monkeypatch.setattr(tree_sampler, "BLOCK_BYTES", 1)
    assert weights_by_path(case) == whole
