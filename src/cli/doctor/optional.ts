import { findTorch } from "../python.js";

export interface Optional {
	readonly name: string;
	/** The version found, or null. */
	readonly found: string | null;
	readonly detail: string | null;
	readonly purpose: string;
	/** What to do if it is missing or slow. */
	readonly advice: string | null;
}

/** Optional programs; none is needed to train or to forecast. */
export function findOptional(): Promise<Optional[]> {
	return Promise.all([torch()]);
}

async function torch(): Promise<Optional> {
	const name = "PyTorch";
	const purpose = "the peer of the benchmarks, which run in a clone";
	const found = await findTorch();
	if (!found) return missing(name, purpose, "python3-torch libopenblas0-pthread");
	return {
		name,
		found: found.version,
		detail: `${found.python} with ${found.blas ?? "the reference BLAS"}`,
		purpose,
		advice: found.blas
			? null
			: `many times slower than with OpenBLAS; ${debian("libopenblas0-pthread")}`,
	};
}

function missing(name: string, purpose: string, debianPackages: string): Optional {
	return { name, found: null, detail: null, purpose, advice: debian(debianPackages) };
}

const debian = (packages: string) => `on Debian: apt-get install ${packages}`;
