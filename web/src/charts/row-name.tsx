import { fitted } from "../../../src/evaluate/charts/text.js";
import type { TimelineRow } from "./timeline-layout.js";

interface RowNameProps {
	readonly row: Pick<TimelineRow, "kind" | "name">;
	readonly x: number;
	readonly y: number;
	readonly width: number;
	readonly anchor: "start" | "end";
	readonly onToggle: () => void;
}

const markers = { category: "▸", opened: "▾", code: "" } as const;

/** The name of a row; that of a category shows or hides the rows of its codes. */
export function RowName({ row: { kind, name }, x, y, width, anchor, onToggle }: RowNameProps) {
	const text = (
		<text className={`row-name row-name-${kind}`} x={x} y={y} textAnchor={anchor}>
			{`${fitted(name, width - 16, { size: 12 })} ${markers[kind]}`.trim()}
		</text>
	);
	if (kind === "code") return text;
	return (
		// biome-ignore lint/a11y/useSemanticElements: SVG has no button.
		<g
			role="button"
			tabIndex={0}
			aria-expanded={kind === "opened"}
			aria-label={`Codes of ${name}`}
			className="row-toggle"
			onClick={onToggle}
			onKeyDown={(event) => {
				if (event.key !== "Enter" && event.key !== " ") return;
				event.preventDefault();
				onToggle();
			}}
		>
			{text}
		</g>
	);
}
