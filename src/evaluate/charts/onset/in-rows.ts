import type { Panel } from "../figure.js";

/** Panels in rows of so many. */
export const inRows = (panels: readonly Panel[], across: number): Panel[][] =>
	Array.from({ length: Math.ceil(panels.length / across) }, (_, row) =>
		panels.slice(row * across, (row + 1) * across),
	);
