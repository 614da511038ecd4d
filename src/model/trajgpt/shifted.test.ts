import { conformance } from "../testing/conformance.js";

conformance("trajgpt-shifted");
