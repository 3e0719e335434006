"""`python -m cuamaster.cli`."""

from cuamaster.cli import main

main()
