"""The companion as a static site: executed notebooks in, pages out that work from disk and ask nothing of any host.

`builder` assembles the folder; `pages` turns one notebook into its page (with `markdown` and `mathematics` for the
prose), `sources` the code that the pages link to, `entries` the verdicts. `atlas` knows where a file of the checkout
lies on the site, `links` finds what leads nowhere, `inert` takes away what would run.
"""
