"""The companion as a static site: executed notebooks in, pages out that work from disk and ask nothing of any host.

`builder` assembles the folder: `front` makes the first page, `pages` one of each notebook (with `markdown`, `plain` and
`mathematics` for the prose, `notation` for the formulas of claims, `launch` for where it runs), `reference` those of
the library, `sources` those of the code, `entries` and `card` tell the verdicts, `search` the index. `atlas` knows
where a file of the checkout lies on the site, `links` finds what leads nowhere, `inert` takes away what would run.

Pages play: `charts` makes figures of tables and their encodings, `explore` lets `grid` compute live sections for the
settings of their controls, and `planner` is the one section that no notebook has. The only code of notebooks that
building runs is that of live sections, and of the cells before them.
"""
