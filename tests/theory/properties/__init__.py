"""Properties that hold for all parameters, one file per room; `strategies` says what they are
checked on.
"""
