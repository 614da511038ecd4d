const units: readonly (readonly [RegExp, number])[] = [
	[/^(w|wks?|weeks?)$/, 7 * 86_400],
	[/^(d|dys?|days?)$/, 86_400],
	[/^(h|hrs?|hours?)$/, 3600],
	[/^(m|mins?|minutes?)$/, 60],
	[/^(s|secs?|seconds?)$/, 1],
];

const part = /^(\d+(?:\.\d+)?)\s*([a-z]+)[\s,]*/;
/** 14:20:16, or 20:16 for minutes and seconds. */
const clock = /^(?:(\d+):)?(\d+):(\d{2}(?:\.\d+)?)$/;

/**
 * The microseconds of a duration as ACES writes them: `24h`, `2 hours`, `1 day, 14:20:16`, `1w3d`; a number alone is
 * seconds. Undefined if it cannot be read.
 */
export function microsecondsOf(text: string): number | undefined {
	let rest = text.trim().toLowerCase();
	if (/^\d+(\.\d+)?$/.test(rest)) return Math.round(Number(rest) * 1e6);
	let seconds = 0;
	let read = false;
	for (let found = part.exec(rest); found; found = part.exec(rest)) {
		const [whole, number, unit] = found as unknown as [string, string, string];
		const size = units.find(([name]) => name.test(unit))?.[1];
		if (size === undefined) return undefined;
		seconds += Number(number) * size;
		rest = rest.slice(whole.length);
		read = true;
	}
	const [, hours = "0", minutes, last] = clock.exec(rest) ?? [];
	if (minutes !== undefined) {
		seconds += Number(hours) * 3600 + Number(minutes) * 60 + Number(last);
		return Math.round(seconds * 1e6);
	}
	return read && rest === "" ? Math.round(seconds * 1e6) : undefined;
}
