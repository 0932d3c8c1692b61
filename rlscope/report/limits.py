"""How much a report draws: what bounds its size and its drawing time, whatever the trace holds.

A page is the plotly bundle (0.7 MB, packed) and these charts; with every limit reached it stays
below 3.1 MB (tests/unit/test_report_html.py). What is left out is in SQL and named on the page.
"""

# Operations with a bar, a row or a strip of their own; the others are one "(other operations)".
OPERATIONS = 24
STRIPS = 14

# Native functions that are named, of each of so many operations and of the whole run.
FUNCTIONS = 4
OPERATIONS_WITH_FUNCTIONS = 6

# Kernels with a bar of their own.
KERNELS = 12

# Rows of the table of crossings between layers, and of that of synchronisation.
CROSSINGS = 16

# Processes with a view of their own in a chart; those with operations first, then the longest.
PROCESSES = 6
TIMELINE_PROCESSES = 6

# Rows of the process table, and roles with a bar.
PROCESS_ROWS = 200
ROLES = 20

# Buckets of a timeline: a chart is about as many pixels wide.
BUCKETS = 1000

# Points of a line.
POINTS = 600

# Rows of tables that have no natural end: losses, absent columns, problems, metadata.
ROWS = 60

# Modules of a role with a row in the table of imports: outermost ones, and others.
IMPORTS = 20

# Characters of a command line in the process table.
PROGRAM_CHARACTERS = 120

# Lines of source with times, and lines of context around each.
LINES = 100
CONTEXT_LINES = 3

# Characters of a line of source.
LINE_CHARACTERS = 200

# Files that are named because their text is missing.
FILES_WITHOUT_TEXT = 3

# Findings at the top of the page, and lines around the line of each.
FINDINGS = 3
FINDING_CONTEXT = 2

# Frames of a flame graph.
FRAMES = 2000

# Times of lines, and of frames, by operation and layer.
PARTS = 3000

# Rows of the table of lines that were innermost.
INNER_LINES = 20
