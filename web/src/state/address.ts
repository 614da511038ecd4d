import { useEffect, useState } from "react";
import type { View } from "./reducer.js";
import { isLink, readLink, viewNamed, withView } from "./view-link.js";

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

const restMs = 250;

/**
 * Synchronises the address bar with the state. Going back or forward changes only the view; an address
 * from elsewhere is followed as a link. `hash` is null until the page has loaded.
 */
export function useAddress(
	view: View,
	hash: string | null,
	onView: (view: View) => void,
	follow: (() => void) | null,
): void {
	const [bar] = useState(() => addressBar(window, view));
	useEffect(() => follow?.(), [follow]);
	useEffect(() => {
		const wentBack = ({ state }: PopStateEvent) => {
			const view = ownView(state);
			if (!view) return;
			bar.wentTo(view);
			onView(view);
		};
		// The skip link `#main` is not a view.
		const changed = () => {
			if (ownView(history.state) || !isLink(location.hash)) return;
			bar.wentTo(readLink(location.hash).view);
			follow?.();
		};
		addEventListener("popstate", wentBack);
		addEventListener("hashchange", changed);
		return () => {
			removeEventListener("popstate", wentBack);
			removeEventListener("hashchange", changed);
		};
	}, [bar, follow, onView]);
	useEffect(() => {
		if (bar.isAnother(view)) {
			bar.show(view, hash ?? withView(location.hash, view));
			return;
		}
		if (hash === null) return;
		const timer = setTimeout(() => bar.show(view, hash), restMs);
		return () => clearTimeout(timer);
	}, [bar, view, hash]);
}
