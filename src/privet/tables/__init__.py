"""Records in, codes out: how tables are read, and how their cells become small whole numbers."""
