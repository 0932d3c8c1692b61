"""What a file of rlscope/waits says: functions of the interpreter in which a thread waits."""

TYPE_CHECKING = False  # typing costs 5 ms to import, and every traced process comes here
if TYPE_CHECKING:
    from collections.abc import Sequence

# Where a call has the object that it waits for.
NOTHING = ""
DESCRIPTOR = "descriptor"
"""The first argument is a file descriptor, whose file says the kind: pipe, socket, disk, device."""
SELF = "self"
"""The same for methods of sockets and files, which hold theirs."""
READY = "ready"
"""The result lists (descriptor, events), or descriptors: the first that is ready ended the wait."""
SEMAPHORE = "semaphore"
"""Methods of shared semaphores, which hold its address: the inode that is mapped there."""
PROCESS = "process"
"""The first argument is a pid."""
SOCKETPAIR = "socketpair"
"""The functions do not wait: their result is the two ends of a socketpair."""


class Wait:
    """Functions of one module that wait for the same kind of thing."""

    def __init__(
        self, kind: str, functions: "Sequence[str]", object: str = NOTHING, *, opens: bool = False
    ) -> None:
        """kind: as the relation `wait` names it, where the object does not say it.

        functions: names in the module, "lock.acquire" of a method. Those that this Python does not
        have are passed over.

        opens: a call may be the first record of its process. A process that does nothing else than
        wait is then in the trace. Not for what every process does: take locks, read files, print.
        """
        self.kind = kind
        self.functions = functions
        self.object = object
        self.opens = opens
