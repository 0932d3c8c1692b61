"""Relations that are made of the others: findings, and what mending them is worth."""

from __future__ import annotations

from rlscope.relations.schema import columns

finding = columns.relation(
    "finding",
    "What is worth mending, with its price. The first query that needs it makes it.",
    columns.integer(
        "rank", "from 1 on, by saving_low_ns; NULL: worth a look, or paid once, and not ranked"
    ),
    columns.text("rule", "rule that found it, a file of analysis/findings or of another package"),
    columns.text("title", "what is slow"),
    columns.text("operation", "path of the operation (operation.path); NULL: none, or several"),
    columns.text("file", "file of the line to change; NULL: not known"),
    columns.integer("line", "line in the file; NULL: not known"),
    columns.integer(
        "saving_ns",
        "estimate: time of the training loop that can be won back; NULL: it is paid once",
    ),
    columns.integer("saving_low_ns", "lower end of the 95 % interval of saving_ns, at least 0"),
    columns.integer("saving_high_ns", "upper end of the 95 % interval of saving_ns"),
    columns.real("saving_share", "saving_ns as a part of the training loop, 0 to 1"),
    columns.real(
        "run_speedup", "how many times as fast the whole run can get, with saving_high_ns less"
    ),
    columns.integer("once_ns", "time that is paid once, however long the loop runs; else NULL"),
    columns.text(
        "confidence",
        "measured: saving_low_ns is above 0; worth a look: it is 0; once: it is paid once",
    ),
    columns.text(
        "priced_by",
        "run: the records of the run, with what rules assume; experiment: measured by --measure",
    ),
    columns.text("evidence", "the numbers that show it"),
    columns.text("fix", "how to mend it"),
    columns.text("no_effect", "when mending it changes nothing"),
    columns.text("evidence_sql", "a statement that shows the numbers"),
)
