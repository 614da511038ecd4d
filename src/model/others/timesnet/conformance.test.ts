import { conformance } from "../../testing/conformance.js";

conformance("timesnet");
