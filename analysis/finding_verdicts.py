"""Which findings are worth a word, and when a rule of analysis/findings fires: every threshold.

A verdict is a function of values, as those of analysis/verdicts.py are.
"""

from __future__ import annotations

import re
from enum import Enum

from rlscope.analysis import verdicts
from rlscope.analysis.operations import OUTSIDE
from rlscope.analysis.verdicts import Row

# Share of the loop that a finding wins at least, and of the run that something takes once.
NOTABLE_SAVING = 0.01
_NOTABLE_ONCE = 0.05
# Share of the loop that its largest state takes at least, to be named.
_NAMED_STATE = 0.1
# Share of the loop that pickling takes where messages are large.
_PICKLING = 0.05
# Length of the loop of which a line of another process takes such a part, to be looked at.
_NOTABLE_BUSY = 0.05
# A message that takes as long as a command has a few numbers. A core whose caches are cold takes
# some 60 us for that.
_BRIEF_MESSAGE_NS = 100_000
_LIKE_A_COMMAND = 1.5
# Programs that evaluate now and then spend a few hundredths on it; what takes more than the second
# is what the program is for.
_NOTABLE_EVALUATION = 0.1
_MOST_EVALUATION = 0.8
# Share of the loop that inference for one environment takes before several would be felt, and of
# that the part in networks.
_ASKING = 0.2
_ASKED_PART = 0.3
# Part of an operation's time that a line leads to, if it leads to all but a few readings.
_NEARLY_ALL = 0.9
# Share of the loop that a line takes at least, to be named without advice.
_UNMENDED_LINE = 0.2
_UNMENDED_BESIDE = 0.12
# Share of the time of a line without advice to which one of several callers leads.
_LARGE_CALLER = 0.25
# Readings of a stack that are enough for a finding.
_FEWEST_READINGS = 10
# Share of the program's CPU time that other threads take at least, and of operators' time in which
# they wait for them.
_NOTABLE_THREADS = 0.2
_WAITING_OPERATORS = 0.05
# Forwards in a row that are worth a batch.
_CALLS_IN_A_ROW = 1.9
_PLANNED_CALLS = 8
# Calls of a native function in an entry that a loop may have made.
_CALLS_IN_PASSES = 4
# By how much the calls of a function differ from as many in each iteration.
_FEW_ITERATIONS = 0.02
# Calls of one native function in an entry of an operation that only a loop makes, and how long one
# of a small operator takes at most.
LOOPED_CALLS = 60
_LOOPED_UPDATES = 4
# The same between operations, where steps of environments are counted as entries: calls of a loop
# that runs once in many steps are spread over all of them.
LOOPED_BETWEEN = 8
# Python's own time in a loop over numbers, in an entry of an operation, that is worth an array.
_MANY_ELEMENTS_NS = 50_000
# The same of a loop in another one, which a few calls of NumPy replace.
_MANY_NESTED_NS = 20_000
# The same between operations, for each step of an environment, as for LOOPED_BETWEEN.
_MANY_ELEMENTS_BETWEEN_NS = 8_000
_SMALL_CALL_NS = 50_000
# How many times as fast a run gets, of which next to nothing is left.
_FASTEST = 50
# Backwards of single steps, and how many of them an update has at least.
_BRIEF_BACKWARD_NS = 1_000_000
_MANY_BACKWARDS = 8
# What calls several operators for each layer and step of its own, and how many such calls count.
_RECURRENT = re.compile(r".*:(gru|lstm|rnn)\w*")
_IN_A_LAYER = 3
# How long a line takes for one item of a container at most, as for an array of a rollout.
_ONE_ITEM_NS = 20_000
# Time of a loop's lines in other operations, as a part of their time in its own.
_NOW_AND_THEN = 0.1
# How often a line's function is compiled before it is not the line's first time.
_FEWEST_COMPILATIONS = 4
# Share of the loop in which its process waits for others that do not wait for it.
_STARVED = 0.1
# Share of the loop that a finding surely wins, to be the first thing that is said.
_LEADING_SAVING = 0.03
# How often an operation is entered, and how much longer one entry is, to call it an outlier.
_ENOUGH_ENTRIES = 10
_OUTLIER = 20
# How much longer it is than the longest of the others.
_ALONE = 2
# Share of the loop in which it waits for what a thread holds, and how long such a wait is at least
# where the thread computes in Python. The interpreter asks it to give way after 5 ms.
_WAITING_LOOP = 0.05
_THREAD_WORKS_NS = 500_000
# Share of the loop in which nobody works, where threads hand over often enough to speak of it.
_HANDED_OVER = 0.1
# How long making a tensor takes at least that reads many numbers.
_LONG_CONVERSION_NS = 100_000
# Small conversions in an iteration that are many.
_MANY_CONVERSIONS = 16
# Launches of kernels in an iteration that a graph would be worth, the share of them that find the
# GPU idle, and how much of the time that prepares them the kernels take at most.
_FEWEST_LAUNCHES = 8
_BOUND_LAUNCHES = 0.5
_KERNELS_OF_PREPARATION = 0.5
# Share of the loop in which it waits for the GPU, and in which the GPU is idle, to change anything,
# and in which copies block it.
_GPU_WAITS = 0.02
_COPIES = 0.01
# Part of a wait that a loop wins, if the GPU has no queue of work.
_AVOIDABLE = 0.1
# Intervals of a trace that are made into rows of `event` for a price: one or two seconds' worth.
_MOST_INTERVALS = 1_000_000
# Processes that a loop starts, beside those that it needs once.
_STARTED_PROCESSES = 16
# Of the time that starting processes takes, what their beginning adds where nothing is known of it.
_AWAITED = 0.4
# How often memory of the GPU is given back in an iteration, if each has its own.
_GIVEN_BACK = 0.5


