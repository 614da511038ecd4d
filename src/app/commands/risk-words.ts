/** Formats risks with as many digits as the highest needs to show three figures. */
export function shares(highest: number) {
	const digits = highest >= 0.1 ? 1 : highest >= 0.01 ? 2 : 3;
	return {
		digits,
		share: (risk: number) => `${(100 * risk).toFixed(digits)} %`.padStart(digits + 6),
		points: (change: number) => {
			const text = Math.abs(100 * change).toFixed(digits);
			const sign = Number(text) === 0 ? "" : change > 0 ? "+" : "-";
			return `${sign}${text}`.padStart(digits + 4);
		},
	};
}

export const named = ({ code, name }: { readonly code: string; readonly name: string }) =>
	code === name ? code : `${code} ${name}`;
