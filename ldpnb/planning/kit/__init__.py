"""From a saved plan to a folder for the field: whom to ask, the device, the form, and every text that people see.

The words are in `texts`; `pages` puts a plan's numbers into them, and `command` is ``ldpnb kit``.
"""
