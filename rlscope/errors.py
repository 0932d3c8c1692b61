"""Everything that rlscope raises.

RlscopeError                what `rlscope` prints as one line, exit code 1
├── TraceError              not a trace, or nothing of it can be read
├── DirectoryInUse          the output directory holds another run
├── RecordingError          recording cannot begin here
└── QueryError              the SQL statement failed
"""


class RlscopeError(Exception):
    """A failure that rlscope states in one sentence: what happened, to what, and the remedy."""


class TraceError(RlscopeError):
    """The path is not a trace, or no part of it can be read."""


class DirectoryInUse(RlscopeError):
    """The output directory already holds a run."""


class RecordingError(RlscopeError):
    """Recording cannot begin: the directory cannot be written, or the libraries disagree."""


class QueryError(RlscopeError):
    """An SQL statement failed; the message is DuckDB's, in one line."""
