/** The natural cubic spline through points (t, y), by Gaussian elimination; a straight line if there are two. */
export function plainSpline(t: readonly number[], y: readonly number[]): (at: number) => number {
	const n = t.length;
	const h = t.slice(1).map((end, i) => end - t[i]);
	// Row i: coefficients of M, then the right side.
	const rows = t.map((_, i) => {
		const row = new Array<number>(n + 1).fill(0);
		row[i] = 1;
		if (i > 0 && i < n - 1) {
			row[i - 1] = h[i - 1];
			row[i] = 2 * (h[i - 1] + h[i]);
			row[i + 1] = h[i];
			row[n] = 6 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1]);
		}
		return row;
	});
	for (let i = 0; i < n; i++)
		for (let j = 0; j < n; j++) {
			if (j === i) continue;
			const factor = rows[j][i] / rows[i][i];
			for (let k = 0; k <= n; k++) rows[j][k] -= factor * rows[i][k];
		}
	const bend = rows.map((row, i) => row[n] / row[i]);
	return (at) => {
		if (n === 1) return y[0];
		const i = Math.min(n - 2, Math.max(0, t.filter((knot) => knot <= at).length - 1));
		const [a, b] = [(t[i + 1] - at) / h[i], (at - t[i]) / h[i]];
		const bent = (a ** 3 - a) * bend[i] + (b ** 3 - b) * bend[i + 1];
		return a * y[i] + b * y[i + 1] + (bent * h[i] ** 2) / 6;
	};
}
