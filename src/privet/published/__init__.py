"""Methods that are not private, as their papers have them: for comparison only. No private room knows this one."""
