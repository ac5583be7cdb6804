/* The parts of the Python package that are called for each task: they collect submissions in an array of words for
 * fairlead_flow_submit_words(), and call bodies. Optional: without this module the package uses _plain_tasks.py, which has
 * the same classes. It knows the library by addresses that the package passes, and uses the stable interface of Python, so
 * that one file serves all versions. */
#define _GNU_SOURCE /* CLOCK_MONOTONIC_COARSE */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>
#include <fairlead_tasks.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <structmember.h>
#include <time.h>

enum { head_words = 5, kernel_count = 9, element_count = 4, known_lines = 64 };
/* When collected tasks are submitted: so many that the call costs little, or so long ago that workers may be waiting. */
enum { words_at_once = 1 << 13, milliseconds_at_once = 2 };
/* At the end of what a task keeps, after its arguments: keyword arguments or None, the flow, and the codelet. */
enum { kept_keywords = 0, kept_flow = 1, kept_codelet = 2, kept_count = 3 };

/* ---- a datum */

typedef struct {
  PyObject_HEAD
  uint64_t word;     /* fairlead_datum* */
  int element;       /* fairlead_element, or -1 */
  PyObject* owner;   /* frees the datum when no handle is left */
  PyObject* layout;  /* its method `view` makes arrays */
  /* The last array made for reading, and for writing. Bodies get views of it, since they may change its shape. */
  struct {
    void* address;
    PyObject* array;
  } last[2];
} Handle;

/* ---- a codelet */

typedef struct {
  PyObject_HEAD
  PyObject* function;
  uint64_t word; /* fairlead_codelet* */
  signed char* modes; /* by positional parameter: fairlead_access, or -1 for a value */
  Py_ssize_t count;
  int list_mode; /* of further arguments; -1: values */
  bool simple;   /* has only positional parameters */
} Body;

typedef struct {
  PyObject_HEAD
  int number; /* fairlead_kernel */
} KernelBase;

/* ---- a flow */

typedef struct {
  PyObject_HEAD
  fairlead_flow* flow; /* null: closed */
  uint64_t* words;
  size_t count, room;
  PyObject* code; /* of the function that has submitted last */
  uint64_t file;  /* its name, as the library gets it */
  /* Its lines, by the position of the instruction that has submitted: Python searches for a line from the start. */
  struct {
    long after; /* the position plus 1 */
    int line;
  } lines[known_lines];
  uint64_t kernels[kernel_count][element_count];
  int64_t first_ms; /* when the first of the collected tasks came */
  bool interrupted; /* no more bodies start */
} TaskBuffer;

/* ---- the tiles of a matrix, by row and column */

typedef struct {
  PyObject_HEAD
  PyObject* tiles; /* a list, row by row; None where there is no tile */
  Py_ssize_t columns;
} Grid;

typedef fairlead_status (*SubmitWords)(fairlead_flow*, const uint64_t*, size_t, size_t*);

typedef struct {
  PyTypeObject *handle, *body, *kernel, *buffer, *grid;
  SubmitWords submit_words;
  PyObject *view, *bind, *keep, *check, *kernel_word, *file_word, *priority, *co_filename, *f_lasti, *tile_missing;
} Module;

/* Bodies are called without a module object, by threads of the library. The module is initialized once per process. */
static Module module;

/* ---- threads of the library that run bodies */

typedef struct BodyThread {
  struct BodyThread *next, *previous;
  PyThreadState* state; /* PyGILState_Ensure() no longer finds it when thread-specific values are destroyed */
  unsigned long ident;
  const void* flow; /* whose body it runs; null: none */
  bool interrupted;
} BodyThread;
static BodyThread* body_threads; /* guarded by the interpreter's lock */
static pthread_key_t thread_key;
static __thread BodyThread* own_thread;

/* At the end of a thread: deletes its state of the interpreter, which lives on between bodies. */
static void end_thread(void* given) {
  BodyThread* thread = given;
  own_thread = NULL;
  if (!Py_IsInitialized()) return;
  PyEval_RestoreThread(thread->state);
  if (thread->previous)
    thread->previous->next = thread->next;
  else
    body_threads = thread->next;
  if (thread->next) thread->next->previous = thread->previous;
  PyThreadState* state = thread->state;
  free(thread);
  PyThreadState_Clear(state);
  PyEval_SaveThread();
  PyThreadState_Delete(state);
}

