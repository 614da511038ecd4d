/** The last section of a command's help: command lines, each with its description. */
export function examples(lines: Readonly<Record<string, string>>): string {
	const entries = Object.entries(lines);
	const width = Math.max(...entries.map(([line]) => line.length));
	return `\nExamples:\n${entries.map(([line, does]) => `  ${line.padEnd(width)}  ${does}`).join("\n")}`;
}
