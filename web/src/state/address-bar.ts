import type { View } from "./reducer.js";
import { viewNamed } from "./view-link.js";

/** The part of `window` that the address bar needs. */
export interface AddressWindow {
	readonly location: { readonly hash: string };
	readonly history: {
		readonly state: unknown;
		pushState(state: unknown, unused: string, url: string): void;
		replaceState(state: unknown, unused: string, url: string): void;
	};
}

/** The view of a history entry that this page made; null for typed or linked addresses. */
export const ownView = (state: unknown): View | null =>
	typeof state === "object" && state !== null && "view" in state && typeof state.view === "string"
		? viewNamed(state.view)
		: null;

/** Keeps the browser's history: another view adds an entry, other changes replace the current one. */
export function addressBar({ location, history }: AddressWindow, first: View) {
	let shown = first;
	return {
		isAnother: (view: View): boolean => view !== shown,
		show(view: View, hash: string): void {
			if (view !== shown) history.pushState({ view }, "", hash);
			else if (location.hash !== hash || ownView(history.state) !== view)
				history.replaceState({ view }, "", hash);
			shown = view;
		},
		/** The browser went to another entry, with this view. */
		wentTo(view: View): void {
			shown = view;
		},
	};
}