class Confidence(Enum):
    """How far a finding can be relied on, the most first."""

    MEASURED = "measured"
    """Its price does not reach 0."""
    WORTH_A_LOOK = "worth a look"
    """Its price reaches 0."""
    ONCE = "once"
    """It has no price: it is paid once, however long the loop runs."""
    NOT_WORTH_A_WORD = "not worth a word"


def confidence(finding: Row, loop_ns: int, run_ns: int) -> Confidence:
    """Decides it for a row of relation `finding`."""
    if finding["saving_ns"] is None:
        notable = finding["once_ns"] >= least_once_ns(run_ns)
        return Confidence.ONCE if notable else Confidence.NOT_WORTH_A_WORD
    if not is_saving_notable(finding["saving_ns"], loop_ns):
        return Confidence.NOT_WORTH_A_WORD
    return Confidence.MEASURED if finding["saving_low_ns"] > 0 else Confidence.WORTH_A_LOOK


def least_once_ns(run_ns: int) -> int:
    """What is paid once and takes less is not worth a word."""
    return round(_NOTABLE_ONCE * run_ns)


def is_faster(left: float) -> bool:
    """Whether the advised way of an experiment wins anything, from the part of the time left."""
    return left < 1 - NOTABLE_SAVING


def is_loop_starved(starved_ns: int, loop_ns: int) -> bool:
    """Whether time won back in a loop would only become time spent waiting."""
    return starved_ns >= _STARVED * loop_ns


def is_finding_leading(finding: Row, loop_ns: int) -> bool:
    """Whether the best finding surely wins so much that a report begins with it."""
    return bool(finding["saving_low_ns"] >= _LEADING_SAVING * loop_ns)


def is_state_named(state_ns: int, loop_ns: int) -> bool:
    """Whether a loop is in its largest state for so long that this says what it does."""
    return state_ns >= _NAMED_STATE * loop_ns


def is_line_unmended(own_low_ns: float, loop_ns: int) -> bool:
    """Whether a line surely takes so much that it is named without advice."""
    return own_low_ns >= _UNMENDED_LINE * loop_ns


def is_line_noticed(own_ns: float, loop_ns: int) -> bool:
    """Whether a line takes so much that twenty of them would be a finding."""
    return own_ns >= NOTABLE_SAVING / 20 * loop_ns


def is_line_larger(own_low_ns: float, loop_ns: int, saving_ns: float) -> bool:
    """The same beside a finding, which wins less."""
    return own_low_ns >= max(_UNMENDED_BESIDE * loop_ns, saving_ns)


def is_caller_large(total_ns: float, whole_ns: float) -> bool:
    """Whether a line leads to so much of what another one takes that it is named beside others."""
    return total_ns >= _LARGE_CALLER * whole_ns


def are_readings_enough(readings: int) -> bool:
    """Whether so many readings of a stack show that something takes its time."""
    return readings >= _FEWEST_READINGS


def is_rest_unknown(run_speedup: float) -> bool:
    """Whether a price may be so much of the run that nobody can say how fast the rest is."""
    return run_speedup >= _FASTEST


def is_looped(row: Row, *, updates_parameters: bool) -> bool:
    """Whether a native function is called so often in an entry, and so briefly each time, that
    Python loops over elements. From a row of the rule `tensor_loop`. A loop that updates the
    parameters of a network is one with a few of them, too."""
    fewest = LOOPED_BETWEEN if row["operation"] == OUTSIDE else LOOPED_CALLS
    if updates_parameters:
        fewest = _LOOPED_UPDATES
    return bool(are_calls_brief(row) and row["calls"] >= fewest * row["entries"])