/* Takes the interpreter's lock. Returns whether the thread is new: then its state has been made. */
static bool enter(PyGILState_STATE* state) {
  const bool is_new = own_thread == NULL && PyGILState_GetThisThreadState() == NULL;
  *state = PyGILState_Ensure();
  if (!is_new) return false;
  BodyThread* thread = calloc(1, sizeof *thread);
  if (thread == NULL) return false;
  thread->state = PyThreadState_Get();
  thread->ident = PyThread_get_thread_ident();
  thread->next = body_threads;
  if (body_threads) body_threads->previous = thread;
  body_threads = thread;
  own_thread = thread;
  pthread_setspecific(thread_key, thread);
  return true;
}

static void leave(bool is_new, PyGILState_STATE state) {
  if (is_new)
    PyEval_SaveThread(); /* keeps the state: making one for each body would take longer than most bodies */
  else
    PyGILState_Release(state);
}

/* ---- bodies */

/* What a body gets of a datum. */
static PyObject* array_of(Handle* handle, const fairlead_view* view) {
  const int writes = view->access != FAIRLEAD_IN;
  PyObject* array = handle->last[writes].array;
  if (array == NULL || handle->last[writes].address != view->address) {
    array = PyObject_CallMethod(handle->layout, "view", "KLLLi", (unsigned long long)(uintptr_t)view->address,
                                (long long)view->strides[0], (long long)view->strides[1], (long long)view->strides[2],
                                writes);
    if (array == NULL) return NULL;
    PyObject* before = handle->last[writes].array;
    handle->last[writes].array = array;
    handle->last[writes].address = view->address;
    Py_XDECREF(before);
  }
  Py_INCREF(array);
  PyObject* given = PyObject_CallMethodObjArgs(array, module.view, NULL);
  Py_DECREF(array);
  return given;
}

/* The result of the function for a task, or null with an exception. */
static PyObject* result_of(const Body* body, PyObject* kept, const fairlead_view* views) {
  const Py_ssize_t count = PyTuple_Size(kept) - kept_count;
  PyObject* arguments = PyTuple_New(count);
  if (arguments == NULL) return NULL;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* given = PyTuple_GetItem(kept, i);
    if ((i < body->count ? body->modes[i] : body->list_mode) >= 0) {
      given = array_of((Handle*)given, views++);
      if (given == NULL) {
        Py_DECREF(arguments);
        return NULL;
      }
    } else {
      Py_INCREF(given);
    }
    PyTuple_SetItem(arguments, i, given);
  }
  PyObject* keywords = PyTuple_GetItem(kept, count + kept_keywords);
  PyObject* result = PyObject_Call(body->function, arguments, keywords == Py_None ? NULL : keywords);
  Py_DECREF(arguments);
  return result;
}

/* Gives the exception of a body to its flow, which returns its number. */
static int keep_exception(PyObject* flow) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != NULL) PyException_SetTraceback(value, traceback);
  int number = -1;
  PyObject* result = PyObject_CallMethodObjArgs(flow, module.keep, value, NULL);
  if (result != NULL) number = (int)PyLong_AsLong(result);
  PyErr_Clear();
  Py_XDECREF(result);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return number == 0 ? -1 : number;
}

static int run_body(const fairlead_call* call) {
  PyGILState_STATE state;
  const bool is_new = enter(&state);
  uint64_t* word = call->arguments;
  PyObject* kept = (PyObject*)(uintptr_t)*word;
  *word = 0;
  PyObject* flow = PyTuple_GetItem(kept, PyTuple_Size(kept) - kept_count + kept_flow);
  if (((TaskBuffer*)flow)->interrupted) {
    Py_DECREF(kept);
    leave(is_new, state);
    return -1;
  }
  BodyThread* thread = own_thread;
  if (thread != NULL) thread->flow = flow;
  PyObject* result = result_of(call->context, kept, call->views);
  if (thread != NULL) {
    thread->flow = NULL;
    if (thread->interrupted) {
      thread->interrupted = false;
      PyThreadState_SetAsyncExc(thread->ident, NULL); /* the body may have ended before it was raised */
    }
  }
  int status = 0;
  if (result != NULL)
    Py_DECREF(result);
  else
    status = keep_exception(flow);
  Py_DECREF(kept);
  leave(is_new, state);
  return status;
}

