/*
 * A PJRT plugin without a device, for tests of the binding. It checks the size of every struct, counts what lives,
 * and notes every misuse: see FakeCounts and FakeMisuse at the end.
 *
 * It computes nothing: in a run, a result that takes over the memory of a float32 argument is that argument plus
 * 1/1024, and any other result is filled with the number of the run, counted from 1.
 *
 * FAKE_PJRT is a list of faults: no-device, create-fails, refuses-options, no-memory-compiling, no-memory-running,
 * no-memory-later, no-memory-loading, damaged, old, short, needs-flags. FAKE_PJRT_DEVICES is the number of devices.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_ARGUMENT = 3, RESOURCE_EXHAUSTED = 8, UNIMPLEMENTED = 12, INTERNAL = 13 };
enum { MOST_VALUES = 2048, MOST_DEVICES = 8 };

typedef struct {
  int code;
  char message[200];
} Error;

typedef enum { CLIENT, LOADED, EXECUTABLE, BUFFER, EVENT, ERROR, SERIALIZED, KINDS } Kind;
static const char *kind_names[] = {"client", "loaded executable", "executable", "buffer",
                                   "event",  "error",             "serialized"};

/* Objects are never freed, so that a second use is seen. */
typedef struct {
  Kind kind;
  int destroyed;
  void *body;
} Object;

typedef struct {
  int64_t dims[8];
  size_t rank;
  char type[8];
  size_t bytes;
} Type;

typedef struct {
  char *text;
  size_t replicas;
  size_t arguments, outputs;
  Type argument[MOST_VALUES], output[MOST_VALUES];
  int aliased[MOST_VALUES]; /* the output that takes over an argument's memory, or -1 */
} Program;

typedef struct {
  Object *client;
  size_t device;
  size_t bytes;
  uint8_t *data;
  int donated;
  int failed;
} BufferBody;

typedef struct {
  int polls; /* not ready before it was asked this often */
  int failed;
} EventBody;

static int64_t live[KINDS];
static int64_t compiled, runs;
static char misuse[400];

static void note(const char *what, const char *of) {
  if (!misuse[0]) snprintf(misuse, sizeof misuse, "%s: %s", what, of);
}

static int has(const char *fault) {
  const char *faults = getenv("FAKE_PJRT");
  return faults && strstr(faults, fault);
}

static Object *make(Kind kind, void *body) {
  Object *made = calloc(1, sizeof *made);
  made->kind = kind;
  made->body = body;
  __atomic_add_fetch(&live[kind], 1, __ATOMIC_SEQ_CST);
  return made;
}

static Object *fail(int code, const char *message) {
  Error *error = calloc(1, sizeof *error);
  error->code = code;
  snprintf(error->message, sizeof error->message, "%s", message);
  return make(ERROR, error);
}

static void *used(Object *object, Kind kind) {
  if (!object) {
    note("null", kind_names[kind]);
    return NULL;
  }
  if (object->kind != kind) note("used as another kind", kind_names[kind]);
  if (object->destroyed) note("used after it was destroyed", kind_names[kind]);
  return object->body;
}

static Object *destroy(Object *object, Kind kind) {
  if (object && object->destroyed) {
    note("destroyed twice", kind_names[kind]);
    return NULL;
  }
  used(object, kind);
  object->destroyed = 1;
  __atomic_sub_fetch(&live[kind], 1, __ATOMIC_SEQ_CST);
  return NULL;
}

/* Every struct begins like this. */
#define ARGS(...)                                                                                  \
  struct {                                                                                         \
    size_t struct_size;                                                                            \
    void *extension;                                                                               \
    __VA_ARGS__                                                                                    \
  }
