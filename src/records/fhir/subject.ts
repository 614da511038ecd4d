import { InputError } from "../../base/errors.js";
import { addressIn, type Reference, referenceIn } from "./references.js";
import type { FoundResource } from "./resources.js";

/** Whom a resource is about; nothing when that is no patient but a group, say. */
export function patientOf({ resource, type, where }: FoundResource): Reference | undefined {
	const address = addressIn(resource.subject);
	const reference = address?.startsWith("#") ? undefined : referenceIn(resource.subject);
	if (reference) return (reference.type ?? "Patient") === "Patient" ? reference : undefined;
	throw new InputError(
		`${where}: a ${type} does not say whose it is: its subject is ${address === undefined ? "absent or has no reference" : "a contained resource or a search"}; expected a subject such as {"reference": "Patient/12"}`,
	);
}
