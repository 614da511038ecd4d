import { theme } from "./theme.js";

/** An unobtrusive axis. */
export const quietAxis = {
	tickSize: 0,
	color: theme.quiet,
	labelArrow: "none",
	labelAnchor: "center",
} as const;