#define CHECK(type)                                                                                \
  if (args->struct_size < sizeof(type) || args->extension) {                                       \
    note("wrong struct", #type);                                                                   \
    return fail(INVALID_ARGUMENT, "wrong struct " #type);                                          \
  }

typedef ARGS(Object *handle;) DestroyArgs;
#define DESTROY(name, kind)                                                                        \
  static Object *name(DestroyArgs *args) {                                                         \
    CHECK(DestroyArgs)                                                                             \
    return destroy(args->handle, kind);                                                            \
  }
DESTROY(error_destroy, ERROR)
DESTROY(event_destroy, EVENT)
DESTROY(executable_destroy, EXECUTABLE)
DESTROY(loaded_destroy, LOADED)
DESTROY(buffer_destroy, BUFFER)

static Object *client_destroy(DestroyArgs *args) {
  CHECK(DestroyArgs)
  if (live[BUFFER] || live[LOADED]) note("destroyed before what was made on it", "client");
  return destroy(args->handle, CLIENT);
}

typedef ARGS(Object *of; const char *text; size_t length;) TextArgs;
static Object *error_message(TextArgs *args) {
  CHECK(TextArgs)
  Error *error = used(args->of, ERROR);
  args->text = error->message;
  args->length = strlen(error->message);
  return NULL;
}

typedef ARGS(Object *error; int code; int padding;) CodeArgs;
static Object *error_code(CodeArgs *args) {
  CHECK(CodeArgs)
  args->code = ((Error *)used(args->error, ERROR))->code;
  return NULL;
}

typedef struct {
  size_t struct_size;
  void *extension;
} EmptyArgs;
static Object *initialize(EmptyArgs *args) {
  CHECK(EmptyArgs)
  return NULL;
}

typedef ARGS(const char *name; size_t name_size; int type; int padding; union {
  int64_t integer;
  float number;
  char truth;
} value; size_t value_size;) NamedValue;
_Static_assert(sizeof(NamedValue) == 56, "PJRT_NamedValue");

typedef ARGS(NamedValue *attributes; size_t count;) AttributesArgs;
static Object *attributes(AttributesArgs *args) {
  static int64_t version[] = {1, 13, 7};
  static NamedValue values[2] = {
      {.struct_size = 56, .name = "xla_version", .name_size = 11, .type = 1, .value.integer = 2, .value_size = 1},
      {.struct_size = 56, .name = "stablehlo_current_version", .name_size = 25, .type = 2, .value_size = 3},
  };
  CHECK(AttributesArgs)
  values[1].value.integer = (int64_t)version;
  args->attributes = values;
  args->count = 2;
  return NULL;
}

typedef ARGS(Object *event; char ready; char padding[7];) ReadyArgs;
static Object *event_ready(ReadyArgs *args) {
  CHECK(ReadyArgs)
  EventBody *body = used(args->event, EVENT);
  args->ready = body->polls-- <= 0;
  return NULL;
}

static Object *event_await(DestroyArgs *args) {
  CHECK(DestroyArgs)
  EventBody *body = used(args->handle, EVENT);
  return body->failed ? fail(RESOURCE_EXHAUSTED, "Out of memory, found out later") : NULL;
}

static Object *event(int polls, int failed) {
  EventBody *body = calloc(1, sizeof *body);
  body->polls = polls;
  body->failed = failed;
  return make(EVENT, body);
}

static size_t device_count(void) {
  const char *count = getenv("FAKE_PJRT_DEVICES");
  return has("no-device") ? 0 : count ? (size_t)atoi(count) : 1;
}
/* A device is a pointer into this array, and so is its description. */
static char devices[MOST_DEVICES];
static void *device_pointers[MOST_DEVICES];

typedef ARGS(NamedValue *options; size_t option_count; void *callbacks[4]; Object *client;
             void *more[2];) CreateArgs;
_Static_assert(sizeof(CreateArgs) == 88, "PJRT_Client_Create_Args");
static Object *client_create(CreateArgs *args) {
  CHECK(CreateArgs)
  if (has("create-fails")) return fail(INTERNAL, "no supported devices found for platform FAKE");
  const char *flags = getenv("XLA_FLAGS");
  if (has("needs-flags") && !(flags && strstr(flags, "triton-softmax-rewriter")))
    return fail(INTERNAL, "XLA_FLAGS does not disable triton-softmax-rewriter");
  if (has("refuses-options") && args->option_count > 0)
    return fail(INVALID_ARGUMENT, "Unexpected option name passed to PJRT_Client_Create");
  for (size_t i = 0; i < args->option_count; i++) {
    NamedValue *option = &args->options[i];
    int preallocate = option->name_size == 11 && !memcmp(option->name, "preallocate", 11);
    int fraction = option->name_size == 15 && !memcmp(option->name, "memory_fraction", 15);
    if (preallocate ? option->type != 4 || option->value.truth : !fraction || option->type != 3 || option->value.number != 0.5f)
      note("wrong option", option->name);
  }
  args->client = make(CLIENT, NULL);
  return NULL;
}

static Object *platform_name(TextArgs *args) {
  CHECK(TextArgs)
  used(args->of, CLIENT);
  args->text = "fake";
  args->length = 4;
  return NULL;
}
static Object *platform_version(TextArgs *args) {
  CHECK(TextArgs)
  used(args->of, CLIENT);
  const char *version = getenv("FAKE_PJRT_VERSION");
  args->text = version ? version : "fake 1";
  args->length = strlen(args->text);
  return NULL;
}

typedef ARGS(Object *client; void **devices; size_t count;) DevicesArgs;
static Object *addressable_devices(DevicesArgs *args) {
  CHECK(DevicesArgs)
  used(args->client, CLIENT);
  args->count = device_count();
  for (size_t i = 0; i < args->count; i++) device_pointers[i] = &devices[i];
  args->devices = device_pointers;
  return NULL;
}

typedef ARGS(void *device; void *description;) DescriptionArgs;
static Object *device_description(DescriptionArgs *args) {
  CHECK(DescriptionArgs)
  args->description = args->device;
  return NULL;
}
typedef ARGS(char *description; int id; int padding;) IdArgs;
static Object *description_id(IdArgs *args) {
  CHECK(IdArgs)
  args->id = (int)(args->description - devices);
  return NULL;
}
static Object *description_kind(TextArgs *args) {
  CHECK(TextArgs)
  args->text = "Fake GPU";
  args->length = 8;
  return NULL;
}

typedef ARGS(char *device; int64_t in_use, peak; int64_t has_peak, allocs, has_allocs, largest,
             has_largest, limit, has_limit, more[14];) MemoryArgs;
static Object *memory_stats(MemoryArgs *args) {
  CHECK(MemoryArgs)
  args->in_use = 1 << 20;
  args->peak = 1 << 21;
  *(char *)&args->has_peak = 1;
  args->limit = 1 << 30;
  *(char *)&args->has_limit = 1;
  return NULL;
}

/* tensor<2x3xf32>, from the text after "tensor<"; returns the text after it. */
static const char *read_type(const char *text, Type *type) {
  *type = (Type){0};
  while (*text >= '0' && *text <= '9') {
    char *end;
    type->dims[type->rank++] = strtoll(text, &end, 10);
    text = end + 1;
  }
  size_t length = strcspn(text, ">,");
  snprintf(type->type, sizeof type->type, "%.*s", (int)length, text);
  type->bytes = !strcmp(type->type, "i1") ? 1 : !strcmp(type->type, "f64") ? 8 : 4;
  for (size_t i = 0; i < type->rank; i++) type->bytes *= (size_t)type->dims[i];
  return text + length;
}

static size_t read_types(const char *from, const char *to, Type *types) {
  size_t count = 0;
  const char *at;
  while ((at = strstr(from, "tensor<")) && at < to) from = read_type(at + 7, &types[count++]);
  return count;
}

/* The types and the donated arguments of @main: function_type = (…) -> (…), arg_attrs = [{…}, …]. */
static int read_program(Program *program) {
  const char *signature = strstr(program->text, "function_type = ");
  const char *arrow = signature ? strstr(signature, "->") : NULL;
  if (!arrow) return 0;
  const char *end = arrow + 2 + strspn(arrow + 2, " ");
  end += *end == '(' ? strcspn(end, ")") : strcspn(end, ">") + 1;
  program->arguments = read_types(signature, arrow, program->argument);
  program->outputs = read_types(arrow, end, program->output);
  for (size_t i = 0; i < MOST_VALUES; i++) program->aliased[i] = -1;
  const char *at = strstr(program->text, "arg_attrs = [");
  const char *close = at ? strchr(at, ']') : NULL;
  for (size_t i = 0; at && (at = strchr(at, '{')) && at < close; i++) {
    const char *ends = strchr(at, '}');
    const char *alias = strstr(at, "tf.aliasing_output = ");
    if (alias && alias < ends) program->aliased[i] = atoi(alias + 21);
    at = ends;
  }
  return 1;
}

static uint64_t varint(const uint8_t **at) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    uint8_t byte = *(*at)++;
    value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return value;
  }
}

