/* Takes the stubs of hot functions out and puts them back within microseconds, for the layers
   benchmark: unpatching and scanning take 150 ms, in which the machine changes its speed.

     find(objects, low, high)   every pointer to a stub in [low, high), the text of the engine, in
                                the memory of these objects and the tables they point to
     learn(stubs)               what is there now: False, the functions, while the engine has taken
                                its stubs out; True, the stubs, once it has put them back and moved
                                those of hot functions, which are kept
     learn(True, False)         the same of functions whose stubs stay where they are: waits
     put(stubs)                 all pointers at once: True, the stubs; False, the functions

   Built by layers.py. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HOT_STUBS 1024

struct place {
  void** location;
  void* stub;
  void* function;
  int is_slot; /* of a type: its stub is shared, and stays where it is when it is hot */
};
static struct place* places = NULL;
static size_t used = 0, capacity = 0;
static uintptr_t low, high; /* the text of the engine */

/* Which stub the address is, by its code; -1: none. */
static long stub_at(const void* address) {
  if ((uintptr_t)address - low >= high - low || (uintptr_t)address % 16 != 0) return -1;
  const unsigned char* code = address;
  uint32_t word;
#if defined(__x86_64__)
  if (code[4] != 0x41 || code[5] != 0xb9) return -1; /* mov $index, %r9d */
  memcpy(&word, code + 6, sizeof word);
  return (long)word;
#else
  memcpy(&word, code + 4, sizeof word);
  return (word & 0xffe0001f) == 0x52800005 ? (long)(word >> 5 & 0xffff) : -1; /* movz w5 */
#endif
}

static int by_location(const void* a, const void* b) {
  const struct place *first = a, *second = b;
  return (first->location > second->location) - (first->location < second->location);
}

static int add(void** location, int is_slot) {
  if (stub_at(*location) < 0) return 0;
  if (used == capacity) {
    capacity = capacity == 0 ? 4096 : 2 * capacity;
    struct place* more = realloc(places, capacity * sizeof *places);
    if (more == NULL) return PyErr_NoMemory(), -1;
    places = more;
  }
  places[used++] = (struct place){location, NULL, NULL, is_slot};
  return 0;
}

static int add_words(void* memory, size_t bytes, int is_slot) {
  for (size_t i = 0; memory != NULL && i < bytes / sizeof(void*); i++) {
    if (add((void**)memory + i, is_slot) != 0) return -1;
  }
  return 0;
}

static int add_suites(PyTypeObject* type) {
  if (add_words(type->tp_as_number, sizeof *type->tp_as_number, 1) != 0) return -1;
  if (add_words(type->tp_as_sequence, sizeof *type->tp_as_sequence, 1) != 0) return -1;
  return add_words(type->tp_as_mapping, sizeof *type->tp_as_mapping, 1);
}

/* A descriptor or function, and the static table that it leads to. */
static int add_object(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (PyType_Check(object)) {
    if (add_suites((PyTypeObject*)object) != 0) return -1;
    return add_words(object, sizeof(PyTypeObject), 1);
  }
  if (type == &PyGetSetDescr_Type) {
    return add_words(((PyGetSetDescrObject*)object)->d_getset, sizeof(PyGetSetDef), 0);
  }
  if (type == &PyMethodDescr_Type || type == &PyClassMethodDescr_Type) {
    return add_words(((PyMethodDescrObject*)object)->d_method, sizeof(PyMethodDef), 0);
  }
  if (type == &PyWrapperDescr_Type) return add(&((PyWrapperDescrObject*)object)->d_wrapped, 1);
  if (PyCFunction_Check(object)) {
    return add_words(((PyCFunctionObject*)object)->m_ml, sizeof(PyMethodDef), 0);
  }
  if (!PyType_HasFeature(type, Py_TPFLAGS_HAVE_VECTORCALL) || type->tp_vectorcall_offset <= 0) {
    return 0;
  }
  return add((void**)((char*)object + type->tp_vectorcall_offset), 0);
}

/* Static tables lie in pages that the loader made read-only, and the engine after each store: those
   of functions, which it moves when they become hot, are opened each time. */
static int open_pages(int of_slots) {
  const uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t last = 0;
  for (size_t i = 0; i < used; i++) {
    const uintptr_t page = (uintptr_t)places[i].location / size * size;
    if (page == last || places[i].is_slot != of_slots) continue;
    if (mprotect((void*)page, size, PROT_READ | PROT_WRITE) != 0) {
      return PyErr_SetFromErrno(PyExc_OSError), -1;
    }
    last = page;
  }
  return 0;
}

static PyObject* find(PyObject* self, PyObject* arguments) {
  PyObject* objects;
  unsigned long long begin, end;
  (void)self;
  if (!PyArg_ParseTuple(arguments, "O!KK", &PyList_Type, &objects, &begin, &end)) return NULL;
  low = begin, high = end, used = 0;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(objects); i++) {
    if (add_object(PyList_GET_ITEM(objects, i)) != 0) return NULL;
  }
  qsort(places, used, sizeof *places, by_location);
  size_t kept = 0;
  for (size_t i = 0; i < used; i++) {
    if (i == 0 || places[i].location != places[kept - 1].location) places[kept++] = places[i];
  }
  used = kept;
  return PyLong_FromSize_t(used);
}

static PyObject* learn(PyObject* self, PyObject* arguments) {
  int expected, moves = 1;
  size_t kept = 0;
  (void)self;
  if (!PyArg_ParseTuple(arguments, "p|p", &expected, &moves)) return NULL;
  for (size_t i = 0; i < used; i++) {
    const long stub = stub_at(*places[i].location);
    const int stays = stub >= 0 && (stub < HOT_STUBS || places[i].is_slot || !moves);
    if (expected ? !stays : stub >= 0) continue;
    places[kept] = places[i];
    *(expected ? &places[kept].stub : &places[kept].function) = *places[i].location;
    kept++;
  }
  used = kept;
  return open_pages(1) == 0 ? PyLong_FromSize_t(used) : NULL;
}

static PyObject* put(PyObject* self, PyObject* stubs) {
  (void)self;
  if (open_pages(0) != 0) return NULL;
  for (size_t i = 0; i < used; i++) {
    *places[i].location = stubs == Py_True ? places[i].stub : places[i].function;
  }
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"find", find, METH_VARARGS, NULL},
                                {"learn", learn, METH_VARARGS, NULL},
                                {"put", put, METH_O, NULL},
                                {NULL, NULL, 0, NULL}};
static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "pointer_switch", .m_methods = methods};

PyMODINIT_FUNC PyInit_pointer_switch(void) { return PyModuleDef_Init(&definition); }
