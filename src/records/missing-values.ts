/** Words for a missing value, as tables have them. */
export const missingWords: readonly string[] = [
	"",
	..."NULL null Null NA na N/A n/a NAN nan NaN NONE none None".split(" "),
];

export const isMissing = (text: string): boolean => missingWords.includes(text);
