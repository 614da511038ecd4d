import { useCallback, useEffect, useState } from "react";

export type Loaded<T> =
	| { readonly state: "loading" }
	| { readonly state: "ready"; readonly value: T }
	| { readonly state: "error"; readonly message: string };

/** The value once it is loaded; null before, or if it cannot be. */
export const loadedValue = <T>(loaded: Loaded<T>): T | null =>
	loaded.state === "ready" ? loaded.value : null;

/** Loads a value, anew for each `load`, and gives the one before to `close`. Both must be stable functions. */
export function useLoaded<T>(load: () => Promise<T>, close?: (value: T) => void): Loaded<T> {
	const [loaded, setLoaded] = useState<Loaded<T>>({ state: "loading" });
	useEffect(() => {
		let gone = false;
		setLoaded({ state: "loading" });
		const loading = load();
		loading.then(
			(value) => !gone && setLoaded({ state: "ready", value }),
			(error: Error) => !gone && setLoaded({ state: "error", message: error.message }),
		);
		return () => {
			gone = true;
			loading.then(close, () => {});
		};
	}, [load, close]);
	return loaded;
}

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
