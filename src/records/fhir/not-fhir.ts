import { InputError } from "../../base/errors.js";

/** The file is JSON, but of another kind: one that lies in a folder with FHIR is passed over. */
export class NotFhirError extends InputError {}
