/** The stream that progress is written to, such as `process.stderr`. */
export interface ProgressStream {
	write(text: string): unknown;
	readonly isTTY?: boolean | undefined;
	readonly columns?: number | undefined;
}

export interface ProgressOptions {
	/** Milliseconds; only differences matter. */
	readonly clock: () => number;
	/** Minimum seconds between two lines. Default: 0.1 in a terminal, 10 elsewhere. */
	readonly everySeconds?: number;
}

interface ProgressUpdate {
	/** What is counted, with a prefix: `epoch 3/20  step`. */
	readonly label: string;
	/** Work done. The first value is the starting point of this process and does not count in the rate. */
	readonly done: number;
	readonly total?: number;
	/** `["loss", "2.314"]` is printed as `loss 2.314`; a unit, `["tokens/s", "12.3k"]`, follows its value. */
	readonly fields?: readonly (readonly [name: string, value: string])[];
}

export interface Progress {
	update(update: ProgressUpdate): void;
	/** Prints a permanent line. */
	note(text: string): void;
	/** Prints the last update, if it was not printed, and then the text. */
	finish(text?: string): void;
}

/** One line rewritten in place in a terminal; elsewhere a plain line every few seconds. */
export function progress(stream: ProgressStream, options: ProgressOptions): Progress {
	const { clock, everySeconds = stream.isTTY ? 0.1 : 10 } = options;
	const rate = smoothedRate();
	let shownAt = Number.NEGATIVE_INFINITY;
	let parts: readonly string[] | undefined;
	let pending = false;
	const erase = () => {
		if (stream.isTTY && parts) stream.write("\r\x1b[K");
	};
	const show = () => {
		if (!parts) return;
		if (stream.isTTY) stream.write(`\r${fit(parts, (stream.columns || 80) - 1)}\x1b[K`);
		else stream.write(`${parts.join("  ")}\n`);
		pending = false;
	};
	return {
		update: (update) => {
			const now = clock();
			const perSecond = rate(now / 1000, update.done);
			parts = describe(update, perSecond);
			pending = true;
			if (now - shownAt < everySeconds * 1000) return;
			shownAt = now;
			show();
		},
		note: (text) => {
			erase();
			stream.write(`${text}\n`);
			if (stream.isTTY) show();
		},
		finish: (text) => {
			if (pending) show();
			if (stream.isTTY && parts) stream.write("\n");
			if (text !== undefined) stream.write(`${text}\n`);
			parts = undefined;
			pending = false;
			shownAt = Number.NEGATIVE_INFINITY;
		},
	};
}

function describe(update: ProgressUpdate, perSecond: number): string[] {
	const { label, done, total, fields = [] } = update;
	const parts = [`${label} ${done}${total === undefined ? "" : `/${total}`}`];
	for (const [name, value] of fields) {
		parts.push(name.includes("/") ? `${value} ${name}` : `${name} ${value}`);
	}
	if (total !== undefined && total > done && perSecond > 0) {
		parts.push(`${formatDuration(Math.max(1, Math.round((total - done) / perSecond)))} left`);
	}
	return parts.map((part) => part.replace(/\p{Cc}+/gu, " "));
}

/** Time constant of the average: a steady rate is exact, a new rate shows after a minute. */
const MEMORY_SECONDS = 30;

/** A time-weighted exponential moving average of the rate. */
function smoothedRate(): (seconds: number, done: number) => number {
	let last: { seconds: number; done: number } | undefined;
	let sum = 0;
	let weight = 0;
	return (seconds, done) => {
		if (last === undefined || done < last.done) {
			last = { seconds, done };
			sum = 0;
			weight = 0;
		}
		const elapsed = seconds - last.seconds;
		if (elapsed > 0) {
			const kept = Math.exp(-elapsed / MEMORY_SECONDS);
			sum = sum * kept + ((done - last.done) / elapsed) * (1 - kept);
			weight = weight * kept + (1 - kept);
			last = { seconds, done };
		}
		return weight > 0 ? sum / weight : 0;
	};
}

/** Drops fields from the right, the time left last; then truncates. */
function fit(parts: readonly string[], columns: number): string {
	const kept = [...parts];
	const line = () => kept.join("  ");
	while (kept.length > 1 && displayWidth(line()) > columns) {
		const last = kept.length - 1;
		kept.splice(last > 1 && kept[last]?.endsWith(" left") ? last - 1 : last, 1);
	}
	return cut(line(), columns);
}

function cut(text: string, columns: number): string {
	if (displayWidth(text) <= columns) return text;
	let kept = text;
	while (kept && displayWidth(kept) >= columns) kept = [...kept].slice(0, -1).join("");
	return columns < 1 ? "" : `${kept}…`;
}

/** At least as many columns as a terminal takes: characters beyond Latin are counted as wide, which some are. */
const displayWidth = (text: string): number =>
	[...text].reduce((width, character) => width + (character > "\u02ff" ? 2 : 1), 0);

/** `350ms`, `12s`, `4m 10s`, `1h 05m`, `2d 03h`. */
export function formatDuration(seconds: number): string {
	if (!Number.isFinite(seconds)) return "?";
	if (seconds < 0) return `-${formatDuration(-seconds)}`;
	const milliseconds = Math.round(seconds * 1000);
	if (milliseconds > 0 && milliseconds < 1000) return `${milliseconds}ms`;
	const whole = Math.round(seconds);
	if (whole < 60) return `${whole}s`;
	const two = (value: number) => String(value).padStart(2, "0");
	if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
	const minutes = Math.round(seconds / 60);
	if (minutes < 1440) return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
	const hours = Math.round(seconds / 3600);
	return `${Math.floor(hours / 24)}d ${two(hours % 24)}h`;
}

/** Three digits and a letter: `7`, `999`, `1.23k`, `12.3k`, `123k`, `1.23M`. */
export function formatCount(count: number): string {
	if (Number.isInteger(count) && Math.abs(count) < 1000) return String(count);
	const letters = ["", "k", "M", "G", "T"];
	for (const [thousands, letter] of letters.entries()) {
		const text = (count / 1000 ** thousands).toPrecision(3);
		if (Math.abs(Number(text)) < 1000) return `${text}${letter}`;
	}
	return count.toPrecision(3);
}

/** Prints nothing. */
export const silentProgress: Progress = { update() {}, note() {}, finish() {} };
