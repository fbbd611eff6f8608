"""Properties that hold for all parameters, a file for each subject.

`strategies` draws the parameters and says how draws are compared with an exact law.
"""
