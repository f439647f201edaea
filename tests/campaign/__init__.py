"""The attack as a program: bad input, damaged files, kills, interrupts and limits, counted; see docs/reliability.md."""
