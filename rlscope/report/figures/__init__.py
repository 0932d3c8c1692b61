"""Plotly figures from values of tables: bars, timeline, lines.

Durations are drawn in the axis's unit; `customdata` of every bar holds the exact nanoseconds of its
table, so that a picture can be checked against SQL. Colours of text, grid and background are the
page's (templates/page.js), so that one figure serves the light and the dark theme.
"""
