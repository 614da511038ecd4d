import { type ReactNode, type RefObject, useEffect, useRef } from "react";

export interface Chip {
	readonly key: string | number;
	readonly content: ReactNode;
	readonly colour?: string;
	/** Label of the button that removes it. */
	readonly removal: string;
	readonly onRemove: () => void;
}

interface ChipListProps {
	readonly label: string;
	readonly chips: readonly Chip[];
	/** Called before the last chip is removed, to move the focus elsewhere. */
	readonly onEmpty: () => void;
}

/** Chosen items, each with a button to remove it; the focus stays within the list. */
export function ChipList({ label, chips, onEmpty }: ChipListProps) {
	const list = useRef<HTMLUListElement>(null);
	const onLeave = useRemovalFocus(list, "button");
	return (
		<ul aria-label={label} ref={list}>
			{chips.map(({ key, content, colour, removal, onRemove }, at) => (
				<li
					key={key}
					className="chip"
					{...(colour && { style: { "--own": colour } as React.CSSProperties })}
				>
					<span>{content}</span>
					<button
						type="button"
						className="plain"
						aria-label={removal}
						onClick={() => {
							if (chips.length === 1) onEmpty();
							else onLeave(at);
							onRemove();
						}}
					>
						×
					</button>
				</li>
			))}
		</ul>
	);
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
