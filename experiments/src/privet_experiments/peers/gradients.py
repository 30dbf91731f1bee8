"""Models trained by DP-SGD (opacus) on binned attributes: curves, and a small network.

Clipped gradients of single records, Poisson samples and Gaussian noise, by a maintained library. A number has sixteen
bins of equal width inside its declared bounds, a category a cell of its own. Settings were chosen once, by a look at
magic without privacy, and are the same for all tables and epsilons. The noise comes from torch's own generator, which
opacus offers for experiments.
"""

from __future__ import annotations

from privet_experiments.peers.binned import BINNED

DESCENT = (
    BINNED
    + """
import math
import torch
from opacus import PrivacyEngine
torch.set_num_threads(1)
PASSES, SAMPLES, CLIP, RATE, HIDDEN = 20, 10, 1.0, 2.0, 32
class Trained:
    def __init__(self, epsilon, network):
        self.epsilon, self.network = epsilon, network
    def cells(self, X):
        hot = torch.zeros(len(X), int(sizes.sum()))
        hot.scatter_(1, torch.as_tensor(binned(X) + np.cumsum(sizes) - sizes), 1.0)
        return hot / math.sqrt(len(sizes))
    def layers(self):
        wide = int(sizes.sum())
        if self.network:
            return [torch.nn.Linear(wide, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, classes)]
        curves = torch.nn.Linear(wide, classes)
        torch.nn.init.zeros_(curves.weight)
        torch.nn.init.zeros_(curves.bias)
        return [curves]
    def fit(self, X, y):
        records = torch.utils.data.TensorDataset(self.cells(X), torch.as_tensor(y))
        loader = torch.utils.data.DataLoader(records, batch_size=max(len(y) // SAMPLES, 1))
        model = torch.nn.Sequential(*self.layers())
        descent = torch.optim.SGD(model.parameters(), lr=RATE)
        self.model, descent, loader = PrivacyEngine().make_private_with_epsilon(
            module=model, optimizer=descent, data_loader=loader, target_epsilon=self.epsilon, target_delta=DELTA,
            epochs=PASSES, max_grad_norm=CLIP,
        )
        for _ in range(PASSES):
            for rows, labels in loader:
                if len(rows):
                    descent.zero_grad()
                    torch.nn.functional.cross_entropy(self.model(rows), labels).backward()
                    descent.step()
        return self
    def predict_proba(self, X):
        with torch.no_grad():
            return torch.softmax(self.model(self.cells(X)), dim=1).numpy()
"""
)
CURVES = f"{DESCENT}\ndef make(epsilon):\n    return Trained(epsilon, network=False)\n"
NETWORK = f"{DESCENT}\ndef make(epsilon):\n    return Trained(epsilon, network=True)\n"
