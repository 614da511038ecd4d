/** The margins of a patient's plots, shared so that their time axes align. */
export function gutter(width: number): { left: number; right: number; narrow: boolean } {
	const narrow = width < 620;
	return { left: narrow ? 44 : 148, right: narrow ? 10 : 18, narrow };
}
