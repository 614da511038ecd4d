import { thousands } from "../../../base/thousands.js";
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
	const ofPatients = patients > 1 ? `${patients} patients × ` : "";
	throw new Refusal(
		422,
		`${per.name}: ${ofPatients}${thousands(times)} times × ${per.count} codes are ${thousands(values)} values; expected at most ${thousands(most)} in one response: query fewer times or codes, or send several requests`,
		{ field: per.name },
	);
}
