"""How much routing gains on real public reward matrices: every family, every baseline, several random splits."""
