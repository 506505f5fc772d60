"""Trainers: one file per method. Arrays and a head in, a better head out."""

from fugu_lite.trainers.contract import FitResult, Trainer, TrainerSpec, TrainingSet

__all__ = ["FitResult", "Trainer", "TrainerSpec", "TrainingSet"]
