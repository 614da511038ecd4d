import type { View } from "./reducer.js";
import { viewNamed } from "./view-link.js";

/** As much of a window as an address needs. */
export interface AddressWindow {
	readonly location: { readonly hash: string };
	readonly history: {
		readonly state: unknown;
		pushState(state: unknown, unused: string, url: string): void;
		replaceState(state: unknown, unused: string, url: string): void;
	};
}

/** The view of an entry that this page made; null of one that somebody typed or linked to. */
export const ownView = (state: unknown): View | null =>
	typeof state === "object" && state !== null && "view" in state && typeof state.view === "string"
		? viewNamed(state.view)
		: null;

/** What is looked at, as entries of the browser's history: another view is another entry, all else changes the one there is. */
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
		/** The browser has gone to another entry, of this view. */
		wentTo(view: View): void {
			shown = view;
		},
	};
}