/* Of a task that did not run. */
static void release_task(void* context, void* arguments) {
  (void)context;
  uint64_t* word = arguments;
  PyObject* kept = (PyObject*)(uintptr_t)*word;
  if (kept == NULL || !Py_IsInitialized()) return;
  *word = 0;
  PyGILState_STATE state;
  const bool is_new = enter(&state);
  Py_DECREF(kept);
  leave(is_new, state);
}

/* ---- submission */

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_due(TaskBuffer* self, bool first) {
  if (self->count >= words_at_once) return true;
  const int64_t now = now_ms();
  if (first) self->first_ms = now;
  return now - self->first_ms >= milliseconds_at_once;
}

static bool make_room(TaskBuffer* self, size_t words) {
  if (self->count + words <= self->room) return true;
  const size_t room = self->room * 2 > self->count + words ? self->room * 2 : self->count + words + words_at_once / 8;
  uint64_t* larger = PyMem_Realloc(self->words, room * sizeof *larger);
  if (larger == NULL) {
    PyErr_NoMemory();
    return false;
  }
  self->words = larger;
  self->room = room;
  return true;
}

/* Sets the code object and the name of its file. */
static bool set_code(TaskBuffer* self, PyObject* code) {
  PyObject* name = PyObject_GetAttr(code, module.co_filename);
  PyObject* number = name == NULL ? NULL : PyObject_CallMethodObjArgs((PyObject*)self, module.file_word, name, NULL);
  Py_XDECREF(name);
  if (number == NULL) return false;
  self->file = PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  memset(self->lines, 0, sizeof self->lines);
  PyObject* before = self->code;
  Py_INCREF(code);
  self->code = code;
  Py_XDECREF(before);
  return true;
}

/* The line of the caller, or -1 with an exception. */
static int line_of(TaskBuffer* self, PyFrameObject* frame) {
  PyObject* code = (PyObject*)PyFrame_GetCode(frame);
  const bool known = code == self->code || set_code(self, code);
  Py_DECREF(code);
  PyObject* position = known ? PyObject_GetAttr((PyObject*)frame, module.f_lasti) : NULL;
  if (position == NULL) return -1;
  const long after = PyLong_AsLong(position) + 1;
  Py_DECREF(position);
  const size_t at = (size_t)(after / 2) % known_lines;
  if (self->lines[at].after != after || after <= 0) {
    self->lines[at].after = after;
    self->lines[at].line = PyFrame_GetLineNumber(frame);
  }
  return self->lines[at].line;
}

/* Writes the head of a task, for which there is room: the caller's line is that of the submission. */
static bool write_head(TaskBuffer* self, uint64_t codelet, long priority, size_t data, size_t arguments) {
  PyFrameObject* frame = PyEval_GetFrame();
  const int line = frame == NULL ? 0 : line_of(self, frame);
  if (line < 0) return false;
  uint64_t* at = self->words + self->count;
  at[0] = codelet;
  at[1] = (uint64_t)(int64_t)priority;
  at[2] = frame == NULL ? 0 : self->file;
  at[3] = (uint64_t)line;
  at[4] = data + ((uint64_t)arguments << 32);
  self->count += head_words;
  return true;
}

static const Handle* datum_in(PyObject* given, const char* what) {
  if (PyObject_TypeCheck(given, module.handle)) return (const Handle*)given;
  PyObject* name = PyObject_GetAttrString((PyObject*)Py_TYPE(given), "__name__");
  if (name != NULL)
    PyErr_Format(PyExc_TypeError,
                 "%s is given a %U where it needs a datum: a tile of a matrix, or the result of Runtime.data", what, name);
  Py_XDECREF(name);
  return NULL;
}

