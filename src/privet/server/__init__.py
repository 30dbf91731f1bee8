"""The data owner's server: analysts ask over HTTP; only the server holds the records."""
