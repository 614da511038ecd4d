import { type RefObject, useEffect, useRef } from "react";

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
