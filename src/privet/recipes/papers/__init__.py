"""One paper, one file: citation, budget, errata and where privet differs."""
