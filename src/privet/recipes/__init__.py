"""One paper, one file: citation, composition, errata and where privet differs. ``registry.py`` lists them."""
