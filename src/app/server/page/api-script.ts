/** The script of the page at /api: sends the examples to the service that served the page. */
export const apiScript = `const api = "/api/v2";
const longest = 20000;

const shown = (text) => {
	try {
		const pretty = JSON.stringify(JSON.parse(text), null, 2);
		return pretty.length > longest ? pretty.slice(0, longest) + "\\n… shortened" : pretty;
	} catch {
		return text;
	}
};

async function run(example) {
	const { method, path } = example.dataset;
	const status = example.querySelector(".status");
	const answer = example.querySelector(".answer");
	const body = example.querySelector("textarea")?.value;
	const id = example.querySelector(".id input")?.value.trim();
	answer.hidden = true;
	if (id === "") {
		status.textContent = "Run POST /sessions first: it gives the id.";
		return;
	}
	status.textContent = "…";
	const started = performance.now();
	try {
		const response = await fetch(api + path.replace("{id}", encodeURIComponent(id)), {
			method,
			...(body !== undefined && { body, headers: { "Content-Type": "application/json" } }),
		});
		const text = await response.text();
		const ms = Math.round(performance.now() - started);
		status.textContent = response.status + " " + response.statusText + ", " + ms + " ms";
		answer.textContent = shown(text);
		answer.hidden = text === "";
		if (method === "POST" && path === "/sessions" && response.ok)
			for (const input of document.querySelectorAll(".id input")) input.value = JSON.parse(text).id;
	} catch {
		status.textContent = "The service does not answer. Is it still running?";
	}
}

for (const example of document.querySelectorAll(".example")) {
	example.querySelector(".run").addEventListener("click", () => run(example));
	const area = example.querySelector("textarea");
	const curl = example.querySelector(".curl");
	let before = area?.value;
	const quoted = (text) => "-d '" + text.replaceAll("'", "'\\\\''") + "'";
	area?.addEventListener("input", () => {
		const at = curl.textContent.lastIndexOf(quoted(before));
		if (at < 0) return;
		curl.textContent = curl.textContent.slice(0, at) + quoted(area.value);
		before = area.value;
	});
}
`;
