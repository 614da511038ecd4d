import { useLayoutEffect, useRef, useState } from "react";

/** The current width of an element: charts are drawn in pixels, so that their text keeps its size. */
export function useWidth<E extends HTMLElement>(): [React.RefObject<E | null>, number] {
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
