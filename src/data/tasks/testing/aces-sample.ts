import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** Records by subject: a line per time, with the codes recorded then. */
type Records = Readonly<Record<number, string>>;

/** A task, and its labels: subject, prediction time, value. */
interface SampleTask<Value> {
	readonly name: string;
	readonly yaml: string;
	readonly labels: readonly (readonly [number, string, Value])[];
}

interface AcesSamples {
	readonly sampleData: Records;
	readonly medsData: Records;
	readonly documented: readonly (SampleTask<boolean> & { readonly data: Records })[];
	readonly workedOut: readonly SampleTask<boolean | null>[];
	readonly imminentMortality: {
		readonly yaml: string;
		readonly positive: readonly (readonly [number, string])[];
	};
}

const file = new URL("./aces-samples.yaml", import.meta.url);
export const { sampleData, medsData, documented, workedOut, imminentMortality }: AcesSamples =
	parse(readFileSync(file, "utf8"));

/** Microseconds since 1970-01-01 of `1991-01-28 23:32`. */
export const microseconds = (text: string): number => Date.parse(`${text}Z`) * 1000;

/** SQL for the rows of MEDS. */
export const medsSql = (data: Readonly<Record<number, string>>): string =>
	Object.entries(data)
		.flatMap(([subject, text]) =>
			text
				.trim()
				.split("\n")
				.flatMap((line) => {
					const [, time = "", codes = ""] = /^\s*(.*?): (.*)$/.exec(line) ?? [];
					const at = time ? `TIMESTAMP '${time}:00'` : "CAST(NULL AS TIMESTAMP)";
					return codes
						.split(" ")
						.map(
							(code) =>
								`SELECT ${subject}::BIGINT AS subject_id, ${at} AS time, '${code}' AS code, CAST(NULL AS FLOAT) AS numeric_value`,
						);
				}),
		)
		.join(" UNION ALL ");
