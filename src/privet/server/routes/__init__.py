"""The routes of the server, by who may use them."""
