import type { ReactNode } from "react";
import type { Loaded } from "../data/use-loaded.js";
import { Notice } from "./notice.js";

interface WhenLoadedProps<T> {
	readonly loaded: Loaded<T>;
	readonly what: string;
	readonly children: (value: T) => ReactNode;
}

/** What depends on a document; until it is loaded, or if it cannot be, a notice. */
export function WhenLoaded<T>({ loaded, what, children }: WhenLoadedProps<T>) {
	if (loaded.state === "ready") return children(loaded.value);
	return loaded.state === "loading" ? (
		<Notice kind="loading" title={`Loading ${what}…`} />
	) : (
		<Notice kind="error" title={`Could not load ${what}`}>
			<p>{loaded.message}</p>
		</Notice>
	);
}
