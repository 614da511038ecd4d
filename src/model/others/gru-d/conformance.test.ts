import { conformance } from "../../testing/conformance.js";

conformance("gru-d");
