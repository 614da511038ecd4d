import { specialCount, specialTokens, type Token, type Vocabulary } from "../cohort/vocabulary.js";
import type { ExportManifest } from "./manifest.js";

interface ExampleEvent {
	readonly code: string;
	/** A date, or a day on the axis of the records. */
	readonly date: string | number;
}

/** An invented person with the most frequent codes, and a query time. */
function invented({ tokens }: Vocabulary, axis: ExportManifest["records"]["axis"]) {
	const byDates = axis === "dates";
	const frequent = tokens
		.slice(specialCount)
		.sort((a, b) => b.count - a.count)
		.slice(0, 3);
	const dates = byDates ? ["2010-03-01", "2011-09-15", "2012-02-20"] : [21_900, 22_450, 22_600];
	const events = frequent.map(
		({ code }, i): ExampleEvent => ({ code, date: dates[i] as string | number }),
	);
	return { birth: byDates ? "1950-06-01" : 0, events, at: byDates ? "2013-01-01" : 23_000 };
}

const json = (value: unknown) => JSON.stringify(value);

/** `example.py`: onnxruntime and numpy. */
export function pythonExample(
	vocabulary: Vocabulary,
	{ records, population }: ExportManifest,
): string {
	const { birth, events, at } = invented(vocabulary, records.axis);
	const female = vocabulary.tokens[specialTokens.female] as Token;
	const days =
		records.axis === "dates"
			? 'np.datetime64(date, "D").astype(int)'
			: "date  # a day on the axis of the records";
	const lines = [{ code: female.code, date: birth }, ...events].map(
		({ code, date }) => `    (${json(code)}, ${json(date)}),`,
	);
	return `${population ? `# The model was trained on a ${population}.\n` : ""}# pip install onnxruntime numpy
import json
import os
import numpy as np

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # before onnxruntime loads
import onnxruntime

vocabulary = json.load(open("vocabulary.json"))["tokens"]
tokens = {token["code"]: number for number, token in enumerate(vocabulary)}


def time(date):
    return ${days}


def run(session, feeds):
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds)))


def show(logits):
    p = np.exp(logits - logits.max())
    p /= p.sum()
    for token in p.argsort()[::-1][:5]:
        print(f"{p[token]:.4f} {vocabulary[token]['code']} {vocabulary[token]['name']}")


# An invented person: sex at birth, then what was recorded, in order of time.
history = [
${lines.join("\n")}
]
out = run(onnxruntime.InferenceSession("sequence.onnx"), {
    "tokens": np.array([[tokens[code] for code, _ in history]], np.int32),
    "times": np.array([[time(date) for _, date in history]]),
    "mask": np.ones((1, len(history)), bool),
    "at": np.array([time(${json(at)})]),
})
show(out["answer"][0])

# One more event, from the state alone, and a question half a year later: a step whose state is thrown away.
def after(out):
    return {name.replace("after.", "state."): value for name, value in out.items() if name.startswith("after.")}


step = onnxruntime.InferenceSession("step.onnx")
token, now = np.array([tokens[${json(events[0]?.code)}]], np.int32), np.array([time(${json(at)})])
out = run(step, {**after(out), "token": token, "time": now})
out = run(step, {**after(out), "token": token, "time": now + 182})
show(out["logits"][0])
`;
}

/** `example.html`: the browser library. */
export function pageExample(
	vocabulary: Vocabulary,
	{ records, population }: ExportManifest,
): string {
	const { birth, events, at } = invented(vocabulary, records.axis);
	return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<link rel="icon" href="data:,">
<title>What comes next?</title>
<h1>What comes next?</h1>
${population ? `<p><strong>${population}</strong></p>\n` : ""}<p id="wait">One moment. If nothing comes: a browser opens this page only from a web server, such as
<code>python3 -m http.server --bind 127.0.0.1</code> in this folder, at http://127.0.0.1:8000/example.html.</p>
<ol id="answer"></ol>
<script type="module">
	// The browser library: \`trajgpt export --page\` puts it here; it is dist/browser of the package.
	import { loadModel } from "./trajgpt/trajgpt.js";

	const model = await loadModel("./");
	// An invented person.
	const patient = {
		sex: "female",
		birth: ${json(birth)},
		events: [
${events.map((event) => `			{ code: ${json(event.code)}, date: ${json(event.date)} },`).join("\n")}
		],
	};
	const { predictions } = await model.forecast(patient, [${json(at)}], { top: 5 });
	document.querySelector("#wait").remove();
	for (const { code, name, probability } of predictions[0].codes) {
		const item = document.createElement("li");
		item.textContent = \`\${probability.toFixed(4)} \${code} \${name}\`;
		document.querySelector("#answer").append(item);
	}
</script>
</html>
`;
}
