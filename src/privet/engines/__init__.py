"""How counts are made. Engines give exact numbers: to the kernel, and to code that is marked NOT PRIVATE."""
