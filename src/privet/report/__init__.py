"""Pages and pictures of a model for people: what it promises and what it says. Released numbers only, no table."""
