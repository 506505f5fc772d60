"""Performance claims, one module each: every claim is a ratio to a named peer or limit, measured in one run."""
