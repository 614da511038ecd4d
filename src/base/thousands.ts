/** 12,345, with at most three decimals. Creating an `Intl` formatter would slow the start of every command. */
export function thousands(value: number): string {
	const [whole, decimals] = String(Number(value.toFixed(3))).split(".") as [string, string?];
	const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
	return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}
