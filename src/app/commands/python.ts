import { execFile } from "node:child_process";

export interface Torch {
	/** The interpreter that has PyTorch. */
	readonly python: string;
	readonly version: string;
	/** The BLAS: "mkl", "openblas", …; undefined for the reference BLAS, which is many times slower. */
	readonly blas: string | undefined;
}

// Debian puts python3-torch under /usr/bin/python3, which another python3 may hide.
const interpreters = ["python3", "/usr/bin/python3"];

// A first product loads the BLAS library, which then appears in the process's memory map (Linux).
const probe = `
import json, re, torch
torch.ones(8, 8) @ torch.ones(8, 8)
try:
    loaded = open("/proc/self/maps").read()
except OSError:
    loaded = ""
loaded += torch.__config__.show()
found = re.search("mkl_(?:core|rt)|openblas|accelerate|blis|armpl|atlas", loaded, re.I)
blas = "mkl" if torch.backends.mkl.is_available() else found.group(0).lower() if found else None
print(json.dumps({"version": torch.__version__, "blas": blas}))
`;

/** The first Python that has PyTorch, or undefined. Takes seconds: PyTorch loads slowly. */
export async function findTorch(): Promise<Torch | undefined> {
	for (const python of interpreters) {
		const printed = await outputOf(python, ["-c", probe]);
		if (printed === undefined) continue;
		const { version, blas } = JSON.parse(printed) as { version: string; blas: string | null };
		return { python, version, blas: blas ?? undefined };
	}
	return undefined;
}

/** A program's standard output, or undefined if it is missing, fails or takes over a minute. */
function outputOf(program: string, args: readonly string[]): Promise<string | undefined> {
	return new Promise((resolve) => {
		execFile(program, args, { timeout: 60_000 }, (error, stdout) => {
			resolve(error ? undefined : stdout.trim());
		});
	});
}
