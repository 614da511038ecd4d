/* The functions of the MPI-5 ABI that trajgpt calls, on MPICH: handles are pointers instead of MPICH's integers. */
#include <dlfcn.h>
#include <stdint.h>

static void *mpich(const char *name) {
	static void *library;
	if (!library) library = dlopen("libmpich.so.12", RTLD_NOW | RTLD_LOCAL);
	return dlsym(library, name);
}

static int handle(void *abi) {
	switch ((intptr_t)abi) {
	case 0x101: return 0x44000000; /* MPI_COMM_WORLD */
	case 0x247: return 0x4c00010d; /* MPI_BYTE */
	default: return 0;
	}
}

#define CALL(name, ...) ((int (*)())mpich(name))(__VA_ARGS__)

int MPI_Get_library_version(char *text, int *length) { return CALL("MPI_Get_library_version", text, length); }
int MPI_Init_thread(void *argc, void *argv, int level, int *given) { return CALL("MPI_Init_thread", argc, argv, level, given); }
int MPI_Finalize(void) { return CALL("MPI_Finalize"); }
int MPI_Comm_rank(void *c, int *rank) { return CALL("MPI_Comm_rank", handle(c), rank); }
int MPI_Comm_size(void *c, int *size) { return CALL("MPI_Comm_size", handle(c), size); }
int MPI_Barrier(void *c) { return CALL("MPI_Barrier", handle(c)); }
int MPI_Abort(void *c, int code) { return CALL("MPI_Abort", handle(c), code); }
int MPI_Bcast(void *b, int n, void *t, int root, void *c) { return CALL("MPI_Bcast", b, n, handle(t), root, handle(c)); }
int MPI_Send(void *b, int n, void *t, int to, int tag, void *c) { return CALL("MPI_Send", b, n, handle(t), to, tag, handle(c)); }
int MPI_Recv(void *b, int n, void *t, int from, int tag, void *c, void *status) { return CALL("MPI_Recv", b, n, handle(t), from, tag, handle(c), status); }
int MPI_Alltoall(void *a, int n, void *t, void *b, int m, void *u, void *c) { return CALL("MPI_Alltoall", a, n, handle(t), b, m, handle(u), handle(c)); }
int MPI_Allgather(void *a, int n, void *t, void *b, int m, void *u, void *c) { return CALL("MPI_Allgather", a, n, handle(t), b, m, handle(u), handle(c)); }