/* Keeps a reference to `kept`, the arguments and what follows them, if it returns true. */
static bool add_task(TaskBuffer* self, const Body* body, PyObject* kept, long priority) {
  const Py_ssize_t arguments = PyTuple_Size(kept) - kept_count;
  size_t data = 0;
  if (!make_room(self, head_words + (size_t)arguments + 1)) return false;
  const size_t start = self->count;
  uint64_t* at = self->words + start + head_words;
  for (Py_ssize_t i = 0; i < arguments; ++i) {
    if ((i < body->count ? body->modes[i] : body->list_mode) < 0) continue;
    const Handle* datum = datum_in(PyTuple_GetItem(kept, i), "a task");
    if (datum == NULL) return false;
    at[data++] = datum->word;
  }
  at[data] = (uint64_t)(uintptr_t)kept;
  if (!write_head(self, body->word, priority, data, 1)) return false;
  self->count += data + 1;
  Py_INCREF(kept);
  return true;
}

/* A tuple of the arguments and of what follows them. */
static PyObject* kept_of(TaskBuffer* self, Body* body, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  PyObject* kept = PyTuple_New(count + kept_count);
  if (kept == NULL) return NULL;
  for (Py_ssize_t i = 0; i < count; ++i) {
    Py_INCREF(arguments[i]);
    PyTuple_SetItem(kept, i, arguments[i]);
  }
  PyObject* const last[kept_count] = {keywords, (PyObject*)self, (PyObject*)body};
  for (Py_ssize_t i = 0; i < kept_count; ++i) {
    Py_INCREF(last[i]);
    PyTuple_SetItem(kept, count + i, last[i]);
  }
  return kept;
}

/* With defaults, keywords and any number of arguments: the codelet's method `bind` puts them in order. */
static PyObject* bound_task(TaskBuffer* self, Body* body, PyObject* const* arguments, Py_ssize_t count, PyObject* named) {
  PyObject* given = PyTuple_New(count);
  if (given == NULL) return NULL;
  for (Py_ssize_t i = 0; i < count; ++i) {
    Py_INCREF(arguments[i]);
    PyTuple_SetItem(given, i, arguments[i]);
  }
  PyObject* bound = PyObject_CallMethodObjArgs((PyObject*)body, module.bind, given, named, NULL);
  Py_DECREF(given);
  if (bound == NULL) return NULL;
  PyObject* kept = NULL;
  PyObject* ordered = PyTuple_GetItem(bound, 0);
  PyObject* keywords = PyTuple_GetItem(bound, 1);
  if (ordered != NULL && keywords != NULL) {
    const Py_ssize_t size = PyTuple_Size(ordered);
    PyObject** items = PyMem_Malloc(sizeof(PyObject*) * (size_t)(size + 1));
    if (items == NULL) {
      PyErr_NoMemory();
    } else {
      for (Py_ssize_t i = 0; i < size; ++i) items[i] = PyTuple_GetItem(ordered, i);
      kept = kept_of(self, body, items, size, keywords);
      PyMem_Free(items);
    }
  }
  Py_DECREF(bound);
  return kept;
}

static bool add_kernel(TaskBuffer* self, KernelBase* kernel, PyObject* const* tiles, Py_ssize_t count, long priority) {
  if (!make_room(self, head_words + (size_t)count)) return false;
  uint64_t* at = self->words + self->count + head_words;
  int element = -1;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Handle* tile = datum_in(tiles[i], "a kernel");
    if (tile == NULL) return false;
    if (i == 0) element = tile->element;
    if (tile->element != element) element = -1;
    at[i] = tile->word;
  }
  uint64_t word = element < 0 ? 0 : self->kernels[kernel->number][element];
  if (word == 0) {
    PyObject* dtype = PyLong_FromLong(element);
    PyObject* number =
        dtype == NULL ? NULL : PyObject_CallMethodObjArgs((PyObject*)self, module.kernel_word, kernel, dtype, NULL);
    Py_XDECREF(dtype);
    if (number == NULL) return false;
    word = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if (PyErr_Occurred()) return false;
    self->kernels[kernel->number][element] = word;
  }
  if (!write_head(self, word, priority, (size_t)count, 0)) return false;
  self->count += (size_t)count;
  return true;
}

