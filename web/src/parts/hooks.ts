import {
	type RefObject,
	useEffect,
	useLayoutEffect,
	useRef,
	useState,
	useSyncExternalStore,
} from "react";

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

const shownMilliseconds = 4000;

/** A text that disappears after a while; a new text restarts the timer. */
export function useTransientText(): [words: string, say: (words: string) => void] {
	const [said, setSaid] = useState({ words: "" });
	useEffect(() => {
		if (said.words === "") return;
		const timer = setTimeout(() => setSaid({ words: "" }), shownMilliseconds);
		return () => clearTimeout(timer);
	}, [said]);
	return [said.words, (words) => setSaid({ words })];
}

/** The current width of an element: charts are drawn in pixels, so that their text keeps its size. */
export function useWidth<E extends HTMLElement>(): [RefObject<E | null>, number] {
	const ref = useRef<E>(null);
	const [width, setWidth] = useState(0);
	useLayoutEffect(() => {
		const element = ref.current;
		if (!element) return;
		const measure = () => setWidth(Math.floor(element.clientWidth));
		measure();
		const observer = new ResizeObserver(measure);
		observer.observe(element);
		return () => observer.disconnect();
	}, []);
	return [ref, width];
}

/** Keeps the focus in a list of removable items: call the result with the place of the item that is removed. */
export function useRemovalFocus(
	list: RefObject<HTMLElement | null>,
	/** Of the buttons that remove items. */
	buttons: string,
): (at: number) => void {
	const leaving = useRef<number | null>(null);
	useEffect(() => {
		const at = leaving.current;
		if (at === null) return;
		leaving.current = null;
		const left = list.current?.querySelectorAll<HTMLElement>(buttons) ?? [];
		left[Math.min(at, left.length - 1)]?.focus();
	});
	return (at) => {
		leaving.current = at;
	};
}
