import { useRef } from "react";
import type { Way } from "./copy.js";

export type FileKind = "png" | "svg" | "csv";

interface SaveMenuProps {
	readonly title: string;
	readonly kinds: readonly FileKind[];
	readonly onSave: (kind: FileKind, way: Way) => void;
}

const ways = [
	["save", "Download"],
	["copy", "Copy"],
] as const;

/** What can be taken away from a panel: as a file, or in the clipboard. */
export function SaveMenu({ title, kinds, onSave }: SaveMenuProps) {
	const ref = useRef<HTMLDetailsElement>(null);
	const close = () => {
		if (ref.current) ref.current.open = false;
	};
	return (
		<details
			className="save"
			ref={ref}
			onBlur={(event) => {
				if (!event.currentTarget.contains(event.relatedTarget)) close();
			}}
			onKeyDown={(event) => {
				if (event.key !== "Escape") return;
				close();
				ref.current?.querySelector("summary")?.focus();
			}}
		>
			<summary aria-label={`Save “${title}”`}>Save</summary>
			<div className="save-menu">
				{kinds.flatMap((kind) =>
					ways.map(([way, word]) => (
						<button
							key={`${way} ${kind}`}
							type="button"
							className="small"
							onClick={() => {
								ref.current?.querySelector("summary")?.focus();
								close();
								onSave(kind, way);
							}}
						>
							{word} {kind.toUpperCase()}
						</button>
					)),
				)}
			</div>
		</details>
	);
}
