"""The second afternoon of the kernel: whole trees drawn exactly, by one mechanism each."""