/* Discards tasks that were not submitted. */
static void drop_words(uint64_t* words, size_t count) {
  for (size_t at = 0; at < count;) {
    const uint64_t counts = words[at + head_words - 1];
    const size_t data = counts & 0xffffffff, arguments = counts >> 32;
    if (arguments == 1) Py_DECREF((PyObject*)(uintptr_t)words[at + head_words + data]);
    at += head_words + data + arguments;
  }
}

/* The words of this number of tasks. */
static size_t words_of(const uint64_t* words, size_t tasks) {
  size_t at = 0;
  for (; tasks > 0; --tasks) {
    const uint64_t counts = words[at + head_words - 1];
    at += head_words + (counts & 0xffffffff) + (counts >> 32);
  }
  return at;
}

static PyObject* buffer_flush(PyObject* given, PyObject* unused) {
  (void)unused;
  TaskBuffer* self = (TaskBuffer*)given;
  if (self->count == 0) Py_RETURN_NONE;
  uint64_t* words = self->words;
  const size_t count = self->count;
  self->words = NULL;
  self->count = self->room = 0;
  size_t submitted = 0;
  fairlead_status status = FAIRLEAD_OK;
  Py_BEGIN_ALLOW_THREADS
  status = module.submit_words(self->flow, words, count, &submitted);
  Py_END_ALLOW_THREADS
  const size_t done = words_of(words, submitted);
  drop_words(words + done, count - done);
  if (self->words == NULL) {
    self->words = words;
    self->room = count;
  } else {
    PyMem_Free(words);
  }
  PyObject* number = PyLong_FromLong(status);
  PyObject* result = number == NULL ? NULL : PyObject_CallMethodObjArgs(given, module.check, number, NULL);
  Py_XDECREF(number);
  return result;
}

static PyObject* buffer_drop(PyObject* given, PyObject* unused) {
  (void)unused;
  TaskBuffer* self = (TaskBuffer*)given;
  const size_t count = self->count;
  self->count = 0;
  drop_words(self->words, count);
  Py_RETURN_NONE;
}

/* Raises the exception in its bodies that are running; no others start. */
static PyObject* buffer_interrupt(PyObject* given, PyObject* exception) {
  ((TaskBuffer*)given)->interrupted = true;
  for (BodyThread* thread = body_threads; thread; thread = thread->next)
    if (thread->flow == given) {
      thread->interrupted = true;
      PyThreadState_SetAsyncExc(thread->ident, exception);
    }
  Py_RETURN_NONE;
}

static PyObject* buffer_submit(PyObject* given, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  TaskBuffer* self = (TaskBuffer*)given;
  if (self->flow == NULL) {
    PyErr_SetString(PyExc_ValueError, "the flow is closed");
    return NULL;
  }
  if (count < 1) {
    PyErr_SetString(PyExc_TypeError, "submit() needs a codelet or a kernel");
    return NULL;
  }
  long priority = 0;
  PyObject* named = NULL;
  bool added = false;
  for (Py_ssize_t i = 0, n = names == NULL ? 0 : PyTuple_Size(names); i < n; ++i) {
    PyObject* name = PyTuple_GetItem(names, i);
    if (name == module.priority || PyUnicode_Compare(name, module.priority) == 0) {
      priority = PyLong_AsLong(arguments[count + i]);
      if (priority != (int32_t)priority && !PyErr_Occurred()) PyErr_SetString(PyExc_OverflowError, "the priority is too large");
      if (PyErr_Occurred()) goto end;
      continue;
    }
    if (named == NULL) named = PyDict_New();
    if (named == NULL || PyDict_SetItem(named, name, arguments[count + i]) != 0) goto end;
  }
  const bool is_first = self->count == 0;
  PyObject* codelet = arguments[0];
  if (PyObject_TypeCheck(codelet, module.body)) {
    Body* body = (Body*)codelet;
    const bool simple = named == NULL && body->simple && count - 1 == body->count;
    PyObject* kept;
    if (simple) {
      kept = kept_of(self, body, arguments + 1, count - 1, Py_None);
    } else {
      if (named == NULL) named = PyDict_New();
      kept = named == NULL ? NULL : bound_task(self, body, arguments + 1, count - 1, named);
    }
    added = kept != NULL && add_task(self, body, kept, priority);
    Py_XDECREF(kept);
  } else if (!PyObject_TypeCheck(codelet, module.kernel)) {
    PyErr_SetString(PyExc_TypeError, "submit() needs a codelet or a kernel first: decorate the function with fairlead.codelet");
  } else if (named != NULL) {
    PyErr_SetString(PyExc_TypeError, "a kernel has only tiles as arguments");
  } else {
    added = add_kernel(self, (KernelBase*)codelet, arguments + 1, count - 1, priority);
  }
end:
  Py_XDECREF(named);
  if (!added) return NULL;
  if (is_due(self, is_first)) return buffer_flush(given, NULL);
  Py_RETURN_NONE;
}