/* num_replicas of executable_build_options of CompileOptionsProto; 0 if the bytes are none. */
static size_t replicas_of(const uint8_t *at, size_t size) {
  const uint8_t *end = at + size;
  size_t replicas = 0, assigned = 0;
  if (varint(&at) != ((3 << 3) | 2) || varint(&at) != (uint64_t)(end - at)) return 0;
  while (at < end) {
    uint64_t tag = varint(&at), value = varint(&at);
    if (tag == 4 << 3) replicas = value;
    if (tag == ((9 << 3) | 2)) {
      const uint8_t *inner = at;
      if (varint(&inner) == 1 << 3) assigned = varint(&inner);
      at += value;
    }
  }
  return assigned == replicas ? replicas : 0;
}

static int use_stack(size_t bytes) {
  volatile char room[1 << 16];
  for (size_t i = 0; i < sizeof room; i += 4096) room[i] = 1;
  return bytes > sizeof room ? room[0] + use_stack(bytes - sizeof room) : room[0];
}

static Object *loaded(const char *text, size_t size, size_t replicas, Object **made) {
  Program *program = calloc(1, sizeof *program);
  program->text = strndup(text, size);
  program->replicas = replicas;
  if (!read_program(program)) return fail(INVALID_ARGUMENT, "the program has no signature");
  *made = make(LOADED, program);
  return NULL;
}

