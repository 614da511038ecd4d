import { useEffect, useState } from "react";
import { addressBar, ownView } from "./address-bar.js";
import type { View } from "./reducer.js";
import { namesView, readLink, withView } from "./view-link.js";

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
			if (ownView(history.state) || !namesView(location.hash)) return;
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
