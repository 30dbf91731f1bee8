"""The data owner's server: analysts ask over HTTP, and nobody else holds the records."""
