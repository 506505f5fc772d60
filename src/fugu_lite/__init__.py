"""fugu-lite: measure a pool of language models, learn which one should answer, and prove whether it pays."""

__version__ = "0.1.0"
