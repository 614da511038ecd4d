import { canonicalJson } from "../../base/json-keys.js";
import { sha256 } from "./sha256.js";

/** The hash in `export.json` of its other fields. */
export async function manifestSha256(manifest: { readonly sha256?: unknown }): Promise<string> {
	const { sha256: _own, ...rest } = manifest;
	return sha256(new TextEncoder().encode(canonicalJson(rest)));
}
