import { type ReactNode, useEffect, useRef } from "react";

export interface Chip {
	readonly key: string | number;
	readonly content: ReactNode;
	readonly colour?: string;
	/** Of the button that takes it away. */
	readonly removal: string;
	readonly onRemove: () => void;
}

interface ChipListProps {
	readonly label: string;
	readonly chips: readonly Chip[];
	/** Before the last one is taken away: the focus must go elsewhere. */
	readonly onEmpty: () => void;
}

/** What was chosen, each with a button to take it away; the focus stays among them. */
export function ChipList({ label, chips, onEmpty }: ChipListProps) {
	const list = useRef<HTMLUListElement>(null);
	const leaving = useRef<number | null>(null);
	useEffect(() => {
		const at = leaving.current;
		if (at === null) return;
		leaving.current = null;
		const buttons = list.current?.querySelectorAll("button") ?? [];
		buttons[Math.min(at, buttons.length - 1)]?.focus();
	});
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
							else leaving.current = at;
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
