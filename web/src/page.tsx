import { createRoot } from "react-dom/client";
import { App } from "./app.js";
import { ErrorBoundary } from "./error-boundary.js";
import { doJob } from "./page-worker.js";

// Workers of the page run this script too.
if (typeof document === "undefined") doJob(self);
else
	createRoot(document.getElementById("app") as HTMLElement).render(
		<ErrorBoundary>
			<App />
		</ErrorBoundary>,
	);