typedef ARGS(const char *code; size_t code_size; const char *format; size_t format_size;) ProgramArgs;
typedef ARGS(Object *client; ProgramArgs *program; const uint8_t *options; size_t options_size;
             Object *executable;) CompileArgs;
static Object *compile(CompileArgs *compile_args) {
  CompileArgs *outer = compile_args;
  ProgramArgs *args = outer->program;
  CHECK(ProgramArgs)
  used(outer->client, CLIENT);
  use_stack(4 << 20); /* as a compiler does */
  if (has("no-memory-compiling")) return fail(RESOURCE_EXHAUSTED, "Out of memory while compiling");
  if (args->format_size != 4 || memcmp(args->format, "mlir", 4)) note("wrong format", "program");
  size_t replicas = replicas_of(outer->options, outer->options_size);
  if (replicas == 0) note("wrong compile options", "program");
  __atomic_add_fetch(&compiled, 1, __ATOMIC_SEQ_CST);
  return loaded(args->code, args->code_size, replicas, &outer->executable);
}

typedef ARGS(Object *loaded; Object *executable;) GetArgs;
static Object *get_executable(GetArgs *args) {
  CHECK(GetArgs)
  args->executable = make(EXECUTABLE, used(args->loaded, LOADED));
  return NULL;
}
typedef ARGS(Object *executable; size_t count;) OutputsArgs;
static Object *num_outputs(OutputsArgs *args) {
  CHECK(OutputsArgs)
  args->count = ((Program *)used(args->executable, EXECUTABLE))->outputs;
  return NULL;
}

static void delete_serialized(Object *object) { destroy(object, SERIALIZED); }
typedef ARGS(Object *executable; const char *bytes; size_t size; Object *serialized;
             void (*deleter)(Object *);) SerializeArgs;
