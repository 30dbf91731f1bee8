"""Numbers that Fletcher's thesis (2017) prints, read off its tables and figures."""

from __future__ import annotations

# Table 8.2: exp(-j epsilon) for epsilon 0.01, 0.1 and 1, by j; the tiny ones apart.
SENSITIVITIES = {
    0: ("1.00000", "1.00000", "1.00000"),
    1: ("0.99004", "0.90483", "0.36788"),
    5: ("0.95122", "0.60653", "0.00674"),
    10: ("0.90483", "0.36788", "0.00005"),
    50: ("0.60653", "0.00674", ""),
    100: ("0.36788", "0.00005", ""),
    500: ("0.00674", "", ""),
}
# Table 8.3: per cent of leaves without records, with one tree and with 30 on disjoint parts.
EMPTY_LEAVES = {
    "SynthA": (49.8, 68.5),
    "SynthB": (79.1, 90.3),
    "SynthC": (95.0, 98.5),
    "SynthD": (95.7, 98.5),
    "SynthE": (63.3, 73.7),
    "SynthF": (79.2, 89.9),
    "SynthG": (98.7, 99.7),
    "WallSensor": (48.6, 65.1),
    "PenWritten": (92.4, 97.7),
    "GammaTele": (86.2, 93.5),
    "Adult": (99.8, 99.9),
    "Mushroom": (99.9, 99.9),
    "Claves": (0.0, 28.7),
    "Nursery": (0.2, 7.2),
}
# Table 8.4: numbers, discrete attributes and depth.
DEPTHS = {
    "SynthA": (5, 0, 5),
    "SynthB": (10, 0, 8),
    "SynthC": (15, 0, 12),
    "SynthD": (15, 0, 12),
    "SynthE": (15, 0, 12),
    "SynthF": (10, 0, 8),
    "SynthG": (20, 0, 15),
    "WallSensor": (4, 0, 4),
    "PenWritten": (16, 0, 12),
    "GammaTele": (10, 0, 8),
    "Adult": (6, 8, 9),
    "Mushroom": (0, 22, 11),
    "Claves": (0, 16, 8),
    "Nursery": (0, 8, 4),
}
# Fig. 8.5: per cent of leaves with records whose label was changed, with 1, 10, 30, 100 and 300 trees.
FLIPPED = {
    "SynthA": (3.7, 4.8, 6.3, 6.3, 8.1),
    "SynthB": (4.3, 7.2, 9.1, 10.5, 12.8),
    "SynthC": (9.2, 11.7, 13.5, 14.8, 16.8),
    "SynthD": (8.4, 10.9, 12.5, 15.1, 17.2),
    "SynthE": (10.3, 13.0, 14.3, 16.0, 17.7),
    "SynthF": (8.3, 9.6, 10.4, 11.1, 12.9),
    "SynthG": (11.6, 13.6, 15.0, 17.5, 18.8),
}
# Fig. 8.11: accuracy in per cent of the forest of chapter 8 and of RGV, epsilon 1.
CONTEST = {
    "SynthA": (90.6, 84.3),
    "SynthB": (85.4, 88.0),
    "SynthC": (86.1, 87.3),
    "SynthD": (82.1, 86.6),
    "SynthE": (87.8, 74.8),
    "SynthF": (85.8, 84.3),
    "SynthG": (82.3, 77.7),
    "GammaTele": (75.0, 81.2),
    "Mushroom": (97.3, 95.5),
    "Adult": (82.1, 82.3),
}
# Table 7.1: attributes, and trees at beta 1 and 0.1; with the records of the thesis's copy where ours has others.
TREES = {
    "adult-complete": (14, 14, 12),
    "banknote": (4, 4, 2),
    "magic": (10, 10, 10),
    "mushroom": (22, 22, 9),
    "nursery": (8, 8, 8),
    "wine-red": (11, 7, 1),
    "vehicle": (18, 6, 1),
    "wbc": (9, 9, 1),
    "yeast": (8, 5, 1),
}
# Table 5.5: records, numbers, discrete attributes, labels, per cent of the largest.
DATA_SETS = {
    "banknote": (1372, 4, 0, 2, 55),
    "vehicle": (846, 18, 0, 4, 26),
    "wine-red": (1599, 11, 0, 6, 43),
    "spambase": (4601, 57, 0, 2, 60),
    "wilt": (4839, 5, 0, 2, 95),
    "wall-robot-4": (5456, 4, 0, 4, 40),
    "page-blocks": (5473, 10, 0, 5, 90),
    "optdigits": (5620, 62, 0, 10, 10),
    "pendigits": (10992, 16, 0, 10, 10),
    "magic": (19014, 10, 0, 2, 65),
    "shuttle": (58000, 9, 0, 7, 79),
    "credit-approval": (653, 6, 9, 2, 55),
    "parkinsons": (1040, 28, 1, 2, 50),
    "yeast": (1484, 7, 1, 10, 31),
    "cardiotocography": (2126, 21, 1, 3, 78),
    "adult-complete": (30162, 6, 5, 2, 75),
    "bank": (45211, 7, 9, 2, 88),
}
# What the thesis calls the tables, and what they are called here.
NAMES = {
    "WallSensor": "wall-robot-4",
    "PenWritten": "pendigits",
    "GammaTele": "magic",
    "Adult": "adult-complete",
    "Mushroom": "mushroom",
    "Claves": "claves",
    "Nursery": "nursery",
}
