// Events of the automatic track (automatic_track.h), by the functions whose calls they are.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOMATIC_EVENTS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOMATIC_EVENTS_H_

namespace rlscope::python {

// One row per event: enumerator, name in Python.
#define RLSCOPE_AUTOMATIC_EVENTS(X)                                                              \
  X(kSimulation, "simulation")                                                                   \
  X(kMixin, "mixin")                   /* simulation of an environment */                        \
  X(kOwnStep, "own step")              /* of what may be an environment */                       \
  X(kOwnReset, "own reset")            /* the same */                                            \
  X(kMessageOut, "message out")        /* to another process, which may step environments */     \
  X(kMessageIn, "message in")          /* from one */                                            \
  X(kTaskOut, "task out")              /* for a pool of processes */                             \
  X(kThreadTaskOut, "thread task out") /* for a pool of threads */                               \
  X(kTaskIn, "task in")                /* its result */                                          \
  X(kTasks, "tasks")                   /* some, with their results */                            \
  X(kMessagesEnd, "messages end")      /* the process waits for the end of one */                \
  X(kForward, "forward")                                                                         \
  X(kTapedForward, "taped forward") /* with gradients, if a tape is open */                      \
  X(kTapeEnter, "tape enter")                                                                    \
  X(kTapeExit, "tape exit")                                                                      \
  X(kBackward, "backward")                                                                       \
  X(kStep, "step")                                                                               \
  X(kChange, "change")          /* of a tensor in place, or of a list of them */                 \
  X(kBlockEnter, "block enter") /* of a no-grad block */                                         \
  X(kModeEnter, "mode enter")   /* if gradients are off */                                       \
  X(kBlockExit, "block exit")                                                                    \
  X(kConversion, "conversion") /* if its first argument is an observation */                     \
  X(kConnector, "connector")   /* a conversion, whatever its arguments are */                    \
  X(kMaking, "making")         /* a conversion; of anything, if a forward is given its result */ \
  X(kOutput, "output")         /* a conversion of what forwards returned */                      \
  X(kValue, "value")           /* the same, to numbers, in a process without an environment */   \
  X(kRandomKey, "random key")  /* is made of another one */                                      \
  X(kChoice, "choice")         /* of an action, without a policy */                              \
  X(kDraw, "draw")             /* of some out of many, at random */                              \
  X(kCompiled, "compiled")     /* __call__(function, ...) */                                     \
  X(kGradients, "gradients")   /* are computed, or traced */                                     \
  X(kCompilation, "compilation")                                                                 \
  X(kCompilationEnter, "compilation enter")                                                      \
  X(kCompilationExit, "compilation exit")   /* of its last phase */                              \
  X(kCompilationPause, "compilation pause") /* another one may follow */                         \
  X(kCompile, "compile")                    /* returns what TorchDynamo made of a function */    \
  X(kTracesModule, "traces module") /* TorchDynamo does, where a call would be a forward */      \
  X(kImport, "import")              /* exec_module(loader, module) of an import */               \
  X(kEvaluation, "evaluation")      /* of an agent */                                            \
  X(kTraining, "training")          /* of a model on a batch, all of it */                       \
  X(kPrediction, "prediction")      /* of a model, without gradients */                          \
  X(kUpdate, "update")              /* a part of one that its library makes apart */             \
  X(kGeneration, "generation")      /* of texts, by its library */                               \
  X(kReplay, "replay")              /* storing of experience */                                  \
  X(kSampling, "sampling")          /* taking a batch of it */                                   \
  X(kRendering, "rendering")        /* of an environment, outside of its steps */                \
  X(kSaving, "saving")                                                                           \
  X(kLoading, "loading")                                                                         \
  X(kClosing, "closing") /* of an environment */

enum class Event {
#define RLSCOPE_AUTOMATIC_EVENT(event, name) event,
  RLSCOPE_AUTOMATIC_EVENTS(RLSCOPE_AUTOMATIC_EVENT)
#undef RLSCOPE_AUTOMATIC_EVENT
};

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOMATIC_EVENTS_H_
