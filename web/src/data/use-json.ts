import { useCallback } from "react";
import { type Loaded, useLoaded } from "./use-loaded.js";

/** Fetches a document from the page's own origin. */
async function fetchJson<T>(path: string): Promise<T> {
	let response: Response;
	try {
		response = await fetch(path);
	} catch (cause) {
		throw new Error(
			"the server does not respond; check that `trajgpt serve` is still running, then reload",
			{ cause },
		);
	}
	if (!response.ok)
		throw new Error(
			response.status === 401
				? "a token is needed; open the address that `trajgpt serve` printed again"
				: `${path} cannot be read: the server responds with status ${response.status}`,
		);
	try {
		return (await response.json()) as T;
	} catch (cause) {
		throw new Error(`${path} is not valid JSON; restart \`trajgpt serve\``, { cause });
	}
}

/** Fetches a document when the component is first shown. */
export const useJson = <T>(path: string): Loaded<T> =>
	useLoaded(useCallback(() => fetchJson<T>(path), [path]));
