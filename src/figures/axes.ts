import { theme } from "./theme.js";

/** An axis that stays behind what it measures. */
export const quietAxis = {
	tickSize: 0,
	color: theme.quiet,
	labelArrow: "none",
	labelAnchor: "center",
} as const;
