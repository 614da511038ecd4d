import { useEffect, useState } from "react";

export type Loaded<T> =
	| { readonly state: "loading" }
	| { readonly state: "ready"; readonly value: T }
	| { readonly state: "error"; readonly message: string };

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
