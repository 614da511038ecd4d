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
export async function findOptional(): Promise<Optional[]> {
	const torch = await findTorch();
	const slow = torch ? "many times slower than with OpenBLAS; " : "";
	const packages = torch ? "libopenblas0-pthread" : "python3-torch libopenblas0-pthread";
	return [
		{
			name: "PyTorch",
			found: torch?.version ?? null,
			detail: torch ? `${torch.python} with ${torch.blas ?? "the reference BLAS"}` : null,
			purpose: "the peer of the benchmarks, which run in a clone",
			advice: torch?.blas ? null : `${slow}on Debian: apt-get install ${packages}`,
		},
	];
}
