"""What all tests have in common."""

from hypothesis import settings

# Not timed: a machine under load is no fault of ours.
settings.register_profile("pytok", deadline=None, max_examples=200)
settings.load_profile("pytok")
