"""From a saved plan to a folder for the field: `texts` has the words, into which `pages` puts a plan's numbers."""
