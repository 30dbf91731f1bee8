"""Whole trees drawn exactly, each by one mechanism; and random stopping. Read the rest of the kernel first."""
