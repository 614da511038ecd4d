import { conformance } from "../../testing/conformance.js";

conformance("gpt2");
