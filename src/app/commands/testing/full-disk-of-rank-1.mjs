import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

/** Makes the disk of rank 1 full when it begins to work. */
const rank = process.env.OMPI_COMM_WORLD_RANK ?? process.env.PMI_RANK;
const { mkdir } = fs;
Object.assign(fs, { mkdir: full });

/** @type {(...given: Parameters<typeof mkdir>) => Promise<unknown>} */
async function full(path, ...more) {
	if (rank === "1" && String(path).endsWith("/.work/1"))
		throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
	return mkdir(path, ...more);
}
syncBuiltinESMExports();