def is_repeated(row: Row) -> bool:
    """Whether a native function is called briefly, and more than once in an entry. From a row of
    `findings/repeated_call`."""
    return bool(are_calls_brief(row) and row["calls"] >= 2 * row["entries"])


def are_backwards_many(row: Row) -> bool:
    """Whether an entry goes back so often, and so briefly, that one backward would take far less.
    From a row of `findings/repeated_call`."""
    brief = row["duration_ns"] <= _BRIEF_BACKWARD_NS * row["calls"]
    return bool(brief and row["calls"] >= _MANY_BACKWARDS * row["entries"])


def are_elements_many(row: Row, own_ns: float, computing_ns: float, *, nested: bool) -> bool:
    """Whether Python takes so long in a loop, in each entry into its operation, that it has many
    passes, and most of the time in lines that do arithmetic. From a row of `element_loop`."""
    inside_ns = _MANY_NESTED_NS if nested else _MANY_ELEMENTS_NS
    each_ns = _MANY_ELEMENTS_BETWEEN_NS if row["operation"] == OUTSIDE else inside_ns
    many = own_ns >= each_ns * row["entries"]
    return many and verdicts.is_most(computing_ns, own_ns)


def is_more_than_an_item(each_ns: float) -> bool:
    """Whether a line takes longer in each step than one item of a container does."""
    return each_ns >= _ONE_ITEM_NS


def is_of_one_operation(own_ns: float, others_ns: float) -> bool:
    """Whether the lines of a loop are in one operation, but for a call now and then."""
    return others_ns <= _NOW_AND_THEN * own_ns


def is_loop_of_operators(own_ns: float, total_ns: float) -> bool:
    """Whether the lines of a loop call operators themselves, and not networks that do."""
    return verdicts.is_most(own_ns, total_ns)


def is_compiled_again(count: int) -> bool:
    """Whether a function was compiled more often than a change of shape explains."""
    return count >= _FEWEST_COMPILATIONS


def is_most_of_calls(total_ns: float, longest_ns: float) -> bool:
    """Whether a line leads to most calls of a network that inference makes."""
    return verdicts.is_most(total_ns, longest_ns)


def is_called_in_passes(row: Row) -> bool:
    """Whether a native function is called so often in an entry that a loop may do it. From a row
    of `findings/repeated_call`."""
    return bool(row["calls"] >= _CALLS_IN_PASSES * row["entries"])


def are_calls_brief(row: Row) -> bool:
    """Whether calls of a native function take so briefly that the call costs more than its work.
    From a row of `findings/repeated_call`. A recurrent layer calls several operators itself."""
    most_ns = _SMALL_CALL_NS * (_IN_A_LAYER if _RECURRENT.fullmatch(row["function"]) else 1)
    return bool(row["duration_ns"] <= most_ns * row["calls"])


def is_whole(calls: float) -> bool:
    """Whether each iteration calls a function as often, but for a few of them."""
    return calls >= 1 - _FEW_ITERATIONS and abs(calls - round(calls)) <= _FEW_ITERATIONS * calls


def is_called_in_a_row(calls: float) -> bool:
    """Whether a network is called so often in one entry that a batch would be worth it."""
    return calls >= _CALLS_IN_A_ROW


def is_planning(calls: float) -> bool:
    """Whether so many forwards for one action are more than those of a policy and its critics."""
    return calls >= _PLANNED_CALLS


def is_asking_notable(inference_ns: int, loop_ns: int) -> bool:
    """Whether a loop asks its network for so long that it may ask for several actions at once."""
    return inference_ns >= _ASKING * loop_ns


def is_network_much(network_ns: float, inference_ns: int) -> bool:
    """Whether networks are so much of choosing actions that asking for several wins something."""
    return network_ns >= _ASKED_PART * inference_ns


def is_evaluation_notable(evaluation_ns: int, loop_ns: int) -> bool:
    """Whether a loop evaluates for longer than most programs do. What is nearly all of it is what
    the program is for, as evaluating many policies to choose the best."""
    return _NOTABLE_EVALUATION * loop_ns <= evaluation_ns <= _MOST_EVALUATION * loop_ns


def is_nearly_all(part_ns: float, whole_ns: float) -> bool:
    """Whether a line leads to all that another one does, but for a few readings."""
    return part_ns >= _NEARLY_ALL * whole_ns


def is_saving_notable(saving_ns: float, loop_ns: int) -> bool:
    """Whether a price is worth a word."""
    return saving_ns >= NOTABLE_SAVING * loop_ns


def are_threads_many(running_ns: int, others_ns: int, blocked_ns: float, framework_ns: int) -> bool:
    """Whether operators have more threads than work: these take CPU time, and are waited for."""
    return (
        others_ns >= _NOTABLE_THREADS * running_ns
        and blocked_ns >= _WAITING_OPERATORS * framework_ns
    )


