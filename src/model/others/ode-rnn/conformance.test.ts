import { conformance } from "../../testing/conformance.js";

conformance("ode-rnn");
