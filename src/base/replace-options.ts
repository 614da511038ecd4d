/**
 * Replaces the library's options in a message. Messages quote options in backticks, with or without a value:
 * `batchSlots`, `explorer: false`, `patients: "all"`. What `flagOf` does not know stays.
 */
export const replaceOptions = (
	text: string,
	flagOf: (name: string) => string | undefined,
): string =>
	text.replace(
		/`([a-z][\w.]*)(?:: (?:false|"([^"`]*)"))?`/gi,
		(quoted, name: string, value?: string) => {
			const flag = flagOf(name);
			return flag === undefined ? quoted : value === undefined ? flag : `${flag} ${value}`;
		},
	);
