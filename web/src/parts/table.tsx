import type { ReactNode } from "react";

interface ScrollTableProps {
	readonly label: string;
	/** Scrolls sideways at full height; if left out, it is as high as a panel. */
	readonly wide?: boolean;
	readonly children: ReactNode;
}

/** A table that scrolls if it does not fit. */
export function ScrollTable({ label, wide, children }: ScrollTableProps) {
	return (
		<section
			className={`scroll-table${wide ? " wide" : ""}`}
			aria-label={label}
			// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
			tabIndex={0}
		>
			<table>{children}</table>
		</section>
	);
}
