"""Private scores, folds by coin, and the private search: tuning and reporting that spend from the one ledger."""
