"""Surveys: a matrix of programs, each recorded several times, compared, and judged.

    matrix.toml, --cells FILE --- cells ---> Cell: one program with its labels
    Cell, repetition ------------ running -> DIR/<cell>/<repetition>, a trace
    trace ----------------------- measuring -> Run, in DIR/<cell>/<repetition>.json
    all Runs -------------------- results -> results.json, cells.csv
    results --------------------- findings, figures -> values with intervals, and verdicts
    those ----------------------- page, article -> survey.html, survey.md

Nothing is computed where it is drawn.
"""
