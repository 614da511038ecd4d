import type { ReactNode } from "react";

interface ScrollTableProps {
	readonly label: string;
	/** As long as it is, and wider than the page if need be; else as high as a panel. */
	readonly wide?: boolean;
	readonly children: ReactNode;
}

/** A table that may be larger than its place. */
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
