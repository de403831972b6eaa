"""Doubles for models and the clock, and small things many tests need."""
