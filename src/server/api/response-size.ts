import { Refusal } from "../http/refusal.js";

/** Refuses a request whose response would be too long, before the model computes it. */
export function checkResponseSize(
	per: { readonly name: "top" | "codes"; readonly count: number },
	times: number,
	most: number,
	patients = 1,
): void {
	const values = patients * per.count * times;
	if (values <= most) return;
	const number = (value: number) => value.toLocaleString("en-US");
	const ofPatients = patients > 1 ? `${patients} patients × ` : "";
	throw new Refusal(
		422,
		`${per.name}: ${ofPatients}${number(times)} times × ${per.count} codes are ${number(values)} values; expected at most ${number(most)} in one response: query fewer times or codes, or send several requests`,
		{ field: per.name },
	);
}