def are_threads_crowded(running_ns: int, runnable_ns: int, others_ns: int) -> bool:
    """Whether operators have threads of their own, and the program lacks a CPU."""
    is_lacking = verdicts.is_cpu_lacking(runnable_ns, running_ns + runnable_ns)
    return is_lacking and others_ns >= _NOTABLE_THREADS * running_ns


def is_thread_working(waited_ns: int, waits: int, loop_ns: int) -> bool:
    """Whether a loop waits for what a thread beside it holds, for long enough each time that the
    thread works with it: one that writes to a file needs the interpreter briefly."""
    long = waited_ns >= _THREAD_WORKS_NS * max(waits, 1)
    return long and waited_ns >= _WAITING_LOOP * loop_ns


def are_handoffs_many(idle_ns: int, locks_ns: int, waits: int, loop_ns: int) -> bool:
    """Whether threads wait for each other so briefly each time that waking is most of it, and a
    loop is idle meanwhile for a notable part."""
    brief = locks_ns < _THREAD_WORKS_NS * max(waits, 1)
    return brief and idle_ns >= _HANDED_OVER * loop_ns


def is_outlier(row: Row) -> bool:
    """Whether the longest entry into an operation is unlike all others, from a row of the rule
    `outlier_call`."""
    enough = row["entries"] >= _ENOUGH_ENTRIES
    # Where others are nearly as long, as resets among steps are, it comes again.
    is_alone = row["longest_ns"] > _ALONE * row["second_ns"]
    return bool(enough and is_alone and row["longest_ns"] > _OUTLIER * max(row["median_ns"], 1))


def is_conversion_frequent(calls: int, iterations: int) -> bool:
    """Whether values are converted one by one, again and again."""
    return bool(iterations) and calls >= _MANY_CONVERSIONS * iterations


def are_conversions_long(took_ns: float, calls: int) -> bool:
    """Whether conversions read many numbers each."""
    return took_ns >= _LONG_CONVERSION_NS * max(calls, 1)


def are_messages_large(pickled_ns: int, loop_ns: int) -> bool:
    """Whether pickling shows that processes send each other a lot."""
    return pickled_ns >= _PICKLING * loop_ns


def least_busy_ns(loop_ns: int) -> int:
    """Time of a line of another process that is worth a look at what it does."""
    return int(_NOTABLE_BUSY * loop_ns)


def are_messages_brief(row: Row) -> bool:
    """Whether memory that processes share would win nothing, because reading an answer takes no
    longer than reading what was asked. From a row of the rule `serialization`."""
    if row["read_ns"] is None or row["asked_ns"] is None:
        return False
    return bool(row["read_ns"] < min(_BRIEF_MESSAGE_NS, _LIKE_A_COMMAND * row["asked_ns"]))


def is_launch_bound(row: Row, iterations: int) -> bool:
    """Whether an operation is busy with launches of small kernels, for which the GPU waits. From a
    row of the rule `launch_bound`. Graphs have no launches of their own."""
    return bool(
        iterations
        and row["launches"] >= _FEWEST_LAUNCHES * iterations
        and row["bound"] >= _BOUND_LAUNCHES
        and row["launched_ns"] <= _KERNELS_OF_PREPARATION * row["cpu_ns"]
    )


def is_gpu_waited_for(waited_ns: int, idle_ns: int, loop_ns: int) -> bool:
    """Whether a loop waits for the GPU, and the GPU at other times for the loop."""
    return min(waited_ns, idle_ns) >= _GPU_WAITS * loop_ns


def is_wait_avoidable(won_ns: float, waited_ns: int) -> bool:
    """Whether enough of a wait goes, or the GPU has so much work that the loop waits anyway."""
    return won_ns >= _AVOIDABLE * waited_ns


def is_copy_notable(copy_ns: int, loop_ns: int) -> bool:
    """Whether copies block the loop for long enough."""
    return copy_ns >= _COPIES * loop_ns


def can_calls_be_read(intervals: int) -> bool:
    """Whether a trace is so small that its calls are read one by one for a price."""
    return intervals <= _MOST_INTERVALS


def is_memory_given_back(calls: int, iterations: int) -> bool:
    """Whether memory is given back again and again, and not only taken at first."""
    return bool(iterations) and calls >= _GIVEN_BACK * iterations


def is_start_awaited(low_ns: float, starting_ns: float, started: int, read: int) -> bool:
    """Whether what a loop surely waits for processes that begin is more than a part of what
    starting them takes: the usual price has that part. Most of them must have been read, or their
    work is not known."""
    return low_ns > _AWAITED * starting_ns and 2 * read >= started


def are_started_again(processes: int, iterations: int) -> bool:
    """Whether a loop starts processes again and again."""
    return processes >= max(_STARTED_PROCESSES, iterations / 10)
