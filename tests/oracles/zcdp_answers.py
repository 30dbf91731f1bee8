"""Known answers about zCDP from dp-accounting, for ``test_zcdp_answers.py``. Run it in an environment of its own:

python -m venv accounting && accounting/bin/pip install dp-accounting==0.6.0
accounting/bin/python tests/oracles/zcdp_answers.py > tests/oracles/zcdp_answers.json
"""

from __future__ import annotations

import json

import numpy as np

RHOS = [1e-5, 1e-3, 0.02, 0.3, 2.0, 20.0]
DELTAS = [1e-12, 1e-6, 1e-3]
GAUSSIANS = [(1, 4.0), (36, 30.0), (180, 50.0), (1000, 200.0)]  # how many, and their standard deviation
ORDERS = (1 + np.logspace(-4, 8, 20_001)).tolist()


def main() -> None:
    import dp_accounting
    from dp_accounting import pld, rdp

    def by_orders(event: object, delta: float) -> float:
        return float(rdp.RdpAccountant(ORDERS).compose(event).get_epsilon(delta))

    def by_distribution(event: object, delta: float) -> float:
        return float(pld.PLDAccountant().compose(event).get_epsilon(delta))

    conversions = [[rho, delta, by_orders(dp_accounting.ZCDpEvent(rho), delta)] for rho in RHOS for delta in DELTAS]
    compositions = []
    for count, sigma in GAUSSIANS:
        event = dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(sigma), count)
        compositions.append([count, sigma, 1e-6, by_orders(event, 1e-6), by_distribution(event, 1e-6)])
    print(json.dumps({"conversions": conversions, "compositions": compositions}, indent=1))


if __name__ == "__main__":
    main()
