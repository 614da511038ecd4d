import { startModel } from "./engine/start-model.js";
import "./styles/tokens.css";
import "./styles/page.css";
import "./styles/parts.css";
import "./styles/charts.css";
import "./styles/views.css";
import "./styles/model.css";
import "./styles/take-away.css";
import "./styles/files.css";

// The model's worker starts before the page's script is read. Workers of the page share this file, but not its work.
if (typeof document !== "undefined") {
	startModel();
	void import("./page.js");
}
