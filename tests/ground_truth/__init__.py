"""Ground truth: raw traces as plain tuples and three implementations of what their numbers mean.

raw        one process as plain values
written    the same as a real trace directory
swept      the same swept by the C++ core: the first implementation
relations  the rows that every implementation answers with
strategies traces that hypothesis makes up
rules      the rules of docs/reference/semantics.md that the brute-force twin can break
brute      the second, in plain Python: cuts time at every boundary and replays everything before
           (missing: lost chunks; streams: items in order; state: a process at one instant; replay:
           how to get there; losses: what it counts)
sql_twin   the third, in SQL (missing.sql, twin.sql, cuda.sql): elementary segments joined with the
           instances open in them

The three share no code and start from the same raw tuples.
"""
