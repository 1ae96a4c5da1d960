"""How much meaning, and how much form, is in anybody's vectors of sentences."""
