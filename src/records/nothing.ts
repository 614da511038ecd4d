/** Words for nothing, as they are usually written. */
export const nothing: readonly string[] = [
	"",
	..."NULL null Null NA na N/A n/a NAN nan NaN NONE none None".split(" "),
];
