import { createRoot } from "react-dom/client";
import { App } from "./app.js";
import { startModel } from "./engine/use-model.js";
import { ErrorBoundary } from "./error-boundary.js";
import { doJob } from "./page-worker.js";
import "./styles/tokens.css";
import "./styles/page.css";
import "./styles/parts.css";
import "./styles/charts.css";
import "./styles/views.css";
import "./styles/model.css";
import "./styles/map.css";
import "./styles/take-away.css";
import "./styles/files.css";

// Workers of the page run this script too.
if (typeof document === "undefined") doJob(self);
else {
	startModel();
	createRoot(document.getElementById("app") as HTMLElement).render(
		<ErrorBoundary>
			<App />
		</ErrorBoundary>,
	);
}
