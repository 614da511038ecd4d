export { type Audited, audit } from "./audit.js";
export { auditCases } from "./cases.js";