static Object *serialize(SerializeArgs *args) {
  CHECK(SerializeArgs)
  Program *program = used(args->executable, EXECUTABLE);
  char *bytes = malloc(strlen(program->text) + 8);
  args->size = (size_t)sprintf(bytes, "FAKE%zu%s", program->replicas, program->text);
  args->bytes = bytes;
  args->serialized = make(SERIALIZED, bytes);
  args->deleter = delete_serialized;
  return NULL;
}
typedef ARGS(Object *client; const char *bytes; size_t size; Object *executable;
             void *more[3];) LoadArgs;
static Object *deserialize(LoadArgs *args) {
  CHECK(LoadArgs)
  used(args->client, CLIENT);
  if (has("no-memory-loading")) return fail(RESOURCE_EXHAUSTED, "Out of memory while loading");
  if (has("damaged") || args->size < 5 || memcmp(args->bytes, "FAKE", 4))
    return fail(INVALID_ARGUMENT, "not an executable");
  return loaded(args->bytes + 5, args->size - 5, (size_t)(args->bytes[4] - '0'), &args->executable);
}

static Object *buffer(Object *client, size_t device, size_t bytes) {
  BufferBody *body = calloc(1, sizeof *body);
  *body = (BufferBody){.client = client, .device = device, .bytes = bytes, .data = calloc(1, bytes + 1)};
  return make(BUFFER, body);
}

typedef ARGS(Object *client; const void *data; int type; int padding; int64_t *dims; size_t rank;
             int64_t *strides; size_t stride_count; int semantics; int padding2; char *device;
             void *memory; void *layout; Object *done; Object *buffer;) UploadArgs;
_Static_assert(sizeof(UploadArgs) == 120, "PJRT_Client_BufferFromHostBuffer_Args");
static Object *upload(UploadArgs *args) {
  CHECK(UploadArgs)
  used(args->client, CLIENT);
  if (args->device < devices || args->device >= devices + device_count()) note("not a device", "upload");
  size_t bytes = args->type == 1 ? 1 : args->type == 12 ? 8 : 4;
  for (size_t i = 0; i < args->rank; i++) bytes *= (size_t)args->dims[i];
  args->buffer = buffer(args->client, (size_t)(args->device - devices), bytes);
  memcpy(((BufferBody *)args->buffer->body)->data, args->data, bytes);
  args->done = event(0, 0);
  return NULL;
}

typedef ARGS(void *callbacks[4]; int launch; int padding; int64_t *kept; size_t kept_count;
             void *more[9];) RunOptions;
_Static_assert(sizeof(RunOptions) == 144, "PJRT_ExecuteOptions");
typedef ARGS(Object *executable; RunOptions *options; Object ***arguments; size_t device_count;
             size_t argument_count; Object ***outputs; Object **events; void *device;) RunArgs;
_Static_assert(sizeof(RunArgs) == 80, "PJRT_LoadedExecutable_Execute_Args");
static Object *execute(RunArgs *args) {
  CHECK(RunArgs)
  if (args->options->struct_size < sizeof(RunOptions)) note("wrong struct", "RunOptions");
  Program *program = used(args->executable, LOADED);
  if (has("no-memory-running")) return fail(RESOURCE_EXHAUSTED, "Out of memory while running");
  if (args->device_count != program->replicas || args->argument_count != program->arguments)
    return fail(INVALID_ARGUMENT, "wrong number of devices or arguments");
  for (size_t d = 0; d < args->device_count; d++)
    for (size_t i = 0; i < program->arguments; i++) {
      BufferBody *own = used(args->arguments[d][i], BUFFER);
      if (own->donated) return fail(INVALID_ARGUMENT, "Buffer has been deleted or donated.");
      if (own->device != d || own->bytes != program->argument[i].bytes)
        return fail(INVALID_ARGUMENT, "an argument is on another device, or of another size");
    }
  runs++;
  for (size_t d = 0; d < args->device_count; d++) {
    for (size_t o = 0; o < program->outputs; o++) {
      Object *made = buffer(((BufferBody *)args->arguments[d][0]->body)->client, d, program->output[o].bytes);
      BufferBody *result = made->body;
      result->failed = has("no-memory-later");
      for (size_t at = 0; at < result->bytes / 4; at++) {
        if (!strcmp(program->output[o].type, "f32")) ((float *)result->data)[at] = (float)runs;
        if (!strcmp(program->output[o].type, "i32")) ((int32_t *)result->data)[at] = (int32_t)runs;
      }
      args->outputs[d][o] = made;
    }
    for (size_t i = 0; i < program->arguments; i++) {
      if (program->aliased[i] < 0) continue;
      BufferBody *own = args->arguments[d][i]->body;
      BufferBody *result = args->outputs[d][program->aliased[i]]->body;
      if (own->bytes != result->bytes) note("donated to a result of another size", "argument");
      for (size_t at = 0; at < own->bytes / 4; at++)
        ((float *)result->data)[at] = ((float *)own->data)[at] + 1.0f / 1024;
      own->donated = 1;
      for (size_t k = 0; k < args->options->kept_count; k++)
        if (args->options->kept[k] == (int64_t)i) own->donated = 0;
    }
  }
  return NULL;
}

