"""What the project itself is built, checked and tried with; never in the wheel."""
