"""The analyst's side of a data owner's server."""
