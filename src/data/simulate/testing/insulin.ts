import type { SimulatedPatient } from "../patients.js";
import { insulinLogOdds } from "../prescriptions.js";
import { positionOf } from "../tables.js";

const diabetes = positionOf("250");

/** Whether insulin is started within six months of the first record of diabetes, and its log-odds at that record. */
export function insulinLabels(patients: readonly SimulatedPatient[]) {
	return patients.flatMap(({ person, claims, prescriptions }) => {
		const first = claims.find(({ at }) => at === diabetes);
		if (!first) return [];
		const { day } = first;
		const known = new Map<number, number>();
		for (const claim of claims) if (claim.day <= day) known.set(claim.at, claim.day);
		const steroids = prescriptions.filter((fill) => fill.drug === "prednisone" && fill.day <= day);
		const logOdds = insulinLogOdds({
			day,
			birth: person.birth,
			earlier: 0,
			firstDay: day,
			lastRecord: (at) => known.get(at) ?? -Infinity,
			lastSteroid: steroids.at(-1)?.day ?? -Infinity,
		});
		const start = prescriptions.find(({ drug }) => drug.startsWith("insulin"))?.day ?? Infinity;
		return [{ logOdds, label: start <= day + 182 }];
	});
}
