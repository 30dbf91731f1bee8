"""Engines: exact counts of records, for the kernel and for code that is marked NOT PRIVATE."""