/* ---- the types */

static void free_object(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static int handle_init(PyObject* given, PyObject* arguments, PyObject* named) {
  static char* names[] = {"owner", "word", "layout", "element", NULL};
  PyObject *owner, *layout;
  unsigned long long word;
  int element;
  if (!PyArg_ParseTupleAndKeywords(arguments, named, "OKOi", names, &owner, &word, &layout, &element)) return -1;
  Handle* self = (Handle*)given;
  self->word = word;
  self->element = element >= 0 && element < element_count ? element : -1;
  Py_INCREF(owner);
  Py_INCREF(layout);
  Py_XDECREF(self->owner);
  Py_XDECREF(self->layout);
  self->owner = owner;
  self->layout = layout;
  return 0;
}
static void handle_dealloc(PyObject* given) {
  Handle* self = (Handle*)given;
  Py_XDECREF(self->last[0].array);
  Py_XDECREF(self->last[1].array);
  Py_XDECREF(self->layout);
  Py_XDECREF(self->owner);
  free_object(given);
}
static PyMemberDef handle_members[] = {{"_handle", T_ULONGLONG, offsetof(Handle, word), READONLY, NULL},
                                       {"_element", T_INT, offsetof(Handle, element), READONLY, NULL},
                                       {"_layout", T_OBJECT_EX, offsetof(Handle, layout), READONLY, NULL},
                                       {"_owner", T_OBJECT_EX, offsetof(Handle, owner), READONLY, NULL},
                                       {NULL, 0, 0, 0, NULL}};
static PyType_Slot handle_slots[] = {{Py_tp_init, handle_init},
                                     {Py_tp_new, PyType_GenericNew},
                                     {Py_tp_dealloc, handle_dealloc},
                                     {Py_tp_members, handle_members},
                                     {0, NULL}};
static PyType_Spec handle_spec = {"fairlead._tasks.Handle", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                  handle_slots};

static int body_init(PyObject* given, PyObject* arguments, PyObject* named) {
  static char* names[] = {"function", "modes", "list_mode", "simple", NULL};
  PyObject *function, *modes;
  int list_mode, simple;
  if (!PyArg_ParseTupleAndKeywords(arguments, named, "OO!ip", names, &function, &PyTuple_Type, &modes, &list_mode, &simple))
    return -1;
  Body* self = (Body*)given;
  const Py_ssize_t count = PyTuple_Size(modes);
  signed char* copy = PyMem_Malloc((size_t)count + 1);
  if (copy == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) copy[i] = (signed char)PyLong_AsLong(PyTuple_GetItem(modes, i));
  if (PyErr_Occurred()) {
    PyMem_Free(copy);
    return -1;
  }
  PyMem_Free(self->modes);
  self->modes = copy;
  self->count = count;
  self->list_mode = list_mode;
  self->simple = simple != 0;
  Py_INCREF(function);
  Py_XDECREF(self->function);
  self->function = function;
  return 0;
}
static int body_traverse(PyObject* given, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(given));
  Py_VISIT(((Body*)given)->function);
  return 0;
}
static int body_clear(PyObject* given) {
  Py_CLEAR(((Body*)given)->function);
  return 0;
}
static void body_dealloc(PyObject* given) {
  PyObject_GC_UnTrack(given);
  body_clear(given);
  PyMem_Free(((Body*)given)->modes);
  free_object(given);
}
static PyMemberDef body_members[] = {{"_handle", T_ULONGLONG, offsetof(Body, word), 0, NULL},
                                     {"function", T_OBJECT_EX, offsetof(Body, function), READONLY, NULL},
                                     {NULL, 0, 0, 0, NULL}};
