"""The sections of a report: one file per section, with its types and its computation.

`sureleaf.report.document` lists them; the page draws each with the template of the same name.
"""