typedef ARGS(size_t tiled_size; void *tiled_extension; int64_t *minor_to_major; size_t rank;
             void *tiles; void *tile_sizes; size_t tile_count; int type;) Layout;
_Static_assert(sizeof(Layout) == 80, "PJRT_Buffer_MemoryLayout");
typedef ARGS(Object *source; Layout *layout; void *data; size_t size; Object *event;) DownloadArgs;
static Object *download(DownloadArgs *args) {
  CHECK(DownloadArgs)
  BufferBody *own = used(args->source, BUFFER);
  if (own->donated) return fail(INVALID_ARGUMENT, "Buffer has been deleted or donated.");
  if (args->size != own->bytes) note("wrong size", "download");
  Layout *layout = args->layout;
  if (layout->struct_size < 76 || layout->tiled_size != 56 || layout->type != 0) note("wrong struct", "Layout");
  for (size_t i = 0; i < layout->rank; i++)
    if (layout->minor_to_major[i] != (int64_t)(layout->rank - 1 - i)) note("wrong layout", "download");
  memcpy(args->data, own->data, own->bytes);
  args->event = event(1, own->failed);
  return NULL;
}

static struct {
  size_t struct_size;
  void *extension;
  size_t version_size;
  void *version_extension;
  int major, minor;
  void *slots[138];
} api;
_Static_assert(sizeof api == 1144, "PJRT_Api");

#define SLOT(offset, function) api.slots[((offset)-40) / 8] = (void *)(function)

void *GetPjrtApi(void) {
  api.struct_size = has("short") ? 480 : sizeof api;
  api.version_size = 24;
  api.minor = has("old") ? 40 : 114;
  SLOT(40, error_destroy);
  SLOT(48, error_message);
  SLOT(56, error_code);
  SLOT(64, initialize);
  SLOT(72, attributes);
  SLOT(80, event_destroy);
  SLOT(88, event_ready);
  SLOT(104, event_await);
  SLOT(120, client_create);
  SLOT(128, client_destroy);
  SLOT(136, platform_name);
  SLOT(152, platform_version);
  SLOT(168, addressable_devices);
  SLOT(200, compile);
  SLOT(216, upload);
  SLOT(224, description_id);
  SLOT(248, description_kind);
  SLOT(272, device_description);
  SLOT(312, memory_stats);
  SLOT(360, executable_destroy);
  SLOT(392, num_outputs);
  SLOT(432, serialize);
  SLOT(440, loaded_destroy);
  SLOT(448, get_executable);
  SLOT(480, execute);
  SLOT(488, deserialize);
  SLOT(504, buffer_destroy);
  SLOT(600, download);
  return &api;
}

/* What lives, by kind, then the programs compiled and the runs. */
void FakeCounts(int64_t *counts) {
  for (int kind = 0; kind < KINDS; kind++) counts[kind] = live[kind];
  counts[KINDS] = compiled;
  counts[KINDS + 1] = runs;
}

/* The first misuse, or an empty text; forgotten by this call. */
void FakeMisuse(char *text) {
  strcpy(text, misuse);
  misuse[0] = 0;
}