static PyType_Slot body_slots[] = {{Py_tp_init, body_init},         {Py_tp_new, PyType_GenericNew},
                                   {Py_tp_traverse, body_traverse}, {Py_tp_clear, body_clear},
                                   {Py_tp_dealloc, body_dealloc},   {Py_tp_members, body_members},
                                   {0, NULL}};
static PyType_Spec body_spec = {"fairlead._tasks.Body", sizeof(Body), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, body_slots};

static int kernel_init(PyObject* given, PyObject* arguments, PyObject* named) {
  static char* names[] = {"number", NULL};
  int number;
  if (!PyArg_ParseTupleAndKeywords(arguments, named, "i", names, &number)) return -1;
  if (number < 0 || number >= kernel_count) {
    PyErr_SetString(PyExc_ValueError, "there is no such kernel");
    return -1;
  }
  ((KernelBase*)given)->number = number;
  return 0;
}
static PyMemberDef kernel_members[] = {{"_number", T_INT, offsetof(KernelBase, number), READONLY, NULL},
                                       {NULL, 0, 0, 0, NULL}};
static PyType_Slot kernel_slots[] = {{Py_tp_init, kernel_init},
                                     {Py_tp_new, PyType_GenericNew},
                                     {Py_tp_dealloc, free_object},
                                     {Py_tp_members, kernel_members},
                                     {0, NULL}};
static PyType_Spec kernel_spec = {"fairlead._tasks.KernelBase", sizeof(KernelBase), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, kernel_slots};

static void buffer_dealloc(PyObject* given) {
  TaskBuffer* self = (TaskBuffer*)given;
  drop_words(self->words, self->count);
  PyMem_Free(self->words);
  Py_XDECREF(self->code);
  free_object(given);
}
static PyMethodDef buffer_methods[] = {
    {"submit", (PyCFunction)(void (*)(void))buffer_submit, METH_FASTCALL | METH_KEYWORDS,
     "submit($self, codelet, /, *arguments, priority=0, **named)\n--\n\n"
     "Add a task. It may start at once, when the tasks before it with which it shares data have finished.\n\n"
     "Parameters\n----------\ncodelet : Codelet or Kernel\n*arguments\n"
     "    A datum for each parameter annotated with In, Out or InOut, and values for the others, which the task keeps.\n"
     "priority : int\n    Tasks with a higher one come first."},
    {"flush", buffer_flush, METH_NOARGS,
     "flush($self, /)\n--\n\nGive the library the tasks that were collected. Other functions do this when it is needed."},
    {"_interrupt", buffer_interrupt, METH_O, "Raise the exception in bodies that are running, and start no others."},
    {"_drop", buffer_drop, METH_NOARGS, "Discard the tasks that were collected."},
    {NULL, NULL, 0, NULL}};
static PyMemberDef buffer_members[] = {{"_handle", T_ULONGLONG, offsetof(TaskBuffer, flow), 0, NULL},
                                       {NULL, 0, 0, 0, NULL}};
static PyType_Slot buffer_slots[] = {{Py_tp_new, PyType_GenericNew},
                                     {Py_tp_dealloc, buffer_dealloc},
                                     {Py_tp_methods, buffer_methods},
                                     {Py_tp_members, buffer_members},
                                     {0, NULL}};
static PyType_Spec buffer_spec = {"fairlead._tasks.TaskBuffer", sizeof(TaskBuffer), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, buffer_slots};

