import { listOf, objectOf, textOf } from "./fields.js";
import type { FoundResource } from "./resources.js";

const voidStatus: Readonly<Record<string, readonly string[]>> = {
	Encounter: ["entered-in-error", "cancelled"],
	MedicationRequest: ["entered-in-error", "cancelled"],
	MedicationStatement: ["entered-in-error", "not-taken"],
};

const voidCondition = ["entered-in-error", "refuted"];

/** Whether a resource says of itself that nothing of the kind was found or given. */
export function isVoid({ type, resource }: FoundResource): boolean {
	if (type === "Condition")
		return listOf(objectOf(resource.verificationStatus)?.coding).some(({ code }) =>
			voidCondition.includes(textOf(code) ?? ""),
		);
	if (type === "MedicationRequest" && resource.doNotPerform === true) return true;
	return voidStatus[type]?.includes(textOf(resource.status) ?? "") ?? false;
}
