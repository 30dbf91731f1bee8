"""One paper, one file: citation, composition, errata and where privet differs."""