static int grid_init(PyObject* given, PyObject* arguments, PyObject* named) {
  static char* names[] = {"tiles", "columns", NULL};
  PyObject* tiles;
  Py_ssize_t columns;
  if (!PyArg_ParseTupleAndKeywords(arguments, named, "O!n", names, &PyList_Type, &tiles, &columns)) return -1;
  Grid* self = (Grid*)given;
  Py_INCREF(tiles);
  Py_XDECREF(self->tiles);
  self->tiles = tiles;
  self->columns = columns;
  return 0;
}
/* The tile of two numbers from 0 on; the method `_missing` serves all others. */
static PyObject* grid_subscript(PyObject* given, PyObject* at) {
  const Grid* self = (const Grid*)given;
  if (self->tiles != NULL && PyTuple_Check(at) && PyTuple_Size(at) == 2) {
    PyObject *row_number = PyTuple_GetItem(at, 0), *column_number = PyTuple_GetItem(at, 1);
    if (PyLong_Check(row_number) && PyLong_Check(column_number)) {
      const Py_ssize_t row = PyLong_AsSsize_t(row_number), column = PyLong_AsSsize_t(column_number);
      PyErr_Clear(); /* numbers that are too large are -1 */
      if (row >= 0 && column >= 0 && column < self->columns && row < PyList_Size(self->tiles) / self->columns) {
        PyObject* tile = PyList_GetItem(self->tiles, row * self->columns + column);
        if (tile != Py_None) {
          Py_INCREF(tile);
          return tile;
        }
      }
    }
  }
  return PyObject_CallMethodObjArgs(given, module.tile_missing, at, NULL);
}
static void grid_dealloc(PyObject* given) {
  Py_XDECREF(((Grid*)given)->tiles);
  free_object(given);
}
static PyMemberDef grid_members[] = {{"_tiles", T_OBJECT_EX, offsetof(Grid, tiles), READONLY, NULL},
                                     {NULL, 0, 0, 0, NULL}};
static PyType_Slot grid_slots[] = {{Py_tp_init, grid_init},
                                   {Py_tp_new, PyType_GenericNew},
                                   {Py_tp_dealloc, grid_dealloc},
                                   {Py_tp_members, grid_members},
                                   {Py_mp_subscript, grid_subscript},
                                   {0, NULL}};
static PyType_Spec grid_spec = {"fairlead._tasks.Grid", sizeof(Grid), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                grid_slots};

/* ---- the module */

static PyObject* connect(PyObject* self, PyObject* address) {
  (void)self;
  const unsigned long long given = PyLong_AsUnsignedLongLong(address);
  if (PyErr_Occurred()) return NULL;
  module.submit_words = (SubmitWords)(uintptr_t)given;
  Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"connect", connect, METH_O, "Sets the address of fairlead_flow_submit_words()."},
    {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_tasks", NULL, -1, module_methods, NULL, NULL, NULL, NULL};

static bool add_type(PyObject* to, const char* name, PyType_Spec* spec, PyTypeObject** type) {
  *type = (PyTypeObject*)PyType_FromSpec(spec);
  if (*type == NULL) return false;
  Py_INCREF(*type);
  return PyModule_AddObject(to, name, (PyObject*)*type) == 0;
}

static bool add_address(PyObject* to, const char* name, uintptr_t address) {
  PyObject* number = PyLong_FromUnsignedLongLong(address);
  return number != NULL && PyModule_AddObject(to, name, number) == 0;
}

PyMODINIT_FUNC PyInit__tasks(void) {
  PyObject* made = PyModule_Create(&definition);
  if (made == NULL) return NULL;
  const struct {
    PyObject** name;
    const char* text;
  } names[] = {{&module.view, "view"},
               {&module.bind, "bind"},
               {&module.keep, "_keep"},
               {&module.check, "_check"},
               {&module.kernel_word, "_kernel_word"},
               {&module.file_word, "_file_word"},
               {&module.priority, "priority"},
               {&module.tile_missing, "_missing"},
               {&module.co_filename, "co_filename"},
               {&module.f_lasti, "f_lasti"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if ((*names[i].name = PyUnicode_InternFromString(names[i].text)) == NULL) return NULL;
  if (pthread_key_create(&thread_key, end_thread) != 0) return PyErr_NoMemory();
  if (!add_type(made, "Handle", &handle_spec, &module.handle) || !add_type(made, "Body", &body_spec, &module.body) ||
      !add_type(made, "KernelBase", &kernel_spec, &module.kernel) ||
      !add_type(made, "TaskBuffer", &buffer_spec, &module.buffer) ||
      !add_type(made, "Grid", &grid_spec, &module.grid) ||
      !add_address(made, "body_function", (uintptr_t)&run_body) ||
      !add_address(made, "release_function", (uintptr_t)&release_task)) {
    Py_DECREF(made);
    return NULL;
  }
  return made;
}
