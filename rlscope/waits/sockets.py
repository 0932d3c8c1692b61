"""_socket: sockets of Python programs. What libraries of C++ wait for (gRPC, NCCL) is not seen."""

from rlscope.capture.wait import SELF, SOCKETPAIR, Wait

_WAITING = ("accept", "_accept", "connect", "recv", "recv_into", "recvfrom", "recvfrom_into",
            "recvmsg", "recvmsg_into")  # fmt: skip
_SENDING = ("send", "sendall", "sendto", "sendmsg")

WAITS = (
    Wait("socket", [f"socket.{method}" for method in _WAITING], SELF, opens=True),
    Wait("socket", [f"socket.{method}" for method in _SENDING], SELF),
    Wait("socket", ["socketpair"], SOCKETPAIR),
)
