"""A router as a folder of JSON and safetensors, and the router-head layout."""

from fugu_lite.checkpoints.folder import Checkpoint, load, read_manifest, save
from fugu_lite.checkpoints.manifest import Manifest

__all__ = ["Checkpoint", "Manifest", "load", "read_manifest", "save"]
