import { createHash } from "node:crypto";
import { canonicalJson } from "../canonical-json.js";

/** Of the content, so that spaces and the order of keys may change. */
export const contentSha256 = (value: unknown): string =>
	createHash("sha256").update(canonicalJson(value)).digest("hex");
