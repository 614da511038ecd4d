/** Words that tables use for a missing value. */
export const missingWords: readonly string[] = [
	"",
	..."NULL null Null NA na N/A n/a NAN nan NaN NONE none None".split(" "),
];

export const isMissing = (text: string): boolean => missingWords.includes(text);
