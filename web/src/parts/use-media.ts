import { useSyncExternalStore } from "react";

/** Whether a media query holds, for what style sheets cannot do: the order in which panels are read and focused. */
export const useMedia = (query: string): boolean =>
	useSyncExternalStore(
		(onChange) => {
			const media = matchMedia(query);
			media.addEventListener("change", onChange);
			return () => media.removeEventListener("change", onChange);
		},
		() => matchMedia(query).matches,
	);
